package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings/channels/simulator"
)

// What each user of the test of opt-outs is posted.
const (
	refusers   = 24 // of which half refuse
	pushesEach = 6
	textsEach  = 3
)

// A refuser is a user with what was posted for them.
type refuser struct {
	name                   string
	held, gathered         string   // a scheduled push, and one that waits for a digest
	texts                  []string // which the first provider refuses
	pushes, digests, heard int      // that providers accepted
	out                    time.Time
}

// An opt-out counts from the moment it is stored, for what is queued, parked for another try, held,
// gathered for a digest or on its way to a second provider too: while the lanes are long and the
// providers fail now and then, users opt out one after the other, and by the ledger no provider accepts
// anything for them more than a second later.
func TestAnOptOutCountsForWhatIsUnderWay(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		users := w.refusers()
		w.faults(`[{"provider":"apns","share":0.3,"do":{"status":503,"reason":"ServiceUnavailable"}},{"provider":"apns","do":{"delay":"400ms"}},
			{"provider":"twilio","do":{"status":400,"body":{"code":30007},"delay":"300ms"}},{"provider":"aws_sms","do":{"delay":"300ms"}}]`)
		var posting sync.WaitGroup
		for _, u := range users {
			posting.Go(func() { w.postAll(u) })
		}
		for i, u := range users[:refusers/2] {
			time.Sleep(100 * time.Millisecond)
			w.do(http.MethodPatch, "/v1/users/"+u.name+"/preferences", optOuts(i), nil)
			u.out = time.Now()
		}
		posting.Wait()
		time.Sleep(11 * time.Minute)
		for end := time.Now().Add(2 * time.Hour); !w.hear(users) && time.Now().Before(end); {
			time.Sleep(time.Minute) // some are unlucky, and wait long for their last try
		}
		w.stopped(users[:refusers/2])
		for _, u := range users[refusers/2:] {
			if u.pushes != pushesEach+1 || u.digests != 1 || u.heard != textsEach {
				t.Errorf("%s, who wants all, got %d pushes, %d digests and %d texts", u.name, u.pushes, u.digests, u.heard)
			}
		}
	})
}

// refusers are the users, each with a device and a phone.
func (w *world) refusers() (users []*refuser) {
	w.t.Helper()
	for i := range refusers {
		u := &refuser{name: fmt.Sprintf("u_%d", i)}
		w.device(u.name, i)
		w.do(http.MethodPut, "/v1/users/"+u.name, map[string]any{"phone": phoneOf(i)}, nil)
		users = append(users, u)
	}
	return users
}

func phoneOf(i int) string { return fmt.Sprintf("+1555012%04d", 3001+i) }

func (w *world) postAll(u *refuser) {
	w.t.Helper()
	u.held = w.post(shipped(u.name, map[string]any{"send_at": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}))
	said := comment("Bread", 1)
	said["user"] = u.name
	u.gathered = w.post(said)
	for range textsEach {
		u.texts = append(u.texts, w.post(map[string]any{"type": "payment.failed", "user": u.name, "channels": []string{"sms"}, "data": map[string]any{"amount": 5, "currency": "EUR"}}))
	}
	for range pushesEach {
		w.post(shipped(u.name, nil))
	}
}

// hear counts what providers accepted, and reports whether all who want to be told are. What they
// accepted too late is an error.
func (w *world) hear(users []*refuser) (all bool) {
	w.t.Helper()
	by := map[string]*refuser{}
	for i, u := range users {
		u.pushes, u.digests, u.heard = 0, 0, 0
		by[fmt.Sprintf("a%063x", i)], by[phoneOf(i)] = u, u
	}
	for _, e := range w.entries() {
		u := by[e.Address]
		switch {
		case strings.HasPrefix(e.Address, "+"):
			u.heard++
		case strings.Contains(e.Title, "commented"):
			u.digests++
		default:
			u.pushes++
		}
		if !u.out.IsZero() && e.At.After(u.out.Add(time.Second)) {
			w.t.Errorf("%s opted out at %s, and at %s %s accepted %q", u.name, u.out.Format(time.StampMilli), e.At.Format(time.StampMilli), e.Provider, e.Title+e.Text)
		}
	}
	return !slices.ContainsFunc(users, func(u *refuser) bool {
		return u.out.IsZero() && (u.pushes <= pushesEach || u.digests == 0 || u.heard < textsEach)
	})
}

// stopped checks that users opted out of what was under way: else the test shows nothing.
func (w *world) stopped(users []*refuser) {
	w.t.Helper()
	fewer, between := 0, 0
	for _, u := range users {
		if u.pushes < pushesEach {
			fewer++
		}
		if s := w.trail(u.held); s.Status != "suppressed" || !strings.Contains(s.Summary, " at ") {
			w.t.Errorf("what was held for %s is %s: %s", u.name, s.Status, s.Summary)
		}
		if s := w.trail(u.gathered); s.Status != "suppressed" || !strings.Contains(s.Summary, "digest") {
			w.t.Errorf("what was gathered for %s is %s: %s", u.name, s.Status, s.Summary)
		}
		for _, id := range u.texts {
			for _, d := range w.trail(id).Deliveries {
				if d.Status == "suppressed" && len(d.Attempts) == 1 && d.Attempts[0].Provider == "twilio" {
					between++
				}
			}
		}
	}
	w.t.Logf("of %d who opted out, %d got fewer pushes, and %d texts were between two providers", len(users), fewer, between)
	if fewer < len(users)/2 || between == 0 {
		w.t.Errorf("only %d opt-outs came before all was sent, and %d between two providers: the test shows nothing", fewer, between)
	}
}

// entries is what the providers accepted.
func (w *world) entries() (all []simulator.Entry) {
	w.t.Helper()
	for line := range bytes.Lines(w.ledger.bytes()) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// optOuts are the ways to refuse what the test posts.
func optOuts(i int) map[string]any {
	switch i % 4 {
	case 0:
		return map[string]any{"all": false}
	case 1:
		return map[string]any{"channels": map[string]any{"push": false, "sms": false}}
	case 2:
		return map[string]any{"categories": map[string]any{"orders": false, "social": false, "billing": false}}
	}
	return map[string]any{"categories": map[string]any{"orders": map[string]any{"push": false}, "social": map[string]any{"push": false}, "billing": map[string]any{"sms": false}}}
}
