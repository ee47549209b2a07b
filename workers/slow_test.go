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

// What is claimed and cannot be called burns its lease. Both lanes of a channel find the same four
// places free at the same instant.
func TestNothingIsClaimedThatHasNoPermit(t *testing.T) {
	for _, test := range []struct {
		why  string
		also order // beside orders by push; zero: nothing
	}{{"one lane", order{}}, {"two lanes that share a provider", order{event: "payment.failed", channel: tidings.Push, token: "phones"}}} {
		t.Run(test.why, func(t *testing.T) {
			s := &script{takes: time.Second}
			p := provider("phones", tidings.Push, s)
			p.Concurrency = 4
			inWorld(t, []Provider{p}, func(t *testing.T, w *world) {
				workers := w.start()
				ids := w.accept(40, orderPush)
				if test.also.event != "" {
					ids = append(ids, w.accept(40, test.also)...)
				}
				for range len(ids) / 4 * 15 {
					w.pass(100 * time.Millisecond)
					n := workers.senders["push.bulk"].calls.Load() + workers.senders["push.priority"].calls.Load()
					if n > 4 {
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
		})
	}
}
