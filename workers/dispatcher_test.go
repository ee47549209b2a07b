package workers

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/store"
)

// claimAndDie claims deliveries as a worker does that ends before it records.
func (w *world) claimAndDie(lane tidings.Lane, ids ...tidings.DeliveryID) {
	w.t.Helper()
	claimed, err := w.store.Claim(w.t.Context(), store.Normal, store.ClaimRequest{Lane: lane, IDs: ids, Now: time.Now().UTC(), Lease: w.config.Delivery.Lease})
	if err != nil || len(claimed) != len(ids) {
		w.t.Fatalf("claimed %d of %d, %v", len(claimed), len(ids), err)
	}
}

func TestAClaimThatWasNeverRecordedIsUnknown(t *testing.T) {
	tests := []struct {
		why    string
		order  order
		wait   time.Duration
		status tidings.Status
		reason tidings.Reason
		calls  int
	}{
		{"push repeats, since a copy replaces the first", orderPush, 2 * time.Minute, tidings.Sent, "", 1},
		{"a second login code is better than none", codeSMS, 2 * time.Minute, tidings.Sent, "", 1},
		{"marketing gives up", order{event: "offer.weekly", channel: tidings.Push, token: "phones"}, 2 * time.Minute, tidings.Unknown, tidings.ReasonOutcomeUnknown, 0},
		{"other messages wait for a receipt, then repeat", paySMS, 10 * time.Minute, tidings.Sent, "", 1},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			s := &script{}
			providers := []Provider{provider("phones", tidings.Push, s), provider("one", tidings.SMS, s)}
			inWorld(t, providers, func(t *testing.T, w *world) {
				id := w.accept(1, tt.order)[0]
				claimed := time.Now().UTC()
				w.claimAndDie(tidings.LaneOf(tt.order.channel, w.catalogue.Events[tt.order.event].Priority), id)
				w.start()
				w.pass(tt.wait)
				w.ends(tt.status, tt.reason, id)
				if s.count() != tt.calls {
					t.Errorf("%d calls", s.count())
				}
				first := w.delivery(id).Attempts[0]
				if first.Outcome != tidings.OutcomeUnknown || first.Number != 1 {
					t.Errorf("first attempt %+v", first)
				}
				if lease := w.config.Delivery.Lease; !first.StartedAt.Equal(claimed) || first.EndedAt.Before(claimed.Add(lease)) {
					t.Errorf("claimed at %v for %v, and the attempt is told as from %v to %v", claimed, lease, first.StartedAt, first.EndedAt)
				}
			})
		})
	}
}

func TestAnUnknownOutcomeWaitsForAReceiptAndThenRepeats(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n == 0 {
			return fault(tidings.OutcomeUnknown)
		}
		return nil
	}}
	inWorld(t, []Provider{provider("one", tidings.SMS, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, paySMS)[0]
		w.pass(time.Minute)
		if d := w.delivery(id); d.Status != tidings.Unknown || d.DueAt.IsZero() {
			t.Errorf("delivery is %s, due %v", d.Status, d.DueAt)
		}
		w.pass(3 * time.Minute)
		w.ends(tidings.Sent, "", id)
	})
}

func TestWhatNeverReachedItsLaneIsRescued(t *testing.T) {
	for _, o := range []order{orderPush, codeSMS} {
		t.Run(o.event, func(t *testing.T) {
			s := &script{}
			providers := []Provider{provider("phones", tidings.Push, s), provider("one", tidings.SMS, s)}
			inWorld(t, providers, func(t *testing.T, w *world) {
				w.start()
				o.unsent = true
				ids := w.accept(10, o)
				w.pass(15 * time.Second)
				w.ends(tidings.Sent, "", ids...)
				if s.count() != 10 {
					t.Errorf("%d calls", s.count())
				}
			})
		})
	}
}

func TestALaneThatIsLostWithItsEntriesIsFilledAgain(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		ids := w.accept(500, orderPush)
		w.close()
		if err := os.RemoveAll(filepath.Join(w.dir, "nats")); err != nil {
			t.Fatal(err)
		}
		w.open()
		w.start()
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != 500 {
			t.Errorf("%d calls for 500 deliveries", s.count())
		}
	})
}

func TestALaneLostInFlightSendsNothingTwice(t *testing.T) {
	s := &script{takes: 100 * time.Millisecond}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		ids := w.accept(2000, orderPush)
		w.pass(time.Second)
		if err := os.Rename(filepath.Join(w.dir, "nats", "jetstream"), filepath.Join(w.dir, "lost")); err != nil {
			t.Fatal(err)
		}
		w.pass(3 * time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if got := s.perDelivery(); len(got) != 2000 || s.count() != 2000 {
			t.Errorf("%d calls for %d deliveries", s.count(), len(got))
		}
	})
}

func TestAPausedLaneSendsNothingUntilItIsResumed(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s), provider("one", tidings.SMS, s)}, func(t *testing.T, w *world) {
		w.start()
		if err := w.store.SetLanePaused(t.Context(), "push.bulk", true, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.pass(2 * time.Second)
		ids := w.accept(100, orderPush)
		other := w.accept(1, codeSMS)
		w.pass(10 * time.Minute)
		w.ends(tidings.Sent, "", other...)
		if s.count() != 1 || w.lanes.Room("push.bulk") != 0 {
			t.Errorf("%d calls, room %d while the lane was paused", s.count(), w.lanes.Room("push.bulk"))
		}
		if err := w.store.SetLanePaused(t.Context(), "push.bulk", false, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != 101 || w.lanes.Room("push.bulk") == 0 {
			t.Errorf("%d calls, room %d after the lane was resumed", s.count(), w.lanes.Room("push.bulk"))
		}
	})
}

func TestAPauseThatIsToldOfHoldsBackTheVeryNextDelivery(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		w.pass(time.Minute)
		running := w.running[0]
		switchLane := func(paused bool) {
			if err := w.store.SetLanePaused(t.Context(), "push.bulk", paused, time.Now()); err != nil {
				t.Fatal(err)
			}
			running.LanesChanged(t.Context())
		}
		switchLane(true)
		ids := w.accept(10, orderPush)
		w.pass(10 * time.Minute)
		if s.count() != 0 {
			t.Errorf("%d calls after the lane was paused", s.count())
		}
		switchLane(false)
		w.pass(500 * time.Millisecond)
		w.ends(tidings.Sent, "", ids...)
	})
}

func TestWhatIsOfNoMoreUseExpires(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		if err := w.store.SetLanePaused(t.Context(), "push.bulk", true, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.start()
		o := orderPush
		o.expires = 30 * time.Second
		ids := w.accept(1200, o)
		w.pass(40 * time.Second)
		w.ends(tidings.Expired, tidings.ReasonExpired, ids...)
		if s.count() != 0 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestABacklogFeedsTheLaneInOrderAndToTheEnd(t *testing.T) {
	s := &script{takes: 10 * time.Millisecond}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.close()
		w.config.Lanes = map[string]LaneConfig{"push": {Limit: 100}} // a lane of a hundred
		w.open()
		o := orderPush
		o.unsent = true
		ids := w.accept(1500, o)
		w.start()
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != 1500 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestDueHoldsGoToIntakeInTime(t *testing.T) {
	inWorld(t, []Provider{provider("phones", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		now := time.Now().UTC()
		a := w.acceptance(orderPush, "push.bulk", now)
		a.Deliveries = nil
		until := now.Add(33*time.Second + 300*time.Millisecond)
		a.Holds = []tidings.Hold{{ID: tidings.NewHoldID(now), Notification: a.Notification.ID, Channel: tidings.Push,
			Reason: tidings.ReasonScheduled, Until: until, State: tidings.HoldWaiting}}
		if _, err := w.store.Accept(t.Context(), store.Normal, []store.Acceptance{a}); err != nil {
			t.Fatal(err)
		}
		var released []time.Time
		settings := w.settings()
		settings.Release = func(_ context.Context, holds []tidings.Hold, of []tidings.Notification, _ time.Time) error {
			released = append(released, time.Now())
			again := a
			again.Holds, again.NewAddresses, again.User, again.Release = nil, nil, nil, &holds[0]
			_, err := w.store.Accept(context.Background(), store.Normal, []store.Acceptance{again})
			return err
		}
		w.startWith(settings)
		w.pass(time.Minute)
		if len(released) != 1 || released[0].Before(until) || released[0].Sub(until) > 10*time.Millisecond {
			t.Errorf("released %v, due %v", released, until)
		}
	})
}

func TestRetryAfterIsKept(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n == 0 {
			return &channels.Error{Fault: tidings.Throttled, HTTPStatus: 429, After: 90 * time.Second}
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(2 * time.Minute)
		if got := w.outcomes(id); !slices.Equal(got, []string{"phones:throttled", "phones:ok"}) {
			t.Fatalf("attempts %v", got)
		}
		if pause := s.at[1].Sub(s.at[0]); pause < 90*time.Second || pause > 91*time.Second {
			t.Errorf("called again after %v", pause)
		}
	})
}
