package workers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tidings"
)

func TestDeliveriesComeBackAtThePaceOfTheProvider(t *testing.T) {
	var l turns
	now := start
	for range 12 * 100 { // two hundred a second
		now = now.Add(5 * time.Millisecond)
		l.succeeded(now)
	}
	var last time.Time
	for range 1000 {
		last = l.take(request{}, now, 0)
	}
	if span := last.Sub(now); span < 4500*time.Millisecond || span > 5500*time.Millisecond {
		t.Errorf("a thousand come back within %v, want five seconds", span)
	}
	if first := l.take(request{}, now.Add(time.Minute), 0); first.Before(now.Add(time.Minute)) {
		t.Errorf("a turn before its earliest time")
	}
	l.again()
	if first := l.take(request{}, now, 0); first.After(now.Add(busy)) {
		t.Errorf("after all turns are forgotten the first is in %v", first.Sub(now))
	}
}

func TestARateBoundsThePaceAndAnIdleProviderHasOne(t *testing.T) {
	for most, want := range map[float64]time.Duration{0: time.Second / slowest, 10: 100 * time.Millisecond} {
		var l turns
		l.take(request{}, start, most)
		if got := l.next.Sub(start); got != want {
			t.Errorf("at most %v a second: a turn every %v, want %v", most, got, want)
		}
	}
}

// Whoever must wait for a provider with a low rate comes back in turns that use the rate up.
func TestALowRateIsUsed(t *testing.T) {
	for _, rate := range []float64{0.5, 1, 2, 4, 8, 20, 40} {
		for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			g := newGate(Provider{Name: "twilio", Concurrency: 64, PerSecond: rate}, Breaker{}, time.Minute, start)
			span := time.Duration(100 / rate * float64(time.Second))
			var waiting dues
			for range 300 {
				waiting = append(waiting, start)
			}
			calls := 0
			for len(waiting) > 0 && waiting[0].Sub(start) < span {
				now := waiting[0].Add(rand.N(feedAgain)) // until the dispatcher looks
				waiting = waiting[1:]
				permit, again := g.take(request{priority: p}, now)
				if permit == nil {
					i, _ := slices.BinarySearchFunc(waiting, again, time.Time.Compare)
					waiting = slices.Insert(waiting, i, again)
					continue
				}
				permit.done(ended{}, now)
				calls++
			}
			want := 100
			if p == tidings.Bulk {
				want = 100 * (reserve - 1) / reserve
			}
			if calls < want*8/10 || calls > want+3 {
				t.Errorf("%v a second, %v: %d calls in %v, want %d", rate, p, calls, span, want)
			}
		}
	}
}

// Of what was not tried the log knows whether any waits; the turns of what was tried are kept.
func TestTurnsThatNobodyWaitsForAreForgottenButThoseOfWhatWasTried(t *testing.T) {
	var l turns
	for range 100 {
		l.take(request{}, start, 10)
	}
	l.take(request{tried: true}, start, 10)
	for range 100 {
		l.take(request{}, start, 10)
	}
	l.nobody()
	if got := l.take(request{}, start, 10).Sub(start).Round(busy); got != 10100*time.Millisecond {
		t.Errorf("the next turn is in %v, want it behind what was tried", got)
	}
}
