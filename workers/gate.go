package workers

import (
	"sync"
	"time"

	"tidings"
	"tidings/internal/store"
)

// A gate gives the permits of one provider: a place among its calls at once, a share of its
// rate, its breaker's consent, and for a call that repeats another the consent of its budget.
// What is urgent keeps a reserve of the first two, so that a blast leaves room for login codes.
type gate struct {
	Provider
	slow    time.Duration                            // what takes so long is a failure; 0: nothing is
	longest time.Duration                            // pause that the provider may ask for
	most    map[tidings.Priority]int                 // calls at once of one lane, so that its other providers go on
	poke    func()                                   // tells the senders that there may be permits again
	tell    func(g *gate, c change, d time.Duration) // of a change; when the breaker closes, how long it was open

	mu      sync.Mutex
	breaker breaker
	budget  budget
	rests   int                      // pauses in a row for which the provider named no span
	calls   int                      // under way
	under   map[tidings.Priority]int // the same by lane
	doubt   doubt
	spared  spared
	pause   store.Pause // the last one, for the trail; zero: there was none
	told    store.Pause // what of it the log knows
	all     bucket
	bulk    bucket // what bulk may use of the rate
	turns   map[tidings.Priority]*turns
	urgent  time.Time // until then, what is urgent and found no permit has the next one
}

const (
	// reserve: of the permits of a provider, bulk may use all but one in so many.
	reserve = 8
	// urgentWaits is how long bulk leaves the next permit to what is urgent, found none, and comes back by then.
	urgentWaits = 4 * busy
)

func newGate(p Provider, rule Breaker, longest time.Duration, now time.Time) *gate {
	return &gate{Provider: p, slow: time.Duration(rule.Slow * float64(p.Timeout)), longest: longest,
		most: map[tidings.Priority]int{}, poke: func() {}, tell: func(*gate, change, time.Duration) {},
		breaker: breaker{rule: rule}, budget: newBudget(now), under: map[tidings.Priority]int{}, spared: spared{},
		all: newBucket(p.PerSecond, now), bulk: newBucket(forBulk(p.PerSecond), now),
		turns: map[tidings.Priority]*turns{tidings.Urgent: {}, tidings.Bulk: {}},
	}
}

func forBulk(rate float64) float64 { return rate * (reserve - 1) / reserve }

// rate is how many calls of a priority may be made a second; mu is held.
func (g *gate) rate(p tidings.Priority) float64 {
	if p == tidings.Urgent {
		return g.all.rate
	}
	return g.bulk.rate
}

// setRate changes what this process may call a second.
func (g *gate) setRate(rate float64, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if rate == g.all.rate {
		return
	}
	g.all.set(rate, now)
	g.bulk.set(forBulk(rate), now)
}

// A permit is the right to make one call. It must be ended once.
type permit struct {
	gate     *gate
	priority tidings.Priority
	probe    bool
	retry    bool
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
		if now.Before(g.urgent) {
			return 0, g.urgent
		}
		places, buckets = max(1, places-places/reserve), append(buckets, &g.bulk)
	}
	n = min(n, places-g.calls)
	if most, ok := g.most[p]; ok {
		n = min(n, most-g.under[p])
	}
	if n <= 0 {
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

// heard takes note of what the provider says of an address with its answer, and reports whether
// to doubt it.
func (g *gate) heard(bad bool, now time.Time) bool {
	g.mu.Lock()
	before := g.doubt.lasts
	doubts := g.doubt.heard(bad, now)
	g.mu.Unlock()
	switch {
	case doubts && !before:
		g.tell(g, doubted, 0)
	case before && !doubts:
		g.tell(g, trusted, 0)
	}
	return doubts
}

// spare sends an address nothing through this provider until then.
func (g *gate) spare(a tidings.AddressID, until, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spared.add(a, until, now)
}

// sparedUntil is when an address may be sent to again; zero: now.
func (g *gate) sparedUntil(a tidings.AddressID, now time.Time) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spared.until(a, now)
}

// shut reports whether the breaker lets nothing through, and until when (zero: until a probe
// answers).
func (g *gate) shut(now time.Time) (shut bool, until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.free(now) == 0, g.breaker.openUntil
}

// healthy reports whether the breaker is closed.
func (g *gate) healthy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.openUntil.IsZero()
}

// state is that of the breaker, and whether the provider asked for the pause that it makes.
func (g *gate) state(now time.Time) (state int, asked bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.state(now), g.breaker.asked
}

// holds reports whether a call may still be made: other calls have not opened the breaker since
// the permit was taken.
func (p *permit) holds() bool {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.probe || p.gate.breaker.openUntil.IsZero()
}

// giveBack ends a permit for which no call was made.
func (p *permit) giveBack() {
	g := p.gate
	g.mu.Lock()
	p.leave()
	g.all.use(-1)
	if p.priority != tidings.Urgent {
		g.bulk.use(-1)
	}
	g.budget.undo(p.retry)
	g.breaker.giveBack(p.probe)
	g.mu.Unlock()
	g.poke()
}

func (p *permit) leave() {
	p.gate.calls--
	p.gate.under[p.priority]--
}

// An ended says how a call ended, as far as it concerns the provider.
type ended struct {
	failed    bool          // the provider was at fault
	throttled bool          // it wants fewer calls
	pause     time.Duration // it asked for; 0: for none
	took      time.Duration
}

// done ends a permit after its call. A call that took nearly as long as it may is a failure also
// when it succeeded: the next ones will not.
func (p *permit) done(e ended, now time.Time) {
	g := p.gate
	e.failed = e.failed || g.slow > 0 && e.took >= g.slow
	g.mu.Lock()
	p.leave()
	opened := g.breaker.opened
	told := unchanged
	if e.throttled { // neither a failure nor a success
		g.breaker.giveBack(p.probe)
	} else {
		told = g.breaker.record(p.probe, e.failed, now)
	}
	if e.throttled || e.pause > 0 {
		g.rest(e.pause, now)
	}
	g.budget.ended(e.failed || e.throttled, now)
	if !e.failed && !e.throttled {
		g.turns[p.priority].succeeded(now)
	}
	if p.probe && g.breaker.openUntil.IsZero() {
		g.reopened()
	}
	g.notePause(now)
	g.mu.Unlock()
	if told != unchanged {
		g.tell(g, told, now.Sub(opened))
	}
	g.poke()
}

// reopened forgets what was made of the time in which nothing was let through.
func (g *gate) reopened() {
	g.rests = 0
	for _, t := range g.turns {
		t.again()
	}
}

const (
	firstRest   = time.Second // when the provider asks for a pause and names no span; doubled each time
	longestRest = time.Minute
	// overBudget is how long a retry waits at least for which the budget has nothing left.
	overBudget = time.Second
)

// rest leaves the provider alone for as long as it asked for, but not for longer than the
// longest pause of a delivery: a provider that errs must not be out of use for a day.
func (g *gate) rest(asked time.Duration, now time.Time) {
	if asked <= 0 {
		if now.Before(g.breaker.openUntil) {
			return // the pause that calls before this one have begun
		}
		asked = min(firstRest<<min(g.rests, 6), longestRest)
		g.rests++
	}
	g.breaker.rest(now.Add(min(asked, g.longest)), now)
}
