package workers

import (
	"math"
	"time"
)

// A bucket holds the tokens of a rate; its burst is a tenth of a second's worth, and half a token at
// least beyond the one that is used, so that who comes a little late does not waste the rate.
type bucket struct {
	rate   float64 // a second; 0: no limit
	burst  float64
	tokens float64
	filled time.Time
}

func newBucket(rate float64, now time.Time) bucket {
	return bucket{rate: rate, burst: burstOf(rate), tokens: burstOf(rate), filled: now}
}

func burstOf(rate float64) float64 { return math.Max(1.5, rate/10) }

// set changes the rate from now on.
func (b *bucket) set(rate float64, now time.Time) {
	b.fill(now)
	b.rate, b.burst = rate, burstOf(rate)
	b.tokens = math.Min(b.tokens, b.burst)
}

// free is how many tokens there are; when none, next is when one will be.
func (b *bucket) free(now time.Time) (n int, next time.Time) {
	if b.rate <= 0 {
		return math.MaxInt, time.Time{}
	}
	if b.fill(now); b.tokens >= 1 {
		return int(b.tokens), time.Time{}
	}
	missing := (1 - b.tokens) / b.rate
	return 0, now.Add(time.Duration(missing*float64(time.Second)) + time.Microsecond)
}

func (b *bucket) fill(now time.Time) {
	if since := now.Sub(b.filled).Seconds(); since > 0 {
		b.tokens, b.filled = math.Min(b.burst, b.tokens+since*b.rate), now
	}
}

func (b *bucket) use(n float64) {
	if b.rate > 0 {
		b.tokens -= n
	}
}
