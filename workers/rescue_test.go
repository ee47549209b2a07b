package workers

import (
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

// The rules of the lanes that keep rescues from doing harm. Each of these fails when its rule
// is taken out; what a claim that was never recorded comes to is in dispatcher_test.go.

// Only the dispatcher moves a parked delivery on; an entry that comes late or twice must not.
func TestAStaleEntryWakesNoRetryBeforeItsTime(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n == 0 {
			return &channels.Error{Fault: tidings.RecipientTemp, After: 90 * time.Second} // its provider goes on
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		ids := w.accept(1, orderPush)
		for range 8 {
			w.pass(10 * time.Second)
			if failed, err := w.lanes.Publish(t.Context(), "push.bulk", time.Now(), ids); err != nil || len(failed) > 0 {
				t.Fatal(failed, err)
			}
		}
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if pause := s.at[1].Sub(s.at[0]); s.count() != 2 || pause < 90*time.Second {
			t.Errorf("%d calls, the second after %v", s.count(), pause)
		}
	})
}

// A retry that waits in its lane for longer than a lease is there once.
func TestWhatWaitsInItsLaneIsNotPublishedAgain(t *testing.T) {
	s := &script{takes: 5 * time.Second, answer: func(n int, _ *channels.Message) error {
		if n < 40 {
			return fault(tidings.Transient)
		}
		return nil
	}}
	slow := provider("one", tidings.SMS, s)
	slow.Concurrency = 2
	inWorld(t, []Provider{slow}, func(t *testing.T, w *world) {
		w.config.Breaker.Failures = 1000
		w.start()
		ids := w.accept(40, codeSMS)
		for range 40 {
			w.pass(10 * time.Second)
			depth, err := w.lanes.Depth(t.Context(), "sms.priority")
			if err != nil || depth.Entries > len(ids) {
				t.Fatalf("%d entries for %d deliveries, %v", depth.Entries, len(ids), err)
			}
		}
	})
}

// One entry that is never acknowledged holds the first place of the stream; the losses behind it show.
func TestALossBehindAnEntryThatIsHeldIsFound(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.accept(1, orderPush) // of a worker that hangs, and keeps its entry
		held, err := w.lanes.Fetch(t.Context(), "push.bulk", 1)
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		w.start()
		o := orderPush
		o.unsent = true
		lost := w.accept(10, o)
		for range 9 {
			w.accept(1, orderPush) // the lane is in use
			w.pass(10 * time.Second)
			if err := held[0].Working(); err != nil {
				t.Fatal(err)
			}
		}
		w.ends(tidings.Sent, "", lost...)
	})
}

// A clock that was a day ahead stamped an entry, and the lane lost it.
func TestAnAbsurdStampHoldsNothingBack(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		o := orderPush
		o.unsent, o.ahead = true, 24*time.Hour
		ids := w.accept(5, o)
		w.start()
		w.pass(30 * time.Second)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != 5 {
			t.Errorf("%d calls", s.count())
		}
	})
}

// An entry is rebuilt from the log after its lane was made again under it, once and in order.
func TestALaneThatIsMadeAgainIsFilledFromTheLog(t *testing.T) {
	s := &script{takes: 50 * time.Millisecond}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		ids := w.accept(1500, orderPush)
		for range 3 {
			w.pass(200 * time.Millisecond)
			if err := w.lanes.Rebuild(t.Context(), "push.bulk"); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if got := s.perDelivery(); len(got) != len(ids) || s.count() != len(ids) {
			t.Errorf("%d calls for %d deliveries of %d", s.count(), len(got), len(ids))
		}
		if late := slices.MaxFunc(s.at, time.Time.Compare).Sub(s.at[0]); late > 45*time.Second {
			t.Errorf("the last was sent %v after the first", late)
		}
	})
}
