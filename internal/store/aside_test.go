package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// fresh puts deliveries of an app into the log that are due, and fresh for a minute.
func fresh(t *testing.T, set store.Settings, app string, n int) {
	t.Helper()
	storetest.Backlog{Lane: bulk, App: app, Event: "order.shipped", N: n, Due: start(), Fresh: start().Add(time.Minute), Expires: start().Add(time.Hour)}.Put(t, set)
}

// aside are the times at which an app's late work comes back, by how many at once.
func aside(t *testing.T, s *store.Store) (turns map[time.Duration]int, n int) {
	t.Helper()
	all, err := s.Statuses(t.Context(), tidings.NotificationID{})
	if err != nil {
		t.Fatal(err)
	}
	turns = map[time.Duration]int{}
	for _, d := range all {
		if d.Status == tidings.Parked && d.Reason == tidings.ReasonSidelined {
			turns[d.DueAt.Sub(start())]++
			n++
		}
	}
	return turns, n
}

func TestLateWorkIsSetAsideAndComesBackAtARate(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		fresh(t, set, "blast", 30)
		sideline := func(at time.Duration, limit int) int {
			t.Helper()
			n, err := s.Sideline(t.Context(), bulk, start().Add(at), 10, limit)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := sideline(59*time.Second, 100); n != 0 {
			t.Fatalf("%d are late before their time", n)
		}
		if first, second, third := sideline(time.Minute, 20), sideline(time.Minute, 20), sideline(time.Minute, 20); first != 20 || second != 10 || third != 0 {
			t.Fatalf("set aside %d, %d, %d", first, second, third)
		}
		turns, n := aside(t, s)
		for i := 1; i <= 30; i++ {
			if at := time.Minute + time.Duration(i)*100*time.Millisecond; turns[at] != 1 {
				t.Errorf("%d of %d come back at %v", turns[at], n, at)
			}
		}
		if ids, err := s.Due(t.Context(), bulk, start().Add(61*time.Second), 100); err != nil || len(ids) != 10 {
			t.Errorf("%d had their turn after a second, %v", len(ids), err)
		}
		if n := sideline(2*time.Minute, 100); n != 0 {
			t.Errorf("%d were set aside twice", n)
		}
		if ids, err := s.Aside(t.Context(), bulk, start().Add(61*time.Second), 5); err != nil || len(ids) != 5 {
			t.Errorf("%d went before their turn, %v", len(ids), err)
		}
		if expired, err := s.Expire(t.Context(), start().Add(time.Hour), 100); err != nil || expired != 30 {
			t.Errorf("%d expired, %v", expired, err)
		}
	})
}

func TestOneAppsLateWorkDoesNotWaitBehindAnothers(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		fresh(t, set, "blast", 50)
		now := start().Add(time.Minute)
		if _, err := s.Sideline(t.Context(), bulk, now, 1, 100); err != nil {
			t.Fatal(err)
		}
		fresh(t, set, "bank", 2)
		if _, err := s.Sideline(t.Context(), bulk, now, 1, 100); err != nil {
			t.Fatal(err)
		}
		if turns, n := aside(t, s); n != 52 || turns[time.Minute+time.Second] != 2 || turns[time.Minute+2*time.Second] != 2 {
			t.Errorf("turns %v", turns)
		}
		ids, err := s.Aside(t.Context(), bulk, now, 4)
		if err != nil || len(ids) != 4 {
			t.Fatal(len(ids), err)
		}
		got := map[string]int{}
		for _, id := range ids {
			trail, err := s.Trail(t.Context(), "", tidings.NotificationOf(id))
			if err != nil || len(trail.Deliveries) != 1 || !trail.Deliveries[0].SidelinedAt.Equal(now) {
				t.Fatalf("trail %+v, %v", trail, err)
			}
			got[trail.Notification.App]++
		}
		if got["bank"] != 2 || got["blast"] != 2 {
			t.Errorf("went before their turn: %v", got)
		}
	})
}

func TestATryThatWaitsForItsTimeIsNotMadeEarlierByBeingLate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		a.Deliveries[0].FreshUntil = start().Add(time.Minute)
		w.accept(a)
		c := w.claim(start(), tidings.DeliveryOf(a.Notification.ID, 0))[0]
		later := result(c, tidings.Transient, tidings.Parked, start())
		later.DueAt = start().Add(time.Hour)
		w.record(later)
		now := start().Add(2 * time.Minute)
		if n, err := s.Sideline(t.Context(), bulk, now, 10, 10); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if d := w.expect(c.Delivery.ID, tidings.Parked, ""); !d.DueAt.Equal(start().Add(time.Hour)) {
			t.Errorf("the next try is at %v", d.DueAt)
		}
		if ids, err := s.Aside(t.Context(), bulk, now, 10); err != nil || len(ids) != 0 {
			t.Errorf("%d were tried before their time, %v", len(ids), err)
		}
	})
}

func TestALateTurnAtAProviderIsNoneAndCountsForNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		a.Deliveries[0].Status, a.Deliveries[0].DueAt, a.Deliveries[0].FreshUntil = tidings.Parked, start().Add(time.Hour), start().Add(time.Minute)
		id := w.accept(a)[0].Deliveries[0]
		now := start().Add(2 * time.Minute)
		if n, err := s.Sideline(t.Context(), bulk, now, 10, 10); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		w.expect(id, tidings.Parked, tidings.ReasonSidelined)
		if waiting, err := s.Waiting(t.Context(), now, time.Time{}, nil); err != nil || waiting[bulk].Late != 1 {
			t.Errorf("while it is set aside: %+v, %v", waiting[bulk], err)
		}
		if ids, err := s.Aside(t.Context(), bulk, now, 10); err != nil || len(ids) != 1 {
			t.Fatalf("%d may go while nothing fresh waits, %v", len(ids), err)
		}
		late := false
		_, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{id}, Now: now, Lease: time.Minute,
			Check: func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
				late = c.Late
				return tidings.Parked, "", now.Add(time.Hour)
			}})
		w.must(err)
		if !late {
			t.Error("a claim does not say that its delivery is late")
		}
		stats, err := s.LaneStats(t.Context(), now)
		if want := (store.LaneStats{Parked: 1, NextDue: now.Add(time.Hour)}); err != nil || stats[bulk] != want {
			t.Errorf("while it waits for another turn: %+v, %v", stats[bulk], err)
		}
		waiting, err := s.Waiting(t.Context(), now, time.Time{}, []tidings.Lane{bulk})
		if err != nil || waiting[bulk].Turn != 0 || waiting[bulk].Late != 1 || len(waiting[bulk].Apps) != 0 {
			t.Errorf("while it waits for another turn: %+v, %v", waiting[bulk], err)
		}
	})
}

func TestTurnsComeForwardInTheirOrderAndNoneGoesBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		at := func(n int) time.Time { return start().Add(time.Duration(n) * time.Second) }
		var ids []tidings.DeliveryID
		for _, n := range []int{1, 61, 62, 63} {
			ids = append(ids, w.parked(start(), at(n)))
		}
		late := w.parked(start(), at(50))
		w.must(s.SetAside(t.Context(), late))
		retried := result(w.sending(start()), tidings.Transient, tidings.Parked, start())
		retried.DueAt = at(40)
		w.record(retried)
		dues := func(want ...int) {
			t.Helper()
			for i, id := range append(ids[:len(ids):len(ids)], late, retried.Attempt.Delivery) {
				if d := w.trail(id); !d.DueAt.Equal(at(want[i])) {
					t.Errorf("number %d is due after %v, want %d s", i, d.DueAt.Sub(start()), want[i])
				}
			}
		}
		w.must(s.Advance(t.Context(), bulk, false, start(), 0.5, 3))
		dues(1, 4, 6, 63, 50, 40)
		w.must(s.Advance(t.Context(), bulk, false, at(6), 1, 10))
		dues(1, 4, 6, 7, 50, 40)
		w.must(s.Advance(t.Context(), bulk, true, at(6), 1, 10))
		dues(1, 4, 6, 7, 7, 40)
	})
}
