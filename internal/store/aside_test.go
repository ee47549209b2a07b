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
