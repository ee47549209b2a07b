package admission

import (
	"log/slog"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

const bulk = tidings.Lane("push.bulk")

// accept writes n deliveries of an app into the log.
func accept(t *testing.T, s *store.Store, app string, n int, status tidings.Status, due time.Time) []tidings.DeliveryID {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	a := store.Acceptance{Notification: tidings.Notification{
		ID: tidings.NewNotificationID(now), App: app, Type: "order.shipped", UserID: "u_1", AcceptedAt: now, ExpiresAt: now.Add(time.Hour),
		Data: []byte("{}"),
	}}
	for range n {
		a.Deliveries = append(a.Deliveries, store.NewDelivery{Lane: bulk, Address: tidings.NewAddressID(now), Status: status, DueAt: due})
	}
	got, err := s.Accept(t.Context(), store.Background, []store.Acceptance{a})
	if err != nil {
		t.Fatal(err)
	}
	return got[0].Deliveries
}

// counting is a door whose counts the test takes itself.
func counting(t *testing.T, s *store.Store, limit int) *Door {
	t.Helper()
	d := newDoor(Settings{Store: s, Bounds: map[tidings.Lane]Bound{bulk: {Limit: limit, Short: limit}}, Log: slog.New(slog.DiscardHandler)})
	d.recount(t)
	return d
}

func (d *Door) recount(t *testing.T) (busy bool) {
	t.Helper()
	busy, err := d.count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return busy
}

func (d *Door) expect(t *testing.T, why, app string, n int, code string) {
	t.Helper()
	demands := []Demand{{Lane: bulk, Deliveries: n}}
	r := d.Enter(app, Transactional, demands)
	if got := codeOf(r); got != code {
		t.Errorf("%s: %d of %s: %q, want %q", why, n, app, got, code)
	}
	if r == nil {
		d.Settle(app, demands, false)
	}
}

func TestWhatWaitsIsCountedInTheLog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		d := counting(t, s, 100)
		d.expect(t, "nothing waits", "shop", 100, "")
		queued := accept(t, s, "shop", 30, tidings.Queued, now)
		accept(t, s, "shop", 30, tidings.Parked, now)
		accept(t, s, "shop", 10, tidings.Parked, now.Add(time.Hour)) // as what waits for its turn at a provider
		if !d.recount(t) {
			t.Error("a lane that is more than half full is not looked at soon")
		}
		d.expect(t, "seventy wait", "shop", 30, "")
		d.expect(t, "seventy wait", "shop", 31, CodeLaneFull)
		accept(t, s, "bank", 1, tidings.Queued, now)
		d.recount(t) // which tells the apps apart, since the lane is contended
		d.expect(t, "a second app came", "shop", 1, CodeQuotaExceeded)
		d.expect(t, "a second app came", "bank", 29, "")
		claimed, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: queued, Now: now, Lease: time.Minute})
		if err != nil || len(claimed) != 30 {
			t.Fatalf("claimed %d, %v", len(claimed), err)
		}
		var again []store.Result // waits for another try, which is no matter of the lane
		for i := range claimed[:5] {
			c := &claimed[i].Delivery
			again = append(again, store.Result{Lane: bulk, Status: tidings.Parked, DueAt: now.Add(time.Hour), Attempt: tidings.Attempt{
				Delivery: c.ID, Number: c.ClaimNo, Provider: "apns", StartedAt: now, EndedAt: now, Outcome: tidings.Transient}})
		}
		if _, err := s.Record(t.Context(), store.Normal, again); err != nil {
			t.Fatal(err)
		}
		d.recount(t)
		d.expect(t, "thirty have left", "shop", 9, "")
		d.expect(t, "thirty have left", "bank", 49, "")
		d.expect(t, "thirty have left", "bank", 50, CodeQuotaExceeded)
	})
}

func TestWhatIsLetInCountsUntilTheLogKnowsIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		d := counting(t, s, 100)
		enter := func(n int) []Demand {
			demands := []Demand{{Lane: bulk, Deliveries: n}}
			if r := d.Enter("shop", Transactional, demands); r != nil {
				t.Fatalf("refused: %+v", r)
			}
			return demands
		}
		first, second := enter(40), enter(40)
		d.expect(t, "both are under way", "shop", 21, CodeLaneFull)
		d.Settle("shop", second, false)
		d.expect(t, "one failed", "shop", 60, "")
		accept(t, s, "shop", 40, tidings.Queued, now)
		d.Settle("shop", first, true)
		d.expect(t, "the other is committed", "shop", 61, CodeLaneFull)
		d.recount(t)
		d.expect(t, "it is counted once", "shop", 60, "")
		d.expect(t, "it is counted once", "shop", 61, CodeLaneFull)
	})
}

func TestTheRateIsMeasuredInTheLogWhoeverDoesTheWork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		d := counting(t, s, 1000)
		now := time.Now().UTC().Truncate(time.Microsecond)
		ids := accept(t, s, "shop", 200, tidings.Queued, now)
		d.recount(t)
		for round := range 2 {
			accept(t, s, "shop", 10, tidings.Queued, now)
			if _, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: ids[50*round : 50*round+50], Now: now, Lease: time.Minute}); err != nil {
				t.Fatal(err)
			}
			d.recount(t)
		}
		left := 0
		for _, s := range d.lanes[bulk].drain.samples {
			left += s.left
		}
		if left != 100 {
			t.Errorf("%d were seen to leave, want 100", left)
		}
	})
}
