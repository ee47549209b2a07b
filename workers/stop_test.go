package workers

import (
	"context"
	"errors"
	"testing"
	"time"

	"tidings"
)

func TestStopLetsCallsEndAndKeepsTheRest(t *testing.T) {
	s := &script{takes: 5 * time.Second}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		workers := w.start()
		ids := w.accept(300, orderPush)
		w.pass(time.Second)
		w.stop(workers)
		before := s.count()
		if before == 0 || before > 64 {
			t.Errorf("%d calls before the stop", before)
		}
		w.start()
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != 300 {
			t.Errorf("%d calls for 300 deliveries", s.count())
		}
	})
}

func TestStopOutOfTimeCutsCallsAndRecordsThemAsUnknown(t *testing.T) {
	s := &script{takes: 8 * time.Second}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		workers := w.start()
		o := orderPush
		o.event = "offer.weekly" // gives up on what is unknown
		id := w.accept(1, o)[0]
		w.pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := workers.Stop(ctx); err == nil {
			t.Error("the cut is not told")
		}
		w.ends(tidings.Unknown, tidings.ReasonOutcomeUnknown, id)
	})
}

func TestAResultThatIsLateForTheLeaseIsNotSent(t *testing.T) {
	w := &Workers{Settings: Settings{Config: DefaultConfig()}}
	s := &sender{w: w}
	c := &call{gate: &gate{Provider: Provider{Timeout: 10 * time.Second}}, claimedAt: start}
	tests := []struct {
		after, skew time.Duration
		ok          bool
		why         string
	}{
		{0, 0, true, "just claimed"},
		{45 * time.Second, 0, true, "lease less time-out less margin"},
		{45*time.Second + 1, 0, false, "one moment later"},
		{42 * time.Second, 2 * time.Second, false, "clocks differ by two seconds either way"},
	}
	for _, tt := range tests {
		w.skew.Store(int64(tt.skew))
		if got := s.inTime(c, start.Add(tt.after)); got != tt.ok {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

func TestNoCallIsMadeThatIsLateForTheLease(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		lane := w.start().senders["push.bulk"]
		for _, tt := range []struct {
			age   time.Duration // of the claim
			calls int
		}{{time.Second, 1}, {50 * time.Second, 1}} {
			now := time.Now()
			g := lane.gates[0]
			permit, _ := g.take(request{priority: tidings.Bulk}, now)
			c := &call{catalogue: w.catalogue, event: w.catalogue.Events["order.shipped"], gate: g, permit: permit, claimedAt: now.Add(-tt.age)}
			c.Notification.Type, c.Notification.ExpiresAt = "order.shipped", now.Add(time.Hour)
			c.Notification.Data = []byte(`{"order":"4711","carrier":"UPS"}`)
			c.Delivery.Channel = tidings.Push
			if _, err := lane.attempt(c); s.count() != tt.calls || errors.Is(err, errNoTime) != (tt.age > time.Minute/2) || g.calls != 0 {
				t.Errorf("claimed %v ago: %d calls, %d permits are kept, %v", tt.age, s.count(), g.calls, err)
			}
		}
	})
}
