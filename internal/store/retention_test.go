package store_test

import (
	"maps"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// later is after the detail of what was accepted at start may go.
func later() time.Time { return start().Add(31 * 24 * time.Hour) }

const startDay = 20786 // 2026-11-29

// ended accepts one notification whose delivery was sent.
func (w *world) ended(now time.Time) tidings.DeliveryID {
	w.Helper()
	c := w.sending(now)
	w.record(result(c, tidings.OK, tidings.Sent, now))
	return c.Delivery.ID
}

func (w *world) forget(now time.Time, ids ...tidings.DeliveryID) int {
	w.Helper()
	var of []tidings.NotificationID
	for _, id := range ids {
		of = append(of, tidings.NotificationOf(id))
	}
	n, err := w.s.Forget(w.Context(), of, now)
	w.must(err)
	return n
}

// counted are the deliveries of the first day, by provider and status.
func (w *world) counted(f store.StatisticsFilter) map[string]int64 {
	w.Helper()
	f.Since, f.Until = startDay, startDay+1
	list, err := w.s.Statistics(w.Context(), f, start().Add(time.Minute))
	w.must(err)
	sums := map[string]int64{}
	for _, d := range list {
		if d.Day != startDay || d.Channel != tidings.Push || d.Category != "orders" {
			w.Errorf("counted %+v", d)
		}
		sums[d.Provider+" "+string(d.Status)] += d.Deliveries
	}
	return sums
}

func TestTheSumsOfADayAreTheSameBeforeAndAfterItsDetailIsGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		sent := []tidings.DeliveryID{w.ended(start()), w.ended(start().Add(time.Second)), w.ended(start().Add(2 * time.Second))}
		waiting := w.queued(start())
		unsent := w.queued(start())
		w.must(errOf(s.Cancel(t.Context(), "", tidings.NotificationOf(unsent), start())))
		want := map[string]int64{"apns sent": 3, " cancelled": 1, " queued": 1}
		if got := w.counted(store.StatisticsFilter{}); !maps.Equal(got, want) {
			t.Fatalf("before: %v", got)
		}
		if n := w.forget(later(), append(sent, waiting, unsent)...); n != 4 {
			t.Errorf("%d are gone, want all but what waits", n)
		}
		if n := w.forget(later(), append(sent, waiting, unsent)...); n != 0 {
			t.Errorf("%d are gone again", n)
		}
		if got := w.counted(store.StatisticsFilter{}); !maps.Equal(got, want) {
			t.Errorf("after: %v", got)
		}
		if _, err := s.Trail(t.Context(), "", tidings.NotificationOf(sent[0])); err == nil {
			t.Error("a trail is still there")
		}
		w.expect(waiting, tidings.Queued, "")
		for _, c := range []struct {
			why  string
			f    store.StatisticsFilter
			want map[string]int64
		}{
			{"by provider", store.StatisticsFilter{Provider: "apns"}, map[string]int64{"apns sent": 3}},
			{"by status", store.StatisticsFilter{Status: tidings.Queued}, map[string]int64{" queued": 1}},
			{"by channel", store.StatisticsFilter{Channel: tidings.SMS}, map[string]int64{}},
			{"by category", store.StatisticsFilter{Category: "orders", Status: tidings.Cancelled}, map[string]int64{" cancelled": 1}},
		} {
			if got := w.counted(c.f); !maps.Equal(got, c.want) {
				t.Errorf("%s: %v", c.why, got)
			}
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

func TestWhatIsStillNeededIsKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		gone := w.ended(start())
		waiting := w.queued(start())
		late := w.sending(start())
		w.record(result(late, tidings.OK, tidings.Sent, later().Add(-time.Hour))) // it was held for long
		held := w.acceptance(start(), 0)
		held.Holds = []tidings.Hold{{ID: tidings.NewHoldID(start()), Notification: held.Notification.ID, Channel: tidings.Push, Reason: tidings.ReasonScheduled, Until: later().Add(time.Hour)}}
		heldID := w.accept(held)[0].ID
		keyed := w.acceptance(start(), 0)
		keyed.Notification.DedupeKey, keyed.Dedupe = "order-4711", &store.Dedupe{ExpiresAt: later().Add(time.Hour)}
		keyedID := w.accept(keyed)[0].ID

		page, err := s.Old(t.Context(), store.OldPage{Before: later().Add(-30 * 24 * time.Hour), Now: later(), Limit: 100})
		w.must(err)
		needed := map[tidings.NotificationID]bool{}
		for _, o := range page {
			needed[o.ID] = o.Needed
		}
		want := map[tidings.NotificationID]bool{tidings.NotificationOf(gone): false, tidings.NotificationOf(waiting): true,
			tidings.NotificationOf(late.Delivery.ID): true, heldID: true, keyedID: true}
		if !maps.Equal(needed, want) {
			t.Errorf("needed: %v, want %v", needed, want)
		}
		n, err := s.Forget(t.Context(), []tidings.NotificationID{tidings.NotificationOf(gone), tidings.NotificationOf(waiting),
			tidings.NotificationOf(late.Delivery.ID), heldID}, later())
		if err != nil || n != 1 {
			t.Errorf("%d are gone: %v", n, err)
		}
		w.expect(waiting, tidings.Queued, "")
		w.expect(late.Delivery.ID, tidings.Sent, "")
	})
}

// Each delivery is in the sums once, however many processes delete at once.
func TestDetailThatManyDeleteAtOnceIsCountedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		const total = 60
		var group []store.Acceptance
		for range total {
			group = append(group, w.acceptance(start(), 2))
		}
		var ids []tidings.NotificationID
		for _, a := range w.accept(group...) {
			w.must(errOf(s.Cancel(t.Context(), "", a.ID, start())))
			ids = append(ids, a.ID)
		}
		var wg sync.WaitGroup
		gone := make([]int, 6)
		for k := range gone {
			wg.Go(func() {
				for from := range total / 10 {
					n, err := s.Forget(t.Context(), ids[from*10:from*10+10], later())
					if err != nil {
						t.Error(err)
					}
					gone[k] += n
				}
			})
		}
		wg.Wait()
		sum := 0
		for _, n := range gone {
			sum += n
		}
		n, err := s.Forget(t.Context(), ids, later()) // what somebody skipped that another gave up
		w.must(err)
		if sum+n != total {
			t.Errorf("%d of %d are gone", sum+n, total)
		}
		if got := w.counted(store.StatisticsFilter{}); !maps.Equal(got, map[string]int64{" cancelled": 2 * total}) {
			t.Errorf("counted %v", got)
		}
	})
}

func TestNewsOfWhatIsGoneLeaveNothingBehind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OK, tidings.Sent, start()))
		if n := w.forget(later(), c.Delivery.ID); n != 1 {
			t.Fatalf("%d are gone", n)
		}
		w.record(result(c, tidings.Transient, tidings.Parked, later()))
		if strays := w.receipts(receipt(c, tidings.ReceiptDelivered, later())); strays != 1 {
			t.Errorf("%d strays", strays)
		}
		if got := w.counted(store.StatisticsFilter{}); !maps.Equal(got, map[string]int64{"apns sent": 1}) {
			t.Errorf("counted %v", got)
		}
		for _, want := range []bool{true, false} {
			more, err := s.ForgetRest(t.Context(), later().Add(time.Minute), 1)
			if err != nil || more != want {
				t.Errorf("more strays: %v %v", more, err)
			}
		}
	})
}

func TestTestNotificationsAreNotCounted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		a.Notification.Test = true
		id := w.accept(a)[0].ID
		w.must(errOf(s.Cancel(t.Context(), "", id, start())))
		if got := w.counted(store.StatisticsFilter{}); len(got) != 0 {
			t.Errorf("before: %v", got)
		}
		if n, err := s.Forget(t.Context(), []tidings.NotificationID{id}, later()); err != nil || n != 1 {
			t.Error(n, err)
		}
		if got := w.counted(store.StatisticsFilter{}); len(got) != 0 {
			t.Errorf("after: %v", got)
		}
	})
}
