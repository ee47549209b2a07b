package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tidings/api/client"
	"tidings/internal/config"
)

func shipped(user string, more map[string]any) map[string]any {
	event := map[string]any{
		"type": "order.shipped", "user": user, "channels": []string{"push"},
		"data": map[string]any{"order": "4711", "carrier": "UPS"},
	}
	for k, v := range more {
		event[k] = v
	}
	return event
}

func TestAnHourWithoutTheProviderCostsNobodyTheirPush(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`)
		minutes := 60
		if !w.sqlite {
			minutes = 20 // each of its seconds takes as long as two of SQLite
		}
		var ids []string
		for i := range minutes { // one a minute, all through the outage
			user := fmt.Sprintf("u_%d", i)
			w.device(user, i)
			ids = append(ids, w.post(shipped(user, nil)))
			time.Sleep(time.Minute)
		}
		calls := w.sim.Stats()["apns"].Requests
		if calls > int64(15*minutes) { // open for 10 s at a time, with a probe or a few calls between
			t.Errorf("the failing provider was called %d times in %d minutes", calls, minutes)
		}
		w.sim.ClearFaults()
		for _, id := range ids {
			if s := w.until(id, "sent", 20*time.Minute); len(s.Deliveries[0].Attempts) > 24 {
				t.Errorf("%s took %d attempts", id, len(s.Deliveries[0].Attempts))
			}
		}
		w.onceEach(len(ids))
	})
}

func TestALostLaneIsFilledAgainFromTheLog(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.faults(`[{"provider":"apns","do":{"delay":"8s"}}]`) // so that most of them wait in the lane
		var ids []string
		for range 200 {
			ids = append(ids, w.post(shipped("u_1", nil)))
		}
		time.Sleep(time.Second)
		w.stop()
		sent := len(w.accepts())
		if sent == 0 || sent > 100 {
			t.Fatalf("%d were sent before the lane was lost", sent)
		}
		if err := os.RemoveAll(filepath.Join(filepath.Dir(w.config), "data", "jetstream")); err != nil {
			t.Fatal(err)
		}
		w.sim.ClearFaults()
		w.start()
		for _, id := range ids {
			w.until(id, "sent", 3*time.Minute)
		}
		w.onceEach(len(ids))
	})
}

func TestARestartOnItsFilesLosesAndRepeatsNothing(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.faults(`[{"provider":"apns","do":{"delay":"2s"}}]`)
		var ids []string
		for i := range 200 {
			ids = append(ids, w.post(shipped("u_1", nil)))
			if i%60 == 59 {
				w.stop()
				w.start()
			}
		}
		for _, id := range ids {
			w.until(id, "sent", 5*time.Minute)
		}
		w.onceEach(len(ids))
	})
}

func TestATextFallsBackAndItsReceiptArrives(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"phone": "+15550123001"}, nil)
		id := w.post(map[string]any{"type": "login.code", "user": "u_1", "data": map[string]any{"code": "482913"}})
		w.until(id, "delivered", time.Minute)

		w.faults(`[{"provider":"twilio","do":{"status":503}}]`)
		id = w.post(map[string]any{"type": "login.code", "user": "u_1", "data": map[string]any{"code": "482914"}})
		if s := w.until(id, "sent", 10*time.Second); s.outcomes() != "transient ok" || s.Deliveries[0].Attempts[1].Provider != "aws-sms" {
			t.Errorf("attempts %+v", s.Deliveries[0].Attempts)
		}
		w.onceEach(2)
	})
}

func TestAnAcceptedTextWhoseAnswerWasLostFollowsItsRule(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"phone": "+15550123001", "email": "ann@example.test"}, nil)
		w.faults(`[{"provider":"twilio","do":{"reset":"after"}},{"provider":"smtp","do":{"reset":"after"}}]`)
		code := w.post(map[string]any{"type": "login.code", "user": "u_1", "data": map[string]any{"code": "482913"}})
		s := w.until(code, "sent", time.Minute)
		if got := s.outcomes(); got != "unknown ok" {
			t.Errorf("a login code is repeated: attempts %s", got)
		}
		payment := w.post(map[string]any{"type": "payment.failed", "user": "u_1", "channels": []string{"sms"}, "data": map[string]any{"amount": 5, "currency": "EUR"}})
		s = w.until(payment, "delivered", 90*time.Second) // the receipt comes before the wait is over
		if got := s.outcomes(); got != "unknown" {
			t.Errorf("a receipt resolves it: attempts %s", got)
		}
		offer := w.post(map[string]any{"type": "offer.weekly", "user": "u_1", "channels": []string{"email"}, "data": map[string]any{"headline": "Ten percent"}})
		s = w.until(offer, "failed", 20*time.Minute)
		if s.Deliveries[0].Status != "unknown" || s.Deliveries[0].Reason != "outcome_unknown" || !s.Deliveries[0].Final {
			t.Errorf("marketing gives up: %+v", s.Deliveries[0])
		}
	})
}

func TestAnOptOutCountsForWhatIsParkedOrHeld(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		at := time.Now().Add(20 * time.Minute).UTC().Format(time.RFC3339)
		held := w.post(shipped("u_1", map[string]any{"send_at": at}))
		w.faults(`[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`)
		parked := w.post(shipped("u_1", nil))
		time.Sleep(2 * time.Second)
		if s := w.trail(held); s.Status != "held" {
			t.Errorf("scheduled: %s", s.Status)
		}
		w.do(http.MethodPatch, "/v1/users/u_1/preferences", map[string]any{"categories": map[string]any{"orders": false}}, nil)
		w.sim.ClearFaults()
		w.until(parked, "suppressed", 10*time.Minute)
		w.until(held, "suppressed", 30*time.Minute)
		w.onceEach(0)
	})
}

func TestAScheduledPushGoesOutAtItsTimeAndAnExpiredOneNever(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		at := time.Now().Add(10 * time.Minute)
		id := w.post(shipped("u_1", map[string]any{"send_at": at.UTC().Format(time.RFC3339Nano)}))
		time.Sleep(time.Until(at) - time.Second)
		if s := w.trail(id); s.Status != "held" {
			t.Errorf("before its time: %s", s.Status)
		}
		w.until(id, "sent", 3*time.Second)

		w.faults(`[{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable"}}]`)
		late := w.post(shipped("u_1", map[string]any{"expires_in": "1m"}))
		w.until(late, "expired", 90*time.Second)
		w.sim.ClearFaults()
		time.Sleep(20 * time.Minute)
		w.onceEach(1)
	})
}

func TestShutdownLetsCallsEndAndRefusesNewPosts(t *testing.T) {
	patient := func(c *config.Config) { c.ShutdownTimeout = 20 * time.Second }
	onEachDatabase(t, patient, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"delay":"2s"}}]`)
		var ids []string
		for i := range 500 {
			user := fmt.Sprintf("u_%d", i)
			w.device(user, i)
			ids = append(ids, w.post(shipped(user, nil)))
		}
		begin := time.Now()
		w.stop()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("took %v", took)
		}
		accepted := len(w.accepts())
		w.start()
		for _, id := range ids {
			w.until(id, "sent", 10*time.Minute)
		}
		t.Logf("%d of %d were accepted before the restart", accepted, len(ids))
		w.onceEach(len(ids))
	})
}

func TestWhileCallsEndReadinessIsRedAndPostsAreRefused(t *testing.T) {
	patient := func(c *config.Config) { c.ShutdownTimeout = 20 * time.Second }
	onEachDatabase(t, patient, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"delay":"5s"}}]`)
		w.device("u_1", 1)
		id := w.post(shipped("u_1", nil))
		time.Sleep(time.Second)
		stopped := make(chan struct{})
		go func() { w.stop(); close(stopped) }()
		time.Sleep(time.Second)
		w.api.CloseIdleConnections() // a load balancer's probe comes on a connection of its own
		for _, ask := range []struct{ method, path string }{{"GET", "/readyz"}, {"POST", "/v1/events"}} {
			err := w.api.Do(context.Background(), ask.method, ask.path, shipped("u_1", nil), nil)
			var refused *client.Error
			if !errors.As(err, &refused) || refused.Status != 503 {
				t.Errorf("%s %s while a call was under way: %v, want 503", ask.method, ask.path, err)
			}
		}
		<-stopped
		w.start()
		w.until(id, "sent", time.Minute)
		w.onceEach(1)
	})
}

// What outlasts shutdown_timeout is cut, and told as unknown: the process has ended as it was asked to.
func TestCallsThatOutlastTheShutdownDoNotMakeItFail(t *testing.T) {
	onSQLite(t, func(c *config.Config) { c.ShutdownTimeout = 2 * time.Second }, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"hang":"1m"},"times":1}]`)
		w.device("u_1", 1)
		id := w.post(shipped("u_1", nil))
		time.Sleep(time.Second)
		begin := time.Now()
		w.stop() // fails the test with an error
		if took := time.Since(begin); took > 4*time.Second {
			t.Errorf("took %v", took)
		}
		w.start()
		s := w.until(id, "sent", time.Minute)
		if s.Deliveries[0].Attempts[0].Outcome != "unknown" {
			t.Errorf("the call that was cut: %+v", s.Deliveries[0].Attempts[0])
		}
		if !slices.ContainsFunc(s.Timeline, func(m struct{ Kind, Text string }) bool {
			return strings.Contains(m.Text, "The process was stopped while it sent it through APNs")
		}) {
			t.Errorf("the timeline blames others: %+v", s.Timeline)
		}
	})
}

// onceEach checks that the providers accepted n deliveries, each once.
func (w *world) onceEach(n int) {
	w.t.Helper()
	synctest.Wait()
	accepts := w.accepts()
	if len(accepts) != n {
		w.t.Errorf("%d deliveries were accepted, want %d", len(accepts), n)
	}
	for id, times := range accepts {
		if times != 1 {
			w.t.Errorf("%s was accepted %d times", id, times)
		}
	}
}
