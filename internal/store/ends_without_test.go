package store_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
)

// endsWithoutACall are those that no provider has a part in.
func endsWithoutACall() []ending {
	checked := func(status tidings.Status, reason tidings.Reason) func(w *world) {
		return func(w *world) {
			id := w.queued(start())
			for range 2 {
				_, err := w.s.Claim(w.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{id}, Now: start(), Lease: time.Minute,
					Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) { return status, reason, time.Time{} }})
				w.must(err)
			}
		}
	}
	return []ending{
		{"the check says no", checked(tidings.Suppressed, tidings.ReasonOptedOutAll), []string{"push suppressed opted_out_all"}},
		{"the check finds it too late", checked(tidings.Expired, tidings.ReasonExpired), []string{"push expired expired"}},
		{"the check finds nobody to send it", checked(tidings.Dead, tidings.ReasonNoProvider), []string{"push dead no_provider"}},
		{"the check puts it off", checked(tidings.Parked, tidings.ReasonQuietHours), nil},
		{"the sweep finds it too late in its lane", func(w *world) {
			w.queued(start())
			w.expireAt(start().Add(24 * time.Hour))
			w.expireAt(start().Add(25 * time.Hour))
		}, []string{"push expired expired"}},
		{"the sweep finds it too late in the log", func(w *world) {
			w.parked(start(), start().Add(time.Hour))
			w.expireAt(start().Add(24 * time.Hour))
		}, []string{"push expired expired"}},
		{"poison", func(w *world) {
			id := w.queued(start())
			for range 2 {
				_, err := w.s.Condemn(w.Context(), store.Normal, id, 0, start())
				w.must(err)
			}
		}, []string{"push dead poison"}},
		{"a newer one takes its place", func(w *world) {
			w.accept(w.collapsing(start(), 2))
			w.accept(w.collapsing(start().Add(time.Second), 1))
		}, []string{"push cancelled superseded", "push cancelled superseded"}},
		{"a newer one is held as it is, by quiet hours", func(w *world) {
			id := w.accept(w.collapsing(start(), 1))[0].Deliveries[0]
			_, err := w.s.Claim(w.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{id}, Now: start(), Lease: time.Minute,
				Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
					return tidings.Parked, tidings.ReasonQuietHours, start().Add(time.Hour)
				}})
			w.must(err)
			w.accept(holding(w.collapsing(start().Add(time.Second), 0), tidings.Push, tidings.ReasonQuietHours))
		}, []string{"push cancelled superseded"}},
		{"a newer one takes its place while it is sent", func(w *world) {
			c := w.claim(start(), w.accept(w.collapsing(start(), 1))[0].Deliveries...)[0]
			w.accept(w.collapsing(start().Add(time.Second), 1))
			w.record(result(c, tidings.Transient, tidings.Parked, start()))
		}, []string{"push apns cancelled superseded"}},
	}
}

// endsByPeople are those that somebody asked for.
func endsByPeople() []ending {
	dead := func(w *world) tidings.DeliveryID { return w.dead(start(), "apns", tidings.ReasonPoison).Delivery.ID }
	redriven := func(after time.Duration) func(w *world) {
		return func(w *world) {
			for _, id := range []tidings.DeliveryID{dead(w), w.queued(start())} {
				w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id, id}, Now: start().Add(after)})
			}
		}
	}
	return []ending{
		{"cancelled twice, in the lane", func(w *world) {
			id := w.queued(start())
			w.cancel(id)
			w.cancel(id)
		}, []string{"push cancelled cancelled"}},
		{"cancelled in the log, two at once", func(w *world) {
			id := w.parked(start(), start().Add(time.Hour))
			var callers sync.WaitGroup
			for range 2 {
				callers.Go(func() { w.cancel(id) })
			}
			callers.Wait()
		}, []string{"push cancelled cancelled"}},
		{"cancelled as a dead letter", func(w *world) { w.cancel(dead(w)) }, []string{"push apns dead poison", "push cancelled cancelled"}},
		{"cancelled while it is sent", func(w *world) {
			c := w.sending(start())
			w.cancel(c.Delivery.ID)
			w.record(result(c, tidings.Transient, tidings.Parked, start()))
		}, []string{"push apns cancelled cancelled"}},
		{"cancelled while it is sent, and given back", func(w *world) {
			c := w.sending(start())
			w.cancel(c.Delivery.ID)
			w.must(w.s.GiveBack(w.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, Lane: bulk, ClaimNo: 1, DueAt: start()}}))
		}, []string{"push cancelled cancelled"}},
		{"the user is erased", func(w *world) {
			w.parked(start(), start().Add(time.Hour))
			w.must(w.s.EraseUser(w.Context(), w.user, start()))
		}, []string{"push cancelled erased"}},
		{"the user of a dead letter is erased", func(w *world) {
			dead(w)
			w.must(w.s.EraseUser(w.Context(), w.user, start()))
		}, []string{"push apns dead poison", "push cancelled erased"}},
		{"the user is erased while it is sent", func(w *world) {
			c := w.sending(start())
			w.must(w.s.EraseUser(w.Context(), w.user, start()))
			w.record(result(c, tidings.Transient, tidings.Parked, start()))
		}, []string{"push apns cancelled erased"}},
		{"redriven", redriven(time.Minute), []string{"push apns dead poison"}},
		{"redriven too late", redriven(24 * time.Hour), []string{"push apns dead poison", "push expired expired"}},
		{"redriven after a newer one took its place", func(w *world) {
			id := w.deadCollapsing(start())
			w.accept(w.collapsing(start().Add(time.Second), 1))
			w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id}, Now: start().Add(time.Minute)})
		}, []string{"push apns dead", "push cancelled superseded"}},
	}
}

// cancel cancels the notification of a delivery, of which there may be nothing to cancel.
func (w *world) cancel(id tidings.DeliveryID) {
	w.Helper()
	if _, err := w.s.Cancel(w.Context(), "", tidings.NotificationOf(id), start()); err != nil && !errors.Is(err, store.ErrNothing) {
		w.Error(err)
	}
}

func TestOfManySweepsAndCancelsAtOnceOneTellsOfEachEnd(t *testing.T) {
	eachTelling(t, func(t *testing.T, s *store.Store, told *ends) {
		w := newWorld(t, s)
		const deliveries = 50
		var all []tidings.DeliveryID
		for range deliveries {
			all = append(all, w.queued(start()))
		}
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() { w.expireAt(start().Add(24 * time.Hour)) })
			callers.Go(func() {
				for _, id := range all {
					w.cancel(id)
				}
			})
		}
		callers.Wait()
		want := map[tidings.Status]int{}
		for _, id := range all {
			want[w.trail(id).Status]++
		}
		list := told.take()
		expired := len(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s != "push expired expired" }))
		if len(list) != deliveries || expired != want[tidings.Expired] {
			t.Errorf("told of %d ends, %d of them expired; there are %v", len(list), expired, want)
		}
	})
}
