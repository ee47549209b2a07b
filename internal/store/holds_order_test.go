package store_test

import (
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// channelsOf are the channels of holds, as they are listed.
func channelsOf(holds []tidings.Hold) (all []tidings.Channel) {
	for _, h := range holds {
		all = append(all, h.Channel)
	}
	return all
}

// The ids of what is held at once are in no order.
func TestHoldsAreListedInTheOrderOfTheDecisions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for _, want := range [][]tidings.Channel{
			{tidings.Push, tidings.SMS, tidings.Email}, {tidings.Email, tidings.SMS, tidings.Push}, {tidings.SMS, tidings.Push, tidings.Email},
		} {
			a := w.acceptance(start(), 0)
			a.Notification.Decisions = nil
			for i, c := range want {
				a = holding(a, c, tidings.ReasonQuietHours)
				a.Holds[i].ID = tidings.NewHoldID(start().Add(-time.Duration(i) * time.Minute))
			}
			id := w.accept(a)[0].ID
			trail, err := s.Trail(t.Context(), "", id)
			w.must(err)
			if got := channelsOf(trail.Holds); !slices.Equal(got, want) {
				t.Errorf("the trail has %v, want %v", got, want)
			}
			holds, _, err := s.DueHolds(t.Context(), start().Add(2*time.Hour), 100)
			w.must(err)
			holds = slices.DeleteFunc(holds, func(h tidings.Hold) bool { return h.Notification != id })
			if got := channelsOf(holds); !slices.Equal(got, want) {
				t.Errorf("due are %v, want %v", got, want)
			}
		}
	})
}
