package workers

import (
	"math"
	"sync/atomic"
	"time"
)

// A pace keeps a lane to this process's share of the rate that an operator set.
type pace struct {
	rate   atomic.Uint64 // a second, as the bits of a float64; 0: no limit
	tokens bucket        // only the lane's sender draws from it
}

// set changes the rate, and reports whether it was another.
func (p *pace) set(rate float64) bool {
	next := math.Float64bits(rate)
	return p.rate.Swap(next) != next
}

func (p *pace) perSecond() float64 { return math.Float64frombits(p.rate.Load()) }

// free is how many deliveries may be claimed now; when none, next is when one may.
func (p *pace) free(now time.Time) (n int, next time.Time) {
	p.tokens.retune(p.perSecond(), now)
	return p.tokens.free(now)
}

// retune changes the rate of a bucket. What it holds stays in it as far as it fits, so that a
// rate that changes often gives nothing away.
func (b *bucket) retune(rate float64, now time.Time) {
	if rate == b.rate {
		return
	}
	before := *b
	*b = newBucket(rate, now)
	if before.rate > 0 {
		before.free(now) // what has come in since
		b.tokens = math.Min(before.tokens, b.burst)
	}
}
