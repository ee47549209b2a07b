package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestAnErasureEndsDeadLettersForGood(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		dead := w.dead(start(), "apns", tidings.ReasonRetriesSpent)
		now := start().Add(time.Hour)
		w.must(s.EraseUser(t.Context(), w.user, now))
		if d := w.expect(dead.Delivery.ID, tidings.Cancelled, tidings.ReasonErased); !d.FinishedAt.Equal(now) {
			t.Errorf("it ended at %v", d.FinishedAt)
		}
		if n := w.letters(); n != 0 {
			t.Errorf("%d dead letters are listed", n)
		}
		if got := w.redrive(store.Redrive{IDs: ids(dead), Now: now.Add(time.Minute)}); got != (store.Redriven{}) {
			t.Errorf("redriven %+v", got)
		}
	})
}

// A redrive also takes what failed, and what nobody knows of.
func TestNothingOfAnErasedUserIsRedriven(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		failed, unknown := w.sending(start()), w.sending(start())
		w.record(result(failed, tidings.RecipientDead, tidings.Failed, start()), result(unknown, tidings.OutcomeUnknown, tidings.Unknown, start()))
		w.must(s.Resolve(t.Context(), []store.Resolution{{ID: unknown.Delivery.ID, ClaimNo: 1, Status: tidings.Unknown}}))
		w.must(s.EraseUser(t.Context(), w.user, start().Add(time.Minute)))
		for from, c := range map[tidings.Status]store.Claimed{tidings.Failed: failed, tidings.Unknown: unknown} {
			if got := w.redrive(store.Redrive{IDs: ids(c), From: from, Now: start().Add(time.Hour)}); got.Parked != 0 {
				t.Errorf("from %s: redriven %+v", from, got)
			}
		}
	})
}

// What is redriven at the very moment of an erasure is ended by it, or not sent.
func TestAnErasureAndARedriveAtOnceSendNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for range 10 {
			w := newWorld(t, s)
			dead := w.dead(start(), "apns", tidings.ReasonRetriesSpent)
			done := make(chan struct{})
			go func() {
				defer close(done)
				w.redrive(store.Redrive{IDs: ids(dead), Now: start().Add(time.Minute)})
			}()
			if err := s.EraseUser(t.Context(), w.user, start().Add(time.Minute)); err != nil {
				t.Error(err)
			}
			<-done
			w.expect(dead.Delivery.ID, tidings.Cancelled, tidings.ReasonErased)
		}
	})
}
