package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// parked accepts a notification whose delivery is due then.
func (w *world) parked(now, due time.Time) tidings.DeliveryID {
	w.Helper()
	a := w.acceptance(now, 1)
	a.Deliveries[0].Status, a.Deliveries[0].DueAt = tidings.Parked, due
	return w.accept(a)[0].Deliveries[0]
}

func TestDueTakesWhatIsDueLongest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		third := w.parked(start(), start().Add(3*time.Second))
		first := w.parked(start(), start().Add(time.Second))
		second := w.parked(start(), start().Add(2*time.Second))
		w.parked(start(), start().Add(time.Hour))
		now := start().Add(time.Minute)
		got, err := s.Due(t.Context(), bulk, now, 2)
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		for _, id := range []tidings.DeliveryID{first, second} {
			if d := w.expect(id, tidings.Queued, ""); !d.DueAt.Equal(now) {
				t.Fatalf("stamped %v", d.DueAt)
			}
		}
		w.expect(third, tidings.Parked, "")
		if got, err := s.Due(t.Context(), "sms.bulk", now, 10); err != nil || len(got) != 0 {
			t.Fatal("another lane's deliveries were taken", err)
		}
		if got, err := s.Due(t.Context(), bulk, now, 10); err != nil || len(got) != 1 || got[0] != third {
			t.Fatal(got, err)
		}
	})
}

func TestTwoSweepsNeverTakeTheSame(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		const total = 120
		for range total {
			w.parked(start(), start())
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := map[tidings.DeliveryID]int{}
		for range 6 {
			wg.Go(func() {
				for range 10 {
					ids, err := s.Due(t.Context(), bulk, start().Add(time.Second), 10)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, id := range ids {
						taken[id]++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(taken) != total {
			t.Fatalf("%d of %d taken", len(taken), total)
		}
		for id, n := range taken {
			if n != 1 {
				t.Fatalf("%s taken %d times", id, n)
			}
		}
	})
}

func TestOnlyAStampThatIsStillThereIsTakenBack(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		id, claimed := w.queued(start()), w.sending(start())
		due := start().Add(5 * time.Second)
		w.must(s.Unqueue(t.Context(), []tidings.DeliveryID{id, claimed.Delivery.ID}, start().Add(time.Microsecond), due))
		w.expect(id, tidings.Queued, "")
		w.must(s.Unqueue(t.Context(), []tidings.DeliveryID{id, claimed.Delivery.ID}, start(), due))
		if d := w.expect(id, tidings.Parked, ""); !d.DueAt.Equal(due) {
			t.Fatalf("due %v", d.DueAt)
		}
		w.expect(claimed.Delivery.ID, tidings.Sending, "")
	})
}

func TestWhatItsLaneLostIsParkedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		old, fresh := w.queued(start()), w.queued(start().Add(time.Minute))
		n, err := s.Lost(t.Context(), bulk, start().Add(time.Second), start().Add(2*time.Minute), 10)
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		w.expect(old, tidings.Parked, "")
		w.expect(fresh, tidings.Queued, "")
	})
}

// The clock was wrong for a while: nothing would be older than such a stamp for years.
func TestAStampThatNoClockCanHaveGivenIsLost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		absurd, ahead := w.queued(start().Add(24*time.Hour)), w.queued(start().Add(30*time.Second))
		if n, err := s.Lost(t.Context(), bulk, start().Add(-time.Hour), start(), 10); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if d := w.expect(absurd, tidings.Parked, ""); !d.DueAt.Equal(start()) {
			t.Errorf("due %v", d.DueAt)
		}
		w.expect(ahead, tidings.Queued, "") // clocks may differ a little
	})
}

func TestALeaseThatIsOverIsResolvedUnderItsClaimOnly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		if late, err := s.Overdue(t.Context(), start().Add(30*time.Second), 10); err != nil || len(late) != 0 {
			t.Fatal(late, err)
		}
		now := start().Add(2 * time.Minute)
		late, err := s.Overdue(t.Context(), now, 10)
		if err != nil || len(late) != 1 || late[0].Delivery.ID != c.Delivery.ID || late[0].Delivery.ClaimNo != 1 || late[0].Address.Provider != "apns" ||
			late[0].Notification.Type != "order.shipped" {
			t.Fatal(late, err)
		}
		w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now))
		wrong := store.Resolution{ID: c.Delivery.ID, ClaimNo: 2, Status: tidings.Parked, DueAt: now}
		w.must(s.Resolve(t.Context(), []store.Resolution{wrong}))
		w.expect(c.Delivery.ID, tidings.Unknown, "")
		w.must(s.Resolve(t.Context(), []store.Resolution{{ID: c.Delivery.ID, ClaimNo: 1, Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown}}))
		w.expect(c.Delivery.ID, tidings.Unknown, tidings.ReasonOutcomeUnknown)
	})
}

func TestAClaimGivenBackIsParkedAndDoesNotCount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.must(s.GiveBack(t.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, ClaimNo: 2, DueAt: start()}}))
		w.expect(c.Delivery.ID, tidings.Sending, "")
		w.must(s.GiveBack(t.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, ClaimNo: 1, DueAt: start()}}))
		if d := w.expect(c.Delivery.ID, tidings.Parked, ""); d.Tries != 0 || d.ClaimNo != 1 {
			t.Fatalf("left as %+v", d.Delivery)
		}
		if _, err := s.Due(t.Context(), bulk, start(), 10); err != nil {
			t.Fatal(err)
		}
		w.claim(start(), c.Delivery.ID)
		if d := w.expect(c.Delivery.ID, tidings.Sending, ""); d.ClaimNo != 2 || d.Tries != 1 {
			t.Fatalf("claimed again as %+v", d.Delivery)
		}
	})
}

func TestWhatIsOfNoMoreUseExpires(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		queued, parked, sending := w.queued(start()), w.parked(start(), start().Add(time.Hour)), w.sending(start())
		if n, err := s.Expire(t.Context(), start().Add(23*time.Hour), 10); err != nil || n != 0 {
			t.Fatal(n, err)
		}
		if n, err := s.Expire(t.Context(), start().Add(24*time.Hour), 10); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		w.expect(queued, tidings.Expired, tidings.ReasonExpired)
		w.expect(parked, tidings.Expired, tidings.ReasonExpired)
		w.expect(sending.Delivery.ID, tidings.Sending, "")
	})
}

func TestLaneStatsAndStates(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		now := start().Add(time.Minute)
		w.parked(start(), start().Add(time.Second))
		w.parked(start().Add(time.Millisecond), start().Add(time.Hour)) // as who waits for a turn at a provider
		retried := result(w.sending(start()), tidings.Transient, tidings.Parked, start())
		retried.DueAt = start().Add(time.Hour)
		w.record(retried)
		w.queued(start().Add(2 * time.Second))
		w.sending(start())
		w.record(result(w.sending(start()), tidings.OutcomeUnknown, tidings.Unknown, start()))
		w.record(result(w.sending(start()), tidings.OK, tidings.Sent, start()))
		stats, err := s.LaneStats(t.Context(), now)
		want := store.LaneStats{Parked: 1, Due: 1, Turn: 1, Queued: 1, Sending: 1, Unknown: 1, Oldest: start().Add(time.Millisecond), NextDue: start().Add(time.Second), Turns: true}
		if err != nil || len(stats) != 1 || stats[bulk] != want {
			t.Fatalf("stats %+v, %v", stats, err)
		}
		heads, err := s.LaneHeads(t.Context(), now)
		want.Parked, want.Due, want.Turn, want.Unknown = 0, 0, 0, 0
		if err != nil || len(heads) != 1 || heads[bulk] != want {
			t.Fatalf("heads %+v, %v", heads, err)
		}
		w.must(s.SetLanePaused(t.Context(), bulk, true, now))
		w.must(s.SetLanePaused(t.Context(), "sms.bulk", true, now))
		w.must(s.SetLanePaused(t.Context(), "sms.bulk", false, now))
		states, err := s.LaneStates(t.Context())
		if err != nil || len(states) != 2 || !states[0].Paused || !states[0].Since.Equal(now) || states[1].Paused {
			t.Fatalf("states %+v, %v", states, err)
		}
	})
}

func TestCancel(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 2)
		a.Deliveries = append(a.Deliveries, a.Deliveries...)
		a.Holds = []tidings.Hold{{ID: tidings.NewHoldID(start()), Notification: a.Notification.ID, Channel: tidings.Email, Reason: tidings.ReasonScheduled, Until: start().Add(time.Hour)}}
		ids := w.accept(a)[0].Deliveries
		sent, flying := w.claim(start(), ids[0])[0], w.claim(start(), ids[1])[0]
		w.record(result(sent, tidings.OK, tidings.Sent, start()))
		now := start().Add(time.Minute)
		if _, err := s.Cancel(t.Context(), "bank", a.Notification.ID, now); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("another app's notification: %v", err)
		}
		first, err := s.Cancel(t.Context(), "shop", a.Notification.ID, now)
		if err != nil || len(first.Cancelled) != 2 || len(first.Cancelling) != 1 || first.Cancelling[0] != ids[1] || first.Holds != 1 ||
			len(first.Kept) != 1 || first.Kept[0] != (store.Kept{ID: ids[0], Status: tidings.Sent}) {
			t.Fatalf("cancelled %+v, %v", first, err)
		}
		w.record(result(flying, tidings.Transient, tidings.Parked, now))
		w.expect(ids[1], tidings.Cancelled, tidings.ReasonCancelled)
		again, err := s.Cancel(t.Context(), "", a.Notification.ID, now.Add(time.Hour))
		if err != nil || len(again.Cancelled) != 2 || len(again.Cancelling) != 1 || again.Holds != 1 || len(again.Kept) != 1 {
			t.Fatalf("repeated %+v, %v", again, err)
		}
		done := w.sending(start())
		w.record(result(done, tidings.OK, tidings.Sent, start()))
		if kept, err := s.Cancel(t.Context(), "", done.Notification.ID, now); !errors.Is(err, store.ErrNothing) || len(kept.Kept) != 1 {
			t.Fatalf("nothing to cancel: %+v, %v", kept, err)
		}
	})
}

func TestNothingIsRetriedAfterACancelThatWasAnswered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for range 20 {
			c := w.sending(start())
			var wg sync.WaitGroup
			wg.Go(func() { w.record(result(c, tidings.Transient, tidings.Parked, start())) })
			wg.Go(func() {
				if _, err := s.Cancel(t.Context(), "", c.Notification.ID, start().Add(time.Second)); err != nil {
					t.Error(err)
				}
			})
			wg.Wait()
			w.expect(c.Delivery.ID, tidings.Cancelled, tidings.ReasonCancelled)
		}
	})
}

// What its provider refused since our account or set-up is broken needs a person, also when its time is over
// while nobody may call that provider.
func TestWhatABrokenProviderRefusedIsDeadWhenItsTimeIsOver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		after := func(outcomes ...tidings.Outcome) tidings.DeliveryID {
			t.Helper()
			c := w.sending(start())
			for i, o := range outcomes {
				r := result(c, o, tidings.Parked, start())
				r.DueAt = start().Add(time.Minute)
				w.record(r)
				if i < len(outcomes)-1 {
					if _, err := s.Due(t.Context(), bulk, start().Add(time.Minute), 10); err != nil {
						t.Fatal(err)
					}
					c = w.claim(start().Add(time.Minute), c.Delivery.ID)[0]
				}
			}
			return c.Delivery.ID
		}
		broken, spent, mended := after(tidings.ConfigFault), after(tidings.Transient, tidings.QuotaSpent), after(tidings.ConfigFault, tidings.Transient)
		inLane, claimed, fresh := after(tidings.ConfigFault), after(tidings.ConfigFault), w.queued(start())
		if _, err := s.Due(t.Context(), bulk, start().Add(time.Minute), 10); err != nil {
			t.Fatal(err)
		}
		late := start().Add(24 * time.Hour)
		_, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{claimed}, Now: late, Lease: time.Minute,
			Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
				return tidings.Expired, tidings.ReasonExpired, time.Time{}
			}})
		w.must(err)
		if n, err := s.Expire(t.Context(), late, 10); err != nil || n != 5 {
			t.Fatal(n, err)
		}
		for _, id := range []tidings.DeliveryID{broken, spent, inLane, claimed} {
			w.expect(id, tidings.Dead, tidings.ReasonProviderBroken)
		}
		w.expect(mended, tidings.Expired, tidings.ReasonExpired)
		w.expect(fresh, tidings.Expired, tidings.ReasonExpired)
	})
}
