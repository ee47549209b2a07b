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
)

// Turns give the deliveries that must wait for a provider their times to come back: one after
// the other, at the pace the provider has shown. Were they all to come at once, all but a few
// would be put off again; were they to come slower, a provider that has recovered would idle. It
// is not safe for concurrent use.
type turns struct {
	next  time.Time
	pace  float64 // calls a second when it was last busy
	since time.Time
	calls int // that succeeded since
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

// take is the next free turn, not before earliest. most bounds the pace; 0: nothing does.
func (t *turns) take(earliest time.Time, most float64) time.Time {
	pace := min(max(t.pace, slowest), fastest)
	if most > 0 {
		pace = min(pace, most)
	}
	gap := time.Duration(float64(time.Second) / pace)
	at := latest(t.next, earliest)
	t.next = at.Add(gap)
	return at.Add(rand.N(min(gap/4, busy)))
}

// again forgets the turns that were given.
func (t *turns) again() { t.next = time.Time{} }
