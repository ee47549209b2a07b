package workers

import (
	"time"

	"tidings"
)

// A request is what a permit is asked for.
type request struct {
	priority tidings.Priority
	retry    bool      // a call that repeats another
	tried    bool      // of a delivery that was claimed before
	late     bool      // work that was set aside
	queued   time.Time // when the delivery came
}

// take takes a permit; without one, again says when the delivery should come back. A probe is
// bounded by itself and asks no budget.
func (g *gate) take(r request, now time.Time) (_ *permit, again time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, retry := r.priority, r.retry
	line, rate := g.turns[p], g.rate(p)
	n, again := g.freeLocked(p, now)
	if n == 0 && p == tidings.Urgent && g.calls >= g.Concurrency { // of the rate, bulk leaves a part at any time
		g.urgent = now.Add(urgentWaits)
	}
	if yields := line.yields(r, now, rate); n == 0 || yields {
		return nil, line.take(r, latest(again, now.Add(busy)), rate)
	}
	if retry && g.breaker.openUntil.IsZero() && !g.budget.allows(now) {
		return nil, line.take(r, now.Add(overBudget), rate)
	}
	if p == tidings.Urgent {
		g.urgent = time.Time{}
	}
	line.goes(r.late, now, rate)
	g.calls++
	g.under[p]++
	g.all.use(1)
	if p != tidings.Urgent {
		g.bulk.use(1)
	}
	g.budget.call(retry)
	return &permit{gate: g, priority: p, probe: g.breaker.take(), retry: retry}, time.Time{}
}

// reopening is when a delivery should come back that was turned away by the breaker.
func (g *gate) reopening(r request, now time.Time) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turns[r.priority].take(r, latest(g.breaker.openUntil, now.Add(busy)), g.rate(r.priority))
}

// early is how many calls a second could be made of what waits for turns far ahead, and of what is late
// how many.
func (g *gate) early(p tidings.Priority, now time.Time) (fresh, late float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	free, _ := g.freeLocked(p, now)
	if !g.breaker.openUntil.IsZero() || g.calls >= g.Concurrency {
		return 0, 0
	}
	line, rate := g.turns[p], g.rate(p)
	return line.early(false, free, rate, now), line.early(true, free, rate, now)
}

// nobody forgets the turns of fresh work that was not tried: none waits for them.
func (g *gate) nobody(p tidings.Priority) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turns[p].nobody()
}
