package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"tidings/internal/config"
)

// lostEnv is how many deliveries are on their way when the broker's files are deleted.
const lostEnv = "TIDINGS_LOST_LANES"

func TestTheBrokersFilesMayBeDeletedInTheMiddleOfABlast(t *testing.T) {
	const batch = 500
	n := 3000
	if text := os.Getenv(lostEnv); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < batch {
			t.Fatalf("%s: %q is not a number of deliveries from %d up", lostEnv, text, batch)
		}
	}
	loop := func(c *config.Config) { c.Brake.Events = 0 } // they are all for one user
	onEachDatabase(t, loop, func(t *testing.T, w *world) {
		files := filepath.Join(filepath.Dir(w.config), "data", "jetstream")
		lose := func() {
			if err := os.RemoveAll(files); err != nil {
				t.Fatal(err)
			}
		}
		w.device("u_1", 1)
		w.faults(`[{"provider":"apns","do":{"delay":"40ms"}}]`)
		for range n / batch {
			w.batch(batch)
		}
		n := n / batch * batch

		w.untilAccepted(n / 4)
		lose() // while it runs
		running := w.accepted()
		w.untilAccepted(n / 2)
		w.stop()
		lose()
		stopped := w.accepted()
		w.start()
		w.batch(batch)
		n += batch
		w.untilAccepted(n)
		w.onceEach(n)
		if running >= n/2 || stopped >= n-batch {
			t.Errorf("%d and %d of %d were accepted when the files were deleted: too many to show anything", running, stopped, n)
		}
		t.Logf("%d deliveries; the files were deleted after %d, running, and after %d, stopped: lost 0, sent twice 0", n, running, stopped)
	})
}

// batch posts some events at once.
func (w *world) batch(n int) {
	w.t.Helper()
	events := make([]map[string]any, n)
	for i := range events {
		events[i] = shipped("u_1", nil)
	}
	var answer struct{ Results []struct{ ID string } }
	w.do(http.MethodPost, "/v1/events/batch", map[string]any{"events": events}, &answer)
	for i, r := range answer.Results {
		if r.ID == "" {
			w.t.Fatalf("event %d of a batch was not accepted", i)
		}
	}
}

// accepted is how many messages the phones' provider took.
func (w *world) accepted() int { return int(w.sim.Stats()["apns"].Accepts) }

// untilAccepted waits in virtual time until the provider took n messages.
func (w *world) untilAccepted(n int) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Minute); w.accepted() < n; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%d of %d were accepted", w.accepted(), n)
		}
	}
	synctest.Wait()
}
