package workers

import (
	"testing"
	"time"

	"tidings"
)

// Entries are held for many times the ack wait here: without heartbeats, or with more fetched than
// can be called, the broker would hand them out again and again.
func TestASlowProviderAndAShortAckWaitRepeatNothing(t *testing.T) {
	s := &script{takes: 1500 * time.Millisecond}
	p := provider("phones", tidings.Push, s)
	p.Timeout = 1900 * time.Millisecond
	inWorld(t, []Provider{p}, func(t *testing.T, w *world) {
		w.close()
		w.config.Delivery.Lease = 20 * time.Second
		w.config.Breaker.Slow = 0
		w.config.Lanes = map[string]LaneConfig{"push": {AckWait: 2 * time.Second, Workers: 16}}
		w.open()
		w.start()
		w.start()
		ids := w.accept(1000, orderPush)
		w.pass(2 * time.Minute)
		if got := s.perDelivery(); len(got) != 1000 || s.count() != 1000 {
			t.Errorf("%d calls for %d deliveries", s.count(), len(got))
		}
		w.ends(tidings.Sent, "", ids...)
	})
}

func TestNothingIsClaimedThatHasNoPermit(t *testing.T) {
	s := &script{takes: time.Second}
	p := provider("phones", tidings.Push, s)
	p.Concurrency = 4
	inWorld(t, []Provider{p}, func(t *testing.T, w *world) {
		workers := w.start()
		ids := w.accept(40, orderPush)
		for range 150 {
			w.pass(100 * time.Millisecond)
			if n := int(workers.senders["push.bulk"].open.Load()); n > 4 {
				t.Fatalf("%d are claimed, their leases run, and four can be called", n)
			}
		}
		w.ends(tidings.Sent, "", ids...)
		for _, id := range ids {
			if d := w.delivery(id); d.ClaimNo != 1 {
				t.Errorf("claimed %d times", d.ClaimNo)
			}
		}
	})
}
