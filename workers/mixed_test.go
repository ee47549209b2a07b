package workers

import (
	"fmt"
	"testing"
	"time"

	"tidings"
)

func TestAProviderWithoutPermitsHoldsUpNoOtherOfItsLane(t *testing.T) {
	for _, tt := range []struct {
		why  string
		slow func(p *Provider, s *script)
	}{
		{"it has a low rate", func(p *Provider, _ *script) { p.PerSecond = 1 }},
		{"it takes few calls at once, and long", func(p *Provider, s *script) { p.Concurrency, s.takes = 2, 5*time.Second }},
		{"it hangs", func(_ *Provider, s *script) { s.takes = time.Hour }},
	} {
		t.Run(tt.why, func(t *testing.T) {
			fast, slow := &script{takes: 20 * time.Millisecond}, &script{}
			phones, others := provider("phones", tidings.Push, fast), provider("others", tidings.Push, slow)
			tt.slow(&others, slow)
			inWorld(t, []Provider{phones, others}, func(t *testing.T, w *world) {
				w.start()
				mine := orderPush
				mine.token = "others"
				var quick []tidings.DeliveryID
				for range 10 { // mixed, as a blast is
					w.accept(50, mine)
					quick = append(quick, w.accept(50, orderPush)...)
				}
				w.pass(5 * time.Second)
				if n := fast.count(); n != len(quick) {
					t.Errorf("%d of %d calls of the healthy provider within five seconds", n, len(quick))
				}
				var claims, calls int
				for _, id := range w.all {
					d := w.delivery(id)
					claims, calls = claims+d.ClaimNo, calls+len(d.Attempts)
				}
				t.Logf("%d claims, %d attempts", claims, calls)
			})
		})
	}
}

func TestABlastForOneProviderOfALaneUsesAllOfItsCalls(t *testing.T) {
	for _, calls := range []int{4, 16, 64} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			busy := &script{takes: 100 * time.Millisecond}
			phones, others := provider("phones", tidings.Push, busy), provider("others", tidings.Push, &script{})
			phones.Concurrency = calls
			inWorld(t, []Provider{phones, others}, func(t *testing.T, w *world) {
				w.start()
				size := min(calls, 56) * 10 * 10 // what it can take in ten seconds; some calls are left to the others
				w.accept(size, orderPush)
				w.pass(12 * time.Second)
				if n := busy.count(); n < size {
					t.Errorf("%d of %d calls within twelve seconds, ten would do", n, size)
				}
			})
		})
	}
}

func TestARateIsSharedByAllWorkersAndLeavesRoomForWhatIsUrgent(t *testing.T) {
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			s := &script{}
			p := provider("phones", tidings.Push, s)
			p.PerSecond = 40
			inWorld(t, []Provider{p}, func(t *testing.T, w *world) {
				for range workers {
					w.start()
				}
				w.pass(5 * time.Second) // until they know of each other
				w.accept(1000, orderPush)
				w.pass(time.Second)
				before := s.count()
				w.pass(10 * time.Second)
				if n := s.count() - before; n < 300 || n > 400 {
					t.Errorf("bulk made %d calls in ten seconds, want nearly seven eighths of 400", n)
				}
				begin := time.Now()
				id := w.accept(1, order{event: "security.alert", channel: tidings.Push, token: "phones", data: `{"device":"phone","place":"Berlin"}`})[0]
				for w.delivery(id).Status != tidings.Sent && time.Since(begin) < 5*time.Second {
					w.pass(10 * time.Millisecond)
				}
				if waited := time.Since(begin); waited > 500*time.Millisecond {
					t.Errorf("an alert waited %v behind a blast", waited)
				}
			})
		})
	}
}

// A backlog of a provider that is called at a rate waits in its turns, and not before the others' work.
func TestABacklogOfAProviderWithARateHoldsUpNoOtherOfItsLane(t *testing.T) {
	for _, rate := range []float64{5, 50} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			fast, slow := &script{takes: 20 * time.Millisecond}, &script{}
			phones, others := provider("phones", tidings.Push, fast), provider("others", tidings.Push, slow)
			others.PerSecond = rate
			inWorld(t, []Provider{phones, others}, func(t *testing.T, w *world) {
				w.start()
				mine := orderPush
				mine.token = "others"
				w.accept(1500, mine)
				ids := w.accept(20, orderPush)
				w.pass(3 * time.Second)
				if n := fast.count(); n != len(ids) {
					t.Errorf("%d of %d calls of the healthy provider within three seconds", n, len(ids))
				}
				before := slow.count()
				w.pass(10 * time.Second)
				if n := slow.count() - before; n < int(rate*10*7/8*8/10) {
					t.Errorf("%d calls in ten seconds of the one that may have %v a second", n, rate)
				}
			})
		})
	}
}

// Who came first has the first turn, also where newer work comes while it waits.
func TestTurnsAtARateAreInTheOrderOfArrival(t *testing.T) {
	s := &script{}
	phones := provider("phones", tidings.Push, s)
	phones.PerSecond = 2
	inWorld(t, []Provider{phones, provider("others", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		w.start()
		mine := orderPush
		mine.token = "phones"
		var ids []tidings.DeliveryID
		for range 40 {
			ids = append(ids, w.accept(1, mine)...)
			w.pass(300 * time.Millisecond)
		}
		w.pass(30 * time.Second)
		place := map[tidings.DeliveryID]int{}
		for i, m := range s.calls {
			place[m.Delivery] = i
		}
		worst := 0
		for i, id := range ids {
			at, sent := place[id]
			if !sent {
				t.Fatalf("number %d is not sent", i)
			}
			worst = max(worst, at-i)
		}
		if t.Logf("at most %d others went before one that came before them", worst); worst > 4 {
			t.Errorf("%d others went before one that came before them", worst)
		}
	})
}

// Few calls at once, each a long one, are no reason for what is urgent to wait behind a blast.
func TestWhatIsUrgentGoesFirstAtAProviderOfFewCalls(t *testing.T) {
	for _, calls := range []int{1, 3} {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d calls, alone %v", calls, alone), func(t *testing.T) {
				s := &script{takes: time.Second}
				phones := provider("phones", tidings.Push, s)
				phones.Concurrency = calls
				providers := []Provider{phones}
				if !alone {
					providers = append(providers, provider("others", tidings.Push, &script{}))
				}
				inWorld(t, providers, func(t *testing.T, w *world) {
					w.start()
					mine := orderPush
					mine.token = "phones"
					w.accept(100, mine)
					w.pass(2 * time.Second)
					var ids []tidings.DeliveryID
					for range 8 {
						ids = append(ids, w.accept(1, order{event: "security.alert", channel: tidings.Push, token: "phones", data: `{"device":"phone","place":"Berlin"}`})...)
						w.pass(2500 * time.Millisecond)
					}
					w.pass(5 * time.Second)
					spans := w.waits(ids)
					if len(spans) != len(ids) {
						t.Fatalf("%d of %d alerts are sent", len(spans), len(ids))
					}
					t.Logf("alerts were sent %v after they came at the median, %v at most; %d calls", spans[len(spans)/2], spans[len(spans)-1], s.count())
					if most := spans[len(spans)-1]; most > 2500*time.Millisecond {
						t.Errorf("an alert took %v beside a blast; a call takes a second", most)
					}
				})
			})
		}
	}
}
