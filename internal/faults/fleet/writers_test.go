package fleet_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings/api/client"
	"tidings/api/wire"
)

// writersEnv is for how long fifty callers write at once.
const writersEnv = "TIDINGS_WRITERS"

// The default mode is one process on SQLite, whose writers must take turns.
func TestFiftyCallersWriteAtOnceAndNobodyIsToldOfIt(t *testing.T) {
	const callers = 50
	span := time.Second
	if text := os.Getenv(writersEnv); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	d := startWaiting(t, "")
	w := &writers{client: d.service.Client, answers: map[string]int{}}
	var all sync.WaitGroup
	end := time.Now().Add(span)
	for n := range callers {
		all.Go(func() {
			for round := 0; time.Now().Before(end); round++ {
				w.round(t, n, round)
			}
		})
	}
	all.Wait()
	for _, verb := range slices.Sorted(maps.Keys(w.answers)) {
		t.Logf("answers in %v: %d %s", span, w.answers[verb], verb)
	}
	slices.Sort(w.took)
	if n := len(w.took); n > 0 {
		t.Logf("answers took p50 %v, p99 %v, longest %v", w.took[n/2].Round(time.Millisecond), w.took[n*99/100].Round(time.Millisecond), w.took[n-1].Round(time.Millisecond))
	}
}

// writers count what they are answered.
type writers struct {
	client *client.Client

	mu      sync.Mutex
	answers map[string]int  // by verb and status; guarded by mu
	took    []time.Duration // guarded by mu
}

// round writes in all ways. Several callers write about each user.
func (w *writers) round(t *testing.T, caller, round int) {
	user := fmt.Sprintf("u_%d", caller%10)
	of := "/v1/users/" + user
	order := map[string]any{"type": "order.shipped", "user": user, "data": map[string]any{"order": "4711", "carrier": "UPS"}, "collapse_key": "order"}
	later := map[string]any{"type": "order.shipped", "user": user, "data": map[string]any{"order": "4712", "carrier": "UPS"}, "send_at": time.Now().Add(time.Hour).UTC()}
	var held wire.Posted
	w.call(t, "event", http.MethodPost, "/v1/events", map[string]any{"type": "login.code",
		"user": map[string]any{"id": user, "phone": fmt.Sprintf("+1555010%04d", caller%10+1)}, "data": map[string]any{"code": "482913"}}, nil)
	w.call(t, "batch", http.MethodPost, "/v1/events/batch", map[string]any{"events": []any{order, order, later}}, nil)
	w.call(t, "preferences", http.MethodPatch, of+"/preferences", map[string]any{"channels": map[string]any{"email": round%2 == 0}}, nil)
	w.call(t, "address", http.MethodPost, of+"/addresses", map[string]any{"channel": "push", "provider": "apns", "token": fmt.Sprintf("a%063x", caller*8+round%8)}, nil)
	if w.call(t, "scheduled event", http.MethodPost, "/v1/events", later, &held) {
		w.call(t, "cancel", http.MethodPost, "/v1/notifications/"+held.ID.String()+"/cancel", nil, nil)
	}
}

// call makes one call, and reports whether it succeeded. An app that posts more than a provider can
// take is told so in time by 503 lane_full; any other 5xx is a fault.
func (w *writers) call(t *testing.T, verb, method, path string, in, out any) bool {
	begin := time.Now()
	err := w.client.Do(t.Context(), method, path, in, out)
	took := time.Since(begin)
	var refused *client.Error
	answer := verb + ", done"
	switch {
	case errors.As(err, &refused):
		answer = fmt.Sprintf("%s, %d %s", verb, refused.Status, refused.Problem.Code)
		if refused.Status >= http.StatusInternalServerError && refused.Problem.Code != "lane_full" {
			t.Errorf("%s %s: %v", method, path, err)
		}
	case err != nil:
		t.Errorf("%s %s: %v", method, path, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[answer]++
	w.took = append(w.took, took)
	return err == nil
}
