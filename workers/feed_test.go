package workers

import (
	"errors"
	"testing"
	"time"

	"tidings"
	"tidings/internal/lanes"
	"tidings/internal/store/storetest"
)

// backlog puts n deliveries of an app into the log, due now; those of the app "blast" are offers.
func (w *world) backlog(app string, n int, fresh time.Duration) {
	w.t.Helper()
	b := storetest.Backlog{Lane: "push.bulk", App: app, Event: "order.shipped", N: n, Due: time.Now(), Expires: time.Now().Add(24 * time.Hour)}
	if app == "blast" {
		b.Event = "offer.weekly"
	}
	if fresh > 0 {
		b.Fresh = time.Now().Add(fresh)
	}
	b.Put(w.t, w.log)
}

// of counts the calls for one event type.
func (s *script) of(event string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.calls {
		if m.Event == event {
			n++
		}
	}
	return n
}

func TestWhatAFullLaneRefusesIsParkedAtOnce(t *testing.T) {
	inEachWorld(t, func() []Provider { return []Provider{provider("phones", tidings.Push, &script{})} }, func(t *testing.T, w *world) {
		const lane = tidings.Lane("push.bulk")
		w.close()
		w.config.Lanes = map[string]LaneConfig{"push": {Limit: 10}}
		w.open()
		w.pause(lane, true)
		workers := w.start()
		w.pass(time.Second)
		stamp := time.Now().UTC().Truncate(time.Microsecond)
		for n := 0; ; n++ { // another process fills it
			id := tidings.NewNotificationID(stamp)
			_, err := w.lanes.Publish(t.Context(), lane, stamp, []tidings.DeliveryID{tidings.DeliveryOf(id, 0)})
			if errors.Is(err, lanes.ErrFull) {
				break
			}
			if n > 1000 || err != nil {
				t.Fatal(n, err)
			}
		}
		w.backlog("bank", 5, 0)
		ids, err := w.store.Due(t.Context(), lane, stamp, 5)
		if err != nil || len(ids) != 5 {
			t.Fatal(ids, err)
		}
		if err := workers.dispatch.publish(t.Context(), lane, stamp, ids); !errors.Is(err, lanes.ErrFull) {
			t.Errorf("err = %v", err)
		}
		for _, id := range ids {
			if d := w.delivery(id); d.Status != tidings.Parked || !d.DueAt.Equal(stamp) {
				t.Errorf("%s, due %v, want parked and due at once", d.Status, d.DueAt)
			}
		}
	})
}

func TestNoAppWaitsBehindTheBlastOfAnother(t *testing.T) {
	s := &script{takes: 200 * time.Millisecond} // 320 a second
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.backlog("blast", 50_000, 0)
		w.start()
		w.pass(10 * time.Second)
		if n := s.of("offer.weekly"); n < 2500 {
			t.Fatalf("%d of the blast are sent after ten seconds", n)
		}
		w.backlog("bank", 100, 0)
		began := s.of("offer.weekly")
		w.pass(laneSpan + 2*time.Second)
		if n := s.of("order.shipped"); n != 100 {
			t.Errorf("%d of 100 are sent beside the blast", n)
		}
		if n := s.of("offer.weekly") - began; n < 1500 {
			t.Errorf("the blast stood still meanwhile: %d", n)
		}
	})
}

func TestFreshWorkGoesBeforeLateWorkWhichIsNotLost(t *testing.T) {
	s := &script{takes: 200 * time.Millisecond} // 320 a second
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		if err := w.store.SetLanePaused(t.Context(), "push.bulk", true, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.start()
		w.backlog("blast", 3000, time.Minute) // late when the lane is resumed
		w.pass(2 * time.Minute)
		storetest.Backlog{Lane: "push.bulk", App: "blast", Event: "order.shipped", N: 1000, Due: time.Now(), Fresh: time.Now().Add(time.Minute),
			Expires: time.Now().Add(time.Hour)}.Put(t, w.log)
		if err := w.store.SetLanePaused(t.Context(), "push.bulk", false, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.pass(look + 6*time.Second)
		if n := s.of("order.shipped"); n != 1000 {
			t.Errorf("%d of 1000 fresh ones are sent", n)
		}
		if n := s.of("offer.weekly"); n > 1000 {
			t.Errorf("%d late ones went before them or beside them", n)
		}
		w.pass(12 * time.Second)
		if n := s.count(); n != 4000 {
			t.Errorf("%d calls of 4000: the lane stood idle while late work waited", n)
		}
	})
}

func TestLateWorkTricklesBesideFreshWork(t *testing.T) {
	s := &script{takes: 200 * time.Millisecond}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.backlog("blast", 2000, time.Millisecond)
		w.pass(time.Second)
		storetest.Backlog{Lane: "push.bulk", App: "shop", Event: "order.shipped", N: 20_000, Due: time.Now(), Expires: time.Now().Add(time.Hour)}.Put(t, w.log)
		w.start()
		w.pass(20 * time.Second)
		rate := float64(s.of("offer.weekly")) / 20
		if fresh := s.of("order.shipped"); fresh < 5000 || rate < 10 || rate > 30 {
			t.Errorf("%d fresh ones, and %v late ones a second, want 20", fresh, rate)
		}
	})
}
