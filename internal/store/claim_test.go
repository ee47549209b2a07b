package store_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestEveryDeliveryIsClaimedByOneWorker(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var ids []tidings.DeliveryID
		for range 60 {
			ids = append(ids, w.queued(start()))
		}
		slices.Reverse(ids) // a worker need not know the order of locks
		var wg sync.WaitGroup
		var mu sync.Mutex
		claims := map[tidings.DeliveryID]int{}
		for worker := range 8 {
			wg.Go(func() {
				for part := range slices.Chunk(slices.Concat(ids[worker*5:], ids[:worker*5]), 20) {
					for _, c := range w.claim(start(), part...) {
						mu.Lock()
						claims[c.Delivery.ID]++
						mu.Unlock()
					}
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if claims[id] != 1 {
				t.Fatalf("claimed %d times", claims[id])
			}
			if d := w.expect(id, tidings.Sending, ""); d.ClaimNo != 1 || d.Tries != 1 || !d.DueAt.Equal(start().Add(time.Minute)) {
				t.Fatalf("claimed as %+v", d.Delivery)
			}
		}
	})
}

func TestAClaimBringsWhatSendingNeeds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		if err := s.Suppress(t.Context(), tidings.Push, w.devices[0].Value, tidings.ReasonOptedOutChannel, "support", start()); err != nil {
			t.Fatal(err)
		}
		a := w.acceptance(start(), 1)
		seen, err := s.User(t.Context(), w.user)
		w.must(err)
		a.Seen = seen
		a.User = &tidings.User{ID: w.user, Locale: "de", Timezone: "Europe/Berlin", Attributes: []byte(`{"a":1}`)}
		a.Notification.CollapseKey = "c"
		id := w.accept(a)[0].Deliveries[0]
		c := w.claim(start(), id)[0]
		n := c.Notification
		if n.ID != a.Notification.ID || n.App != "shop" || n.Type != "order.shipped" || n.CatalogVersion != 3 || n.CollapseKey != "c" ||
			string(n.Data) != `{"order":"4711"}` || !n.ExpiresAt.Equal(a.Notification.ExpiresAt) {
			t.Fatalf("notification %+v", n)
		}
		if c.User.ID != w.user || c.User.Locale != "de" || c.User.Timezone != "Europe/Berlin" || string(c.User.Attributes) != `{"a":1}` {
			t.Fatalf("user %+v", c.User)
		}
		if c.Address.ID != w.devices[0].ID || c.Address.UserID != w.user || c.Address.Provider != "apns" || c.Address.Status != tidings.AddressActive ||
			c.Delivery.Address != w.devices[0].Value || c.Suppressed == nil {
			t.Fatalf("address %+v, suppressed %v", c.Address, c.Suppressed)
		}
	})
}

func TestOnlyWhatIsQueuedInTheLaneIsClaimed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		parked := w.acceptance(start(), 1)
		parked.Deliveries[0].Status = tidings.Parked
		id := w.accept(parked)[0].Deliveries[0]
		if got := w.claim(start(), id, tidings.DeliveryOf(tidings.NewNotificationID(start()), 0)); len(got) != 0 {
			t.Fatal("a parked or unknown delivery was claimed")
		}
		elsewhere := w.queued(start())
		got, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "sms.bulk", IDs: []tidings.DeliveryID{elsewhere}, Now: start(), Lease: time.Minute})
		if err != nil || len(got) != 0 {
			t.Fatalf("claimed from another lane: %v, %v", got, err)
		}
	})
}

func TestWhatTheCheckRefusesIsSettled(t *testing.T) {
	cases := []struct {
		why    string
		status tidings.Status
		reason tidings.Reason
		due    time.Time
	}{
		{"quiet hours put it off", tidings.Parked, tidings.ReasonQuietHours, start().Add(time.Hour)},
		{"an opt-out ends it", tidings.Suppressed, tidings.ReasonOptedOutChannel, time.Time{}},
		{"too late ends it", tidings.Expired, tidings.ReasonExpired, time.Time{}},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				id := w.queued(start())
				got, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{id}, Now: start(), Lease: time.Minute,
					Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) { return c.status, c.reason, c.due }})
				if err != nil || len(got) != 0 {
					t.Fatalf("claimed %v, %v", got, err)
				}
				if d := w.expect(id, c.status, c.reason); !d.DueAt.Equal(c.due) || d.ClaimNo != 0 {
					t.Fatalf("left as %+v", d.Delivery)
				}
			})
		}
	})
}

func TestAStopBeforeTheClaimIsSeenByTheClaim(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for range 20 {
			ids := []tidings.DeliveryID{w.queued(start()), w.queued(start())}
			stopped := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := s.Suppress(t.Context(), tidings.Push, w.devices[0].Value, tidings.ReasonOptedOutChannel, "support", start()); err != nil {
					t.Error(err)
				}
				close(stopped)
			})
			wg.Go(func() {
				_, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: ids, Now: start(), Lease: time.Minute,
					Check: func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
						if c.Suppressed != nil {
							return tidings.Suppressed, tidings.ReasonOptedOutChannel, time.Time{}
						}
						return "", "", time.Time{}
					}})
				if err != nil {
					t.Error(err)
				}
			})
			<-stopped
			late := w.queued(start())
			if got := w.claim(start(), late); len(got) == 1 && got[0].Suppressed == nil {
				t.Error("claimed after the stop was committed, without seeing it")
			}
			wg.Wait()
			if err := s.Unsuppress(t.Context(), tidings.Push, w.devices[0].Value); err != nil {
				t.Fatal(err)
			}
		}
	})
}
