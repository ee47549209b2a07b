package points

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
	"tidings/channels/simulator"
	"tidings/internal/faults"
)

const (
	// knock is how long a caller waits before it asks again.
	knock = 200 * time.Millisecond
	// patience is how long a caller asks again and again.
	patience = 10 * time.Minute
)

// told is what callers were told during a run.
type told struct {
	posts     []faults.Post
	stops     []faults.Stop
	sightings []faults.Sighting
}

// do asks until there is an answer, as callers do who want to be sure. It gives the status.
func (w *world) do(method, path string, in, out any) int {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(knock) {
		err := w.api.Do(context.Background(), method, path, in, out)
		var refused *client.Error
		switch {
		case err == nil:
			return http.StatusOK
		case errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests:
			return refused.Status
		case refused != nil && refused.Status == http.StatusInternalServerError:
			w.t.Errorf("%s %s: %v", method, path, err)
		case time.Now().After(end):
			w.t.Fatalf("%s %s: %v after %v", method, path, err, patience)
		}
	}
}

// must is do for what cannot be refused.
func (w *world) must(method, path string, in, out any) {
	w.t.Helper()
	if status := w.do(method, path, in, out); status != http.StatusOK {
		w.t.Fatalf("%s %s: %d", method, path, status)
	}
}

// device registers an APNs token of a user.
func (w *world) device(user string, n int) {
	w.t.Helper()
	w.must(http.MethodPost, "/v1/users/"+user+"/addresses",
		map[string]any{"channel": "push", "provider": "apns", "token": fmt.Sprintf("a%063x", n)}, nil)
}

// contact gives a user a phone and a mailbox.
func (w *world) contact(user string, n int) {
	w.t.Helper()
	w.must(http.MethodPut, "/v1/users/"+user,
		map[string]any{"phone": fmt.Sprintf("+1555012%04d", 3001+n), "email": fmt.Sprintf("ann.%d@example.test", n)}, nil)
}

// post posts an event under a dedupe key of its own until it is answered.
func (w *world) post(event map[string]any) string {
	w.t.Helper()
	event["dedupe_key"] = fmt.Sprint("event-", len(w.told.posts))
	var a struct{ ID tidings.NotificationID }
	w.must(http.MethodPost, "/v1/events", event, &a)
	w.told.posts = append(w.told.posts, faults.Post{Key: event["dedupe_key"].(string), ID: a.ID})
	return a.ID.String()
}

// batch posts many events at once until they are answered.
func (w *world) batch(events []map[string]any) {
	w.t.Helper()
	for i := range events {
		events[i]["dedupe_key"] = fmt.Sprint("batch-", i)
	}
	var a struct {
		Results []struct {
			ID    tidings.NotificationID
			Error any
		}
	}
	for { // an item may fail alone
		w.must(http.MethodPost, "/v1/events/batch", map[string]any{"events": events}, &a)
		whole := true
		for _, r := range a.Results {
			whole = whole && r.Error == nil
		}
		if whole {
			break
		}
		time.Sleep(knock)
	}
	for i, r := range a.Results {
		w.told.posts = append(w.told.posts, faults.Post{Key: fmt.Sprint("batch-", i), ID: r.ID})
	}
}

// optOut switches a category off for a user; what counts is when it is answered.
func (w *world) optOut(user, category string) {
	w.t.Helper()
	w.must(http.MethodPatch, "/v1/users/"+user+"/preferences", map[string]any{"categories": map[string]any{category: false}}, nil)
	w.told.stops = append(w.told.stops, faults.Stop{At: time.Now(), User: user, Category: category})
}

func (w *world) faults(rules string) {
	w.t.Helper()
	var list []simulator.Rule
	if err := json.Unmarshal([]byte(rules), &list); err != nil {
		w.t.Fatal(err)
	}
	if err := w.sim.SetFaults(list); err != nil {
		w.t.Fatal(err)
	}
}

// trails reads every notification there is.
func (w *world) trails() (all []wire.Trail) {
	w.t.Helper()
	for query := "?limit=200"; ; {
		var page wire.Page
		w.must(http.MethodGet, "/v1/notifications"+query, nil, &page)
		for _, n := range page.Data {
			var t wire.Trail
			w.must(http.MethodGet, "/v1/notifications/"+n.ID.String(), nil, &t)
			all = append(all, t)
		}
		if page.NextCursor == nil {
			return all
		}
		query = "?limit=200&cursor=" + *page.NextCursor
	}
}

// look reads the trails and remembers what it saw.
func (w *world) look() []wire.Trail {
	w.t.Helper()
	trails := w.trails()
	for _, t := range trails {
		for _, d := range t.Deliveries {
			w.told.sightings = append(w.told.sightings, faults.Sighting{At: time.Now(), Delivery: d})
		}
	}
	return trails
}

// rest waits until every delivery has come to its end and no hold is left. It looks ever less often.
func (w *world) rest(atMost time.Duration) {
	w.t.Helper()
	end, pause := time.Now().Add(atMost), 50*time.Millisecond
	for slices.ContainsFunc(w.look(), unfinished) && time.Now().Before(end) {
		time.Sleep(pause)
		synctest.Wait()
		pause = min(2*pause, 5*time.Second)
	}
}

func unfinished(t wire.Trail) bool {
	return slices.ContainsFunc(t.Deliveries, func(d wire.Delivery) bool { return !d.Final }) ||
		slices.ContainsFunc(t.Holds, func(h wire.Hold) bool { return h.State == tidings.HoldWaiting })
}

// verdict judges the run as it stands; delay is how long providers took to accept.
func (w *world) verdict(delay time.Duration) faults.Verdict {
	w.t.Helper()
	trails := w.look()
	ledger, err := w.tape.Entries()
	if err != nil {
		w.t.Fatal(err)
	}
	return faults.Check(faults.History{
		Posts: w.told.posts, Trails: trails, Ledger: ledger, Sightings: w.told.sightings, Stops: w.told.stops,
		Ended: time.Now(), Patience: sweep + restart, Slack: slack + delay,
	})
}

// What the invariants leave time for.
const (
	sweep   = 5 * time.Second
	restart = 5 * time.Second
	slack   = time.Second
)
