package store_test

import (
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// What was only held leaves no delivery that could bear the reason for which it was called off.
func TestAListFindsWhatWasCalledOffWhileItWasHeldByTheReason(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		asked := holding(w.acceptance(start(), 0), tidings.Push, tidings.ReasonQuietHours)
		replaced := holding(w.collapsing(start().Add(time.Second), 0), tidings.Push, tidings.ReasonQuietHours)
		erased := holding(w.acceptance(start().Add(2*time.Second), 0), tidings.Push, tidings.ReasonQuietHours)
		queued := w.collapsing(start().Add(3*time.Second), 1)
		w.accept(asked, replaced, erased)
		w.accept(queued)
		_, err := s.Cancel(t.Context(), "", asked.Notification.ID, start().Add(time.Minute))
		w.must(err)
		w.must(s.EraseUser(t.Context(), w.user, start().Add(2*time.Minute)))
		for reason, want := range map[tidings.Reason][]store.Acceptance{
			tidings.ReasonCancelled: {asked}, tidings.ReasonSuperseded: {replaced}, tidings.ReasonErased: {queued, erased},
		} {
			list, _, err := s.List(t.Context(), store.Filter{Reason: reason, Channel: tidings.Push})
			w.must(err)
			same := func(l store.Listed, a store.Acceptance) bool { return l.Notification.ID == a.Notification.ID }
			if !slices.EqualFunc(list, want, same) {
				t.Errorf("%s finds %+v", reason, list)
			}
		}
	})
}
