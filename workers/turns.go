package workers

import (
	"math/rand/v2"
	"time"
)

const (
	// slowest and fastest bound the pace at which deliveries come back to a provider, a second.
	slowest, fastest = 50, 2000
	// paceSpan is how long calls are counted to know a provider's pace.
	paceSpan = 5 * time.Second
	// recently is how long ago fresh work asks for a permit of which some waits.
	recently = 2 * time.Second
)

// Turns give the deliveries that must wait for a provider their times to come back: one after
// the other, at the pace the provider has shown. Were they all to come at once, all but a few
// would be put off again; were they to come slower, a provider that has recovered would idle.
// Late work has a line of its own, and what is fresh goes before it. It is not safe for concurrent use.
type turns struct {
	next   time.Time // the first free one
	late   time.Time // the same of late work
	last   time.Time // when the delivery came that has the last turn of fresh work
	tried  time.Time // behind the last one of what was tried, which the log cannot tell from what waits for its own time
	asked  time.Time // when fresh work last asked for a permit
	beside time.Time // from when a late one may go while fresh work waits
	pace   float64   // calls a second when it was last busy
	since  time.Time
	calls  int // that succeeded since
}

// succeeded takes note of a call that succeeded.
func (t *turns) succeeded(now time.Time) {
	if span := now.Sub(t.since); span >= paceSpan {
		if now.Sub(t.since) < 2*paceSpan { // else it was idle, which says nothing
			t.pace = max(t.pace*3/4, float64(t.calls)/span.Seconds())
		}
		t.since, t.calls = now, 0
	}
	t.calls++
}

// gap is the time between two turns. most bounds the pace; 0: nothing does.
func (t *turns) gap(most float64) time.Duration {
	pace := min(max(t.pace, slowest), fastest)
	if most > 0 {
		pace = min(pace, most)
	}
	return time.Duration(float64(time.Second) / pace)
}

// take is the next free turn, not before earliest.
func (t *turns) take(r request, earliest time.Time, most float64) time.Time {
	next, gap := &t.next, t.gap(most)
	if r.late {
		next = &t.late
	}
	at := latest(*next, earliest)
	*next = at.Add(gap)
	if !r.late {
		t.last = latest(t.last, r.queued)
	}
	if r.tried && !r.late {
		t.tried = *next
	}
	return at.Add(rand.N(min(gap/4, busy)))
}

// yields takes note of a delivery that asks for a permit, and reports whether it must let others go first: one that is
// late does while fresh work waits, but for a small part of the calls; at a rate, one that comes after those that wait.
func (t *turns) yields(r request, now time.Time, most float64) bool {
	if r.late {
		return t.waits(now) && now.Before(t.beside)
	}
	t.asked = now
	return most > 0 && t.next.After(now) && r.queued.After(t.last)
}

// waits reports whether fresh work waits for its turn.
func (t *turns) waits(now time.Time) bool { return t.next.After(now) && now.Sub(t.asked) <= recently }

// goes takes note of a delivery that got a permit. Fewer calls than the provider has shown that it can take
// are what late work has a part of.
func (t *turns) goes(late bool, now time.Time, most float64) {
	if !late || !t.waits(now) {
		return
	}
	span := t.gap(most)
	if t.pace > 0 {
		span = max(span, time.Duration(float64(time.Second)/t.pace))
	}
	t.beside = now.Add(reserve * span)
}

// early is how many a second of those that wait for turns could be called from now on, though their turns may be
// far ahead: what the provider may be called, since an earlier process may have given the turns; else what it has
// shown that it takes and what it has free, where turns were given that far.
func (t *turns) early(late bool, free int, most float64, now time.Time) float64 {
	next := t.next
	if late {
		next = t.late
	}
	switch {
	case most > 0 && (!late || next.After(now)):
		return most
	case !next.After(now.Add(look)):
		return 0
	}
	return t.pace*5/4 + float64(free)/look.Seconds()
}

// nobody forgets the turns of fresh work that was not tried: none waits for them.
func (t *turns) nobody() { t.next = t.tried }

// again forgets the turns that were given.
func (t *turns) again() { t.next, t.late, t.tried = time.Time{}, time.Time{}, time.Time{} }
