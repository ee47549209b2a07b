package store_test

import (
	"strings"
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

// Whoever is posted to while they are erased is made anew, or erased with what was posted.
func TestNothingIsAcceptedForNobodyWhileTheyAreErased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for range 30 {
			w := newWorld(t, s)
			a := w.acceptance(start(), 1)
			done := make(chan error)
			go func() {
				_, err := s.Accept(t.Context(), store.Background, []store.Acceptance{a})
				done <- err
			}()
			w.must(s.EraseUser(t.Context(), w.user, start()))
			w.must(<-done)
			trail, err := s.Trail(t.Context(), "", a.Notification.ID)
			w.must(err)
			if _, err := s.User(t.Context(), w.user); err != nil && trail.Notification.UserID == w.user {
				t.Fatalf("a notification is left to a user who is not there: %v", err)
			}
		}
	})
}

// What stays of an erased user is one name for all of it, which no user can have and nothing finds.
func TestTheTrailsOfAnErasedUserStayTogetherUnderNoName(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w, other := newWorld(t, s), newWorld(t, s)
		failed := w.sending(start())
		r := result(failed, tidings.ContentRejected, tidings.Failed, start())
		r.Attempt.Text = "no such person: " + w.user
		w.record(r)
		first, second, third := tidings.NotificationOf(failed.Delivery.ID), tidings.NotificationOf(w.queued(start())), tidings.NotificationOf(other.queued(start()))
		w.must(s.EraseUser(t.Context(), w.user, start()))
		w.must(s.EraseUser(t.Context(), other.user, start()))
		name := func(id tidings.NotificationID) string {
			trail, err := s.Trail(t.Context(), "", id)
			w.must(err)
			if len(trail.Notification.Data) > 0 || len(trail.Deliveries) != 1 {
				t.Errorf("left: %s, %d deliveries", trail.Notification.Data, len(trail.Deliveries))
			}
			for _, a := range trail.Deliveries[0].Attempts {
				if a.Text != "" {
					t.Errorf("an attempt still says %q", a.Text)
				}
			}
			return trail.Notification.UserID
		}
		if a, b, c := name(first), name(second), name(third); a != b || a == c || a == w.user || !strings.Contains(a, "~") {
			t.Errorf("the erased are called %q, %q and %q", a, b, c)
		}
	})
}
