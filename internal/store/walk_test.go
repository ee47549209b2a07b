package store_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// A walk does anything that may happen, in any order, and looks after every step whether each
// delivery only did what the table of transitions allows.
type walk struct {
	*world
	rng    *rand.Rand
	now    time.Time
	ids    []tidings.DeliveryID
	claims []store.Claimed
	before map[tidings.DeliveryID]tidings.Delivery
	okay   map[tidings.DeliveryID]bool // a provider is known to have accepted
}

func TestNothingHappensThatTheTableForbids(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for seed := range uint64(4) {
			k := &walk{world: newWorld(t, s), rng: rand.New(rand.NewPCG(seed, 1)), now: start(), okay: map[tidings.DeliveryID]bool{}}
			k.look()
			for range 100 {
				k.now = k.now.Add(time.Duration(k.rng.IntN(20_000)) * time.Millisecond)
				k.step()
				k.look()
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			k.finish()
		}
	})
}

func (k *walk) step() {
	steps := []func(){k.post, k.post, k.take, k.take, k.tell, k.tell, k.tell, k.hear, k.hear, k.sweepSome, k.sweepSome, k.callOff, k.giveBack}
	steps[k.rng.IntN(len(steps))]()
}

func (k *walk) post() {
	a := k.acceptance(k.now, 1+k.rng.IntN(2))
	a.Notification.ExpiresAt = k.now.Add(time.Duration(1+k.rng.IntN(600)) * time.Second)
	if k.rng.IntN(3) == 0 {
		a.Deliveries[0].Status = tidings.Parked
	}
	k.ids = append(k.ids, k.accept(a)[0].Deliveries...)
}

func (k *walk) some() []tidings.DeliveryID {
	var out []tidings.DeliveryID
	for _, id := range k.ids {
		if k.rng.IntN(3) == 0 {
			out = append(out, id)
		}
	}
	return out
}

func (k *walk) take() {
	got, err := k.s.Claim(k.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: k.some(), Now: k.now, Lease: 30 * time.Second,
		Check: func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
			switch {
			case !c.Notification.CancelledAt.IsZero():
				return tidings.Cancelled, tidings.ReasonCancelled, time.Time{}
			case !k.now.Before(c.Notification.ExpiresAt):
				return tidings.Expired, tidings.ReasonExpired, time.Time{}
			case k.rng.IntN(8) == 0:
				return tidings.Parked, tidings.ReasonQuietHours, k.now.Add(time.Minute)
			}
			return "", "", time.Time{}
		}})
	k.must(err)
	k.claims = append(k.claims, got...)
}

// tell records something of any claim there ever was, also twice.
func (k *walk) tell() {
	if len(k.claims) == 0 {
		return
	}
	c := k.claims[k.rng.IntN(len(k.claims))]
	kinds := []struct {
		outcome tidings.Outcome
		status  tidings.Status
	}{{tidings.OK, tidings.Sent}, {tidings.Transient, tidings.Parked}, {tidings.OutcomeUnknown, tidings.Unknown}, {tidings.OutcomeUnknown, tidings.Parked},
		{tidings.RecipientTemp, tidings.Dead}, {tidings.ContentRejected, tidings.Failed}, {tidings.RecipientOptout, tidings.Suppressed}, {tidings.NotSent, tidings.Parked}}
	kind := kinds[k.rng.IntN(len(kinds))]
	k.okay[c.Delivery.ID] = k.okay[c.Delivery.ID] || kind.outcome == tidings.OK
	got := k.record(result(c, kind.outcome, kind.status, k.now))
	if now := k.trail(c.Delivery.ID).Status; got[0].Status != now {
		k.Fatalf("Record says %s, but it is %s", got[0].Status, now)
	}
}

func (k *walk) hear() {
	if len(k.claims) == 0 {
		return
	}
	statuses := []tidings.ReceiptStatus{tidings.ReceiptAccepted, tidings.ReceiptSent, tidings.ReceiptDelivered, tidings.ReceiptFailed, tidings.ReceiptBounced, tidings.ReceiptOpened}
	k.receipts(receipt(k.claims[k.rng.IntN(len(k.claims))], statuses[k.rng.IntN(len(statuses))], k.now))
}

func (k *walk) sweepSome() { k.sweep(5) }

func (k *walk) sweep(limit int) {
	_, err := k.s.Due(k.Context(), bulk, k.now, limit)
	k.must(err)
	_, err = k.s.Lost(k.Context(), bulk, k.now.Add(-time.Minute), k.now, limit)
	k.must(err)
	_, err = k.s.Expire(k.Context(), k.now, limit)
	k.must(err)
	late, err := k.s.Overdue(k.Context(), k.now, limit)
	k.must(err)
	for _, o := range late {
		if o.Delivery.Status == tidings.Sending {
			r := store.Result{Attempt: tidings.Attempt{Delivery: o.Delivery.ID, Number: o.Delivery.ClaimNo, StartedAt: k.now, EndedAt: k.now, Outcome: tidings.OutcomeUnknown},
				Status: tidings.Unknown, DueAt: k.now.Add(time.Minute)}
			k.record(r)
			continue
		}
		k.must(k.s.Resolve(k.Context(), []store.Resolution{{ID: o.Delivery.ID, ClaimNo: o.Delivery.ClaimNo, Status: tidings.Parked, DueAt: k.now}}))
	}
}

func (k *walk) callOff() {
	if len(k.ids) > 0 && k.rng.IntN(3) == 0 {
		_, _ = k.s.Cancel(k.Context(), "", tidings.NotificationOf(k.ids[k.rng.IntN(len(k.ids))]), k.now) // often there is nothing to cancel
	}
}

func (k *walk) giveBack() {
	if len(k.claims) > 0 {
		c := k.claims[k.rng.IntN(len(k.claims))]
		k.must(k.s.GiveBack(k.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, ClaimNo: c.Delivery.ClaimNo, DueAt: k.now}}))
	}
}

func (k *walk) look() {
	now, err := k.s.Statuses(k.Context())
	k.must(err)
	for id, d := range now {
		old, known := k.before[id]
		switch {
		case known && !tidings.CanBecome(old.Status, d.Status):
			k.Errorf("%s became %s", old.Status, d.Status)
		case known && (d.ClaimNo < old.ClaimNo || d.Tries < 0):
			k.Errorf("claims went from %d to %d, tries to %d", old.ClaimNo, d.ClaimNo, d.Tries)
		case d.Status.Live(!d.DueAt.IsZero()) == d.DueAt.IsZero(), d.DueAt.IsZero() == d.FinishedAt.IsZero():
			k.Errorf("%s with due %v and finished %v", d.Status, d.DueAt, d.FinishedAt)
		}
	}
	k.before = now
}

// finish lets time pass until nothing can be under way, and looks at the ends.
func (k *walk) finish() {
	for range 12 { // longer than anything lives
		k.now = k.now.Add(5 * time.Minute)
		k.sweep(1000)
	}
	k.look()
	for _, id := range k.ids {
		d := k.trail(id)
		if !d.DueAt.IsZero() {
			k.Errorf("%s is still %s", id, d.Status)
		}
		var receipts []tidings.Receipt
		for _, r := range d.Receipts {
			r.Delivery = id
			receipts = append(receipts, r)
		}
		end, _ := tidings.Fold(d.Attempts, receipts)
		if (end == tidings.Sent || end == tidings.Delivered) && d.Status != end {
			k.Errorf("the evidence says %s, the delivery %s", end, d.Status)
		}
		if d.Status == tidings.Sent && !k.okay[id] && len(receipts) == 0 {
			k.Errorf("%s is sent, but nobody accepted it", id)
		}
	}
}

func TestManyWritersOfAllClassesAtOnceAreAllServed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var wg sync.WaitGroup
		for worker := range 12 {
			wg.Go(func() {
				for i := range 10 {
					now := start().Add(time.Duration(worker*10+i) * time.Second)
					a := w.acceptance(now, 2)
					got, err := s.Accept(t.Context(), store.Class(worker%3), []store.Acceptance{a})
					if err != nil {
						t.Error(err)
						return
					}
					claims, err := s.Claim(t.Context(), store.Class(i%3), store.ClaimRequest{Lane: bulk, IDs: got[0].Deliveries, Now: now, Lease: time.Minute})
					if err != nil || len(claims) != 2 {
						t.Error(len(claims), err)
						return
					}
					if _, err := s.Record(t.Context(), store.Class(i%3), []store.Result{result(claims[1], tidings.OK, tidings.Sent, now), result(claims[0], tidings.OK, tidings.Sent, now)}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
