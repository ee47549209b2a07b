package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/config"
	"tidings/internal/lanes"
)

// twoTries lets a delivery die soon.
func twoTries(c *config.Config) {
	c.Workers.Delivery.MaxAttempts, c.Workers.Delivery.RetryBase = 2, 100*time.Millisecond
}

func (w *world) deadLetters() []wire.DeadLetter {
	w.t.Helper()
	page, err := w.api.DeadLetters(context.Background(), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Data
}

func (w *world) redrive(r wire.Redrive) int {
	done, err := w.api.Redrive(context.Background(), r)
	if err != nil {
		w.t.Error(err)
	}
	return done.Redriven
}

func TestARedriveWithinTwoMinutesReallySendsAndADoubleClickSendsOnce(t *testing.T) {
	onEachDatabase(t, twoTries, func(t *testing.T, w *world) {
		const down = `[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`
		w.device("u_1", 1)
		w.faults(down)
		event := shipped("u_1", map[string]any{"dedupe_key": "order-4711"})
		id := w.post(event)
		w.until(id, "failed", time.Minute)
		if n := w.redrive(wire.Redrive{}); n != 1 { // while the provider is still away
			t.Fatalf("%d are tried again", n)
		}
		if s := w.until(id, "failed", time.Minute); s.outcomes() != "transient transient transient transient" || s.Deliveries[0].Reason != "retries_spent" {
			t.Errorf("the second death is %+v", s)
		}
		w.sim.ClearFaults()
		var clicks sync.WaitGroup
		moved := make([]int, 2)
		for i := range moved {
			clicks.Go(func() { moved[i] = w.redrive(wire.Redrive{Channel: tidings.Push}) })
		}
		clicks.Wait()
		if moved[0]+moved[1] != 1 {
			t.Errorf("a double click moved %v", moved)
		}
		s := w.until(id, "sent", 30*time.Second)
		redrives := 0
		for _, m := range s.Timeline {
			if m.Kind == "redriven" {
				redrives++
			}
		}
		if redrives != 2 || !strings.HasPrefix(s.Summary, "Push reached the device") {
			t.Errorf("%d redrives in the timeline; %s", redrives, s.Summary)
		}
		w.onceEach(1)
		if again := w.post(event); again != id || w.redrive(wire.Redrive{}) != 0 {
			t.Errorf("the key gives %s, and was %s", again, id)
		}
	})
}

func TestWhatAlwaysFailsIsOneDeadLetterAndNothingIsLeftOfIt(t *testing.T) {
	onEachDatabase(t, twoTries, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.faults(`[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable","delay":"3s"}}]`)
		id := w.post(shipped("u_1", nil))
		time.Sleep(4 * time.Second) // within the second and last try
		w.stop()
		w.start()
		w.until(id, "failed", time.Minute)
		time.Sleep(5 * time.Minute)
		dead := w.deadLetters()
		if len(dead) != 1 || dead[0].NotificationID.String() != id || dead[0].Reason != tidings.ReasonRetriesSpent || dead[0].LastAttempt.Number != 2 {
			t.Errorf("the dead letters are %+v", dead)
		}
		if depth, err := w.app.Lanes.Depth(t.Context(), "push.bulk"); err != nil || depth != (lanes.Depth{}) {
			t.Errorf("the lane holds %+v, %v", depth, err)
		}
		if calls := w.sim.Stats()["apns"].Requests; calls != 2 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestAMessageThatRunsWildAtItsSendingEndsAloneAndTheServiceStaysUp(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		var catalog wire.Catalog
		w.do(http.MethodGet, "/v1/catalog", nil, &catalog)
		catalog.Files["catalog.yaml"] = strings.Replace(catalog.Files["catalog.yaml"], "\nevents:\n",
			"\nevents:\n  list.shared: {category: orders, channels: [push]}\n", 1)
		catalog.Files["templates/list.shared/push.en.yaml"] = "title: x\nbody: 'x{{ range .user.attributes.list }}{{ range $.user.attributes.list }}{{ range $.user.attributes.list }}{{ end }}{{ end }}{{ end }}'\n"
		w.do(http.MethodPut, "/v1/catalog", map[string]any{"files": catalog.Files}, nil)
		w.device("u_wild", 1)
		attributes := func(list []int) {
			w.do(http.MethodPut, "/v1/users/u_wild", map[string]any{"attributes": map[string]any{"list": list}}, nil)
		}
		attributes([]int{1})
		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		wild := w.post(map[string]any{"type": "list.shared", "user": "u_wild"})
		var ids []string
		for i := range 100 {
			user := fmt.Sprintf("u_%d", i)
			w.device(user, 100+i)
			ids = append(ids, w.post(shipped(user, nil)))
		}
		attributes(make([]int, 20_000)) // eight million million steps
		w.do(http.MethodPost, "/v1/lanes/push.bulk/resume", nil, nil)
		if s := w.until(wild, "failed", time.Minute); s.Deliveries[0].Status != "failed" || s.Deliveries[0].Reason != "template_error" {
			t.Errorf("it is %+v", s.Deliveries[0])
		}
		for _, id := range ids {
			w.until(id, "sent", time.Minute)
		}
		w.onceEach(len(ids))
	})
}
