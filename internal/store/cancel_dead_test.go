package store_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// letters is how many dead letters a user has.
func (w *world) letters() int {
	w.Helper()
	list, err := w.s.DeadLetters(w.Context(), store.DeadFilter{UserID: w.user}, tidings.DeliveryID{}, 100)
	w.must(err)
	return len(list)
}

func TestACancelCallsADeadLetterOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		dead := w.dead(start(), "apns", tidings.ReasonRetriesSpent)
		id, ntf, now := dead.Delivery.ID, dead.Notification.ID, start().Add(time.Hour)
		first, err := s.Cancel(t.Context(), "", ntf, now)
		w.must(err)
		if want := (store.Cancellation{Cancelled: []tidings.DeliveryID{id}}); !reflect.DeepEqual(first, want) {
			t.Errorf("cancelled %+v, want %+v", first, want)
		}
		if d := w.expect(id, tidings.Cancelled, tidings.ReasonCancelled); !d.FinishedAt.Equal(now) {
			t.Errorf("it ended at %v", d.FinishedAt)
		}
		if n := w.letters(); n != 0 {
			t.Errorf("%d dead letters are listed", n)
		}
		if got := w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id}, Now: now.Add(time.Minute)}); got != (store.Redriven{}) {
			t.Errorf("redriven %+v", got)
		}
		again, err := s.Cancel(t.Context(), "", ntf, now.Add(time.Hour))
		if err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("repeated: %+v, %v", again, err)
		}
		trail, err := s.Trail(t.Context(), "", ntf)
		w.must(err)
		if m := trail.Timeline; len(m) != 2 || m[1].Kind != "cancelled" || !m[1].At.Equal(now) {
			t.Errorf("the timeline is %+v", m)
		}
	})
}

func TestWhatIsCalledOffWhileItIsSentDoesNotEndAsADeadLetter(t *testing.T) {
	now := start()
	off := map[string]struct {
		call   func(w *world, c store.Claimed)
		reason tidings.Reason
	}{
		"a cancel": {func(w *world, c store.Claimed) {
			_, err := w.s.Cancel(w.Context(), "", c.Notification.ID, now)
			w.must(err)
		}, tidings.ReasonCancelled},
		"an erasure":    {func(w *world, c store.Claimed) { w.must(w.s.EraseUser(w.Context(), w.user, now)) }, tidings.ReasonErased},
		"a newer event": {func(w *world, c store.Claimed) { w.accept(w.collapsing(now.Add(time.Second), 1)) }, tidings.ReasonSuperseded},
	}
	ends := map[string]func(w *world, c store.Claimed){
		"its tries are spent": func(w *world, c store.Claimed) { w.record(result(c, tidings.Transient, tidings.Dead, now)) },
		"it is to be tried again": func(w *world, c store.Claimed) {
			w.record(result(c, tidings.Transient, tidings.Parked, now))
		},
		"nobody knows, and it would be tried again": func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now))
			w.must(w.s.Resolve(w.Context(), []store.Resolution{{ID: c.Delivery.ID, ClaimNo: 1, Status: tidings.Parked, DueAt: now}}))
		},
		"word was awaited, and a late answer says no": func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now))
			w.record(result(c, tidings.Transient, tidings.Dead, now.Add(2*time.Second)))
		},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for by, call := range off {
			for how, end := range ends {
				t.Run(by+", "+how, func(t *testing.T) {
					w := newWorld(t, s)
					a := w.accept(w.collapsing(now, 1))[0]
					c := w.claim(now, a.Deliveries...)[0]
					call.call(w, c)
					end(w, c)
					w.expect(c.Delivery.ID, tidings.Cancelled, call.reason)
				})
			}
		}
	})
}

func TestANotificationWithNothingToCallOffSaysSo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.RecipientDead, tidings.Failed, start()))
		if got, err := s.Cancel(t.Context(), "", c.Notification.ID, start()); !errors.Is(err, store.ErrNothing) || len(got.Kept) != 1 {
			t.Errorf("cancelled %+v, %v", got, err)
		}
	})
}
