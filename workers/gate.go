package workers

import (
	"math"
	"sync"
	"time"

	"tidings"
)

// A gate gives the permits of one provider: a place among its calls at once, a share of its
// rate, and its breaker's consent. What is urgent keeps a reserve of the first two, so that a
// blast leaves room for login codes.
type gate struct {
	Provider
	poke func() // tells the senders that there may be permits again

	mu      sync.Mutex
	breaker breaker
	calls   int // under way
	all     bucket
	bulk    bucket // what bulk may use of the rate
}

// Of the permits of a provider, bulk may use all but one in reserve.
const reserve = 8

func newGate(p Provider, rule Breaker, now time.Time, poke func()) *gate {
	return &gate{Provider: p, poke: poke, breaker: breaker{rule: rule},
		all:  newBucket(p.PerSecond, now),
		bulk: newBucket(p.PerSecond*(reserve-1)/reserve, now),
	}
}

// A permit is the right to make one call. It must be ended once.
type permit struct {
	gate  *gate
	probe bool
}

// free is how many calls of a priority may begin now; when none, again is when to look: zero
// is after a call has ended.
func (g *gate) free(p tidings.Priority, now time.Time) (n int, again time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.freeLocked(p, now)
}

func (g *gate) freeLocked(p tidings.Priority, now time.Time) (n int, again time.Time) {
	if n = g.breaker.free(now); n == 0 {
		if now.Before(g.breaker.openUntil) {
			again = g.breaker.openUntil
		}
		return 0, again
	}
	places, buckets := g.Concurrency, []*bucket{&g.all}
	if p != tidings.Urgent {
		places, buckets = max(1, places-places/reserve), append(buckets, &g.bulk)
	}
	if n = min(n, places-g.calls); n <= 0 {
		return 0, again
	}
	for _, b := range buckets {
		tokens, next := b.free(now)
		if n = min(n, tokens); n == 0 {
			return 0, next
		}
	}
	return n, again
}

// take takes a permit; without one, again says when to try.
func (g *gate) take(p tidings.Priority, now time.Time) (_ *permit, again time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, again := g.freeLocked(p, now)
	if n == 0 {
		return nil, again
	}
	g.calls++
	g.all.use(1)
	if p != tidings.Urgent {
		g.bulk.use(1)
	}
	return &permit{gate: g, probe: g.breaker.take()}, time.Time{}
}

// shut reports whether the breaker lets nothing through, until when (zero: until a probe
// answers), and since when it has been so.
func (g *gate) shut(now time.Time) (shut bool, until, since time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.free(now) == 0, g.breaker.openUntil, g.breaker.opened
}

// healthy reports whether the breaker is closed.
func (g *gate) healthy(now time.Time) bool { return g.state(now) == 0 }

func (g *gate) state(now time.Time) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.state(now)
}

// giveBack ends a permit for which no call was made.
func (p *permit) giveBack() {
	p.gate.mu.Lock()
	p.gate.calls--
	p.gate.all.use(-1)
	p.gate.breaker.giveBack(p.probe)
	p.gate.mu.Unlock()
	p.gate.poke()
}

// done ends a permit after its call; failed says that the provider was at fault.
func (p *permit) done(failed bool, now time.Time) {
	p.gate.mu.Lock()
	p.gate.calls--
	p.gate.breaker.record(p.probe, failed, now)
	p.gate.mu.Unlock()
	p.gate.poke()
}

// A bucket holds the tokens of a rate; its burst is a tenth of a second's worth.
type bucket struct {
	rate   float64 // a second; 0: no limit
	burst  float64
	tokens float64
	filled time.Time
}

func newBucket(rate float64, now time.Time) bucket {
	burst := math.Max(1, rate/10)
	return bucket{rate: rate, burst: burst, tokens: burst, filled: now}
}

// free is how many tokens there are; when none, next is when one will be.
func (b *bucket) free(now time.Time) (n int, next time.Time) {
	if b.rate <= 0 {
		return math.MaxInt, time.Time{}
	}
	if since := now.Sub(b.filled).Seconds(); since > 0 {
		b.tokens, b.filled = math.Min(b.burst, b.tokens+since*b.rate), now
	}
	if b.tokens >= 1 {
		return int(b.tokens), time.Time{}
	}
	missing := (1 - b.tokens) / b.rate
	return 0, now.Add(time.Duration(missing*float64(time.Second)) + time.Microsecond)
}

func (b *bucket) use(n float64) {
	if b.rate > 0 {
		b.tokens -= n
	}
}
