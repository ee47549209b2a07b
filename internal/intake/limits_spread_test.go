package intake_test

import (
	"fmt"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
)

// What limits hold is let go as what quiet hours hold is: not all of it at the instant for which it
// waited, and neither is what they hold once more.
func TestWhatLimitsHoldIsReleasedSpreadOut(t *testing.T) {
	const users, each, spread = 60, 5, 20 * time.Minute // two of each are sent in an hour
	eachLimited(t, func(t *testing.T, r *rig) {
		r.Spread = spread
		var events []intake.Event
		for i := range users * each {
			events = append(events, typed(fmt.Sprintf("u_%d", i%users), "later.item"))
		}
		results, err := r.PostBatch(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		due := func(by time.Time) ([]tidings.Hold, []tidings.Notification) {
			t.Helper()
			holds, of, err := r.store.DueHolds(t.Context(), by, 1000)
			if err != nil {
				t.Fatal(err)
			}
			return holds, of
		}
		spreads := func(what string, until time.Time, all int) time.Time {
			t.Helper()
			first, _ := due(until.Add(-time.Microsecond))
			half, _ := due(until.Add(spread / 2))
			whole, _ := due(until.Add(spread))
			if len(first) != 0 || len(half) < all/5 || len(half) > all*4/5 || len(whole) != all {
				t.Errorf("%s: %d are due before their time, %d after half of the spread, %d after it; want %d in all", what, len(first), len(half), len(whole), all)
			}
			return until.Add(spread)
		}
		now := spreads("held", results[users*2].Decisions[0].Until, users*(each-2))
		holds, of := due(now)
		if err := r.Release(t.Context(), holds, of, now); err != nil {
			t.Fatal(err)
		}
		spreads("held once more", now.Add(time.Hour), users*(each-4))
	})
}
