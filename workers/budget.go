package workers

import (
	"math"
	"time"
)

const (
	// retryShare is what repeated calls may add to the first calls of a provider in trouble.
	retryShare = 0.1
	// retriesSaved bounds what quiet times save up for a bad minute.
	retriesSaved = 20
	// retriesAlways is what a provider with hardly any traffic may be asked again, a second: six
	// in two minutes.
	retriesAlways = 0.05
	// wellAfter is how many calls in a row without a failure say that a provider is well: where
	// half of the calls fail, such a run does not happen.
	wellAfter = 16
	// calm is how long after the last failure it may be asked more often, a second: so that what
	// an outage has left over finds out that it is over, also without fresh traffic.
	calm, retriesCalm = 15 * time.Second, 1.0
)

// A budget keeps a provider in trouble from being called again and again for what it has just
// failed: retries are paid from what first calls pay in. A provider that is well takes as many
// as there are, since they succeed: otherwise what an outage has left over would wait for fresh
// traffic. It is not safe for concurrent use.
type budget struct {
	saved  float64
	filled time.Time
	failed time.Time // last
	run    int       // calls in a row without a failure
}

func newBudget(now time.Time) budget {
	return budget{saved: retriesSaved, filled: now, run: wellAfter}
}

// allows reports whether a retry may be made at now.
func (b *budget) allows(now time.Time) bool {
	rate := retriesAlways
	if now.Sub(b.failed) >= calm {
		rate = retriesCalm
	}
	b.earn(now.Sub(b.filled).Seconds() * rate)
	b.filled = now
	return b.run >= wellAfter || b.saved >= 1
}

// call takes note of a call that begins.
func (b *budget) call(retry bool) {
	if retry {
		b.saved = math.Max(0, b.saved-1)
		return
	}
	b.earn(retryShare)
}

// undo takes note that the call was not made.
func (b *budget) undo(retry bool) {
	if retry {
		b.earn(1)
		return
	}
	b.saved = math.Max(0, b.saved-retryShare)
}

// ended takes note of how a call ended.
func (b *budget) ended(failed bool, now time.Time) {
	if failed {
		b.run, b.failed = 0, now
		return
	}
	b.run = min(b.run+1, wellAfter)
}

func (b *budget) earn(n float64) { b.saved = math.Min(retriesSaved, b.saved+math.Max(0, n)) }
