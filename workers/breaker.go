package workers

import (
	"math"
	"slices"
	"time"
)

// probes is how many calls try whether a provider has recovered, at once.
const probes = 3

// A breaker says when a provider is left alone. It opens when as many calls in a row as
// Failures have failed within Window: a count without "in a row" would open at one failure in
// a thousand of a busy provider, a share would burn thousands of attempts before it turns.
// After OpenFor it lets a few probes through; the first of them to answer decides. Its zero
// calls cost nothing, so a probe that was not needed can be given back, which ready-made
// breakers do not offer. It is not safe for concurrent use.
type breaker struct {
	rule      Breaker
	failures  []time.Time // in a row, the last rule.Failures at most
	openUntil time.Time   // zero: closed
	opened    time.Time   // when it opened first since it was closed
	out       int         // probes under way
}

// free is how many calls may begin at now.
func (b *breaker) free(now time.Time) int {
	switch {
	case b.openUntil.IsZero():
		return math.MaxInt
	case now.Before(b.openUntil):
		return 0
	}
	return max(0, probes-b.out)
}

// take begins a call; free was above zero. It reports whether the call is a probe.
func (b *breaker) take() (probe bool) {
	if b.openUntil.IsZero() {
		return false
	}
	b.out++
	return true
}

// giveBack ends a call that was not made.
func (b *breaker) giveBack(probe bool) {
	if probe {
		b.out = max(0, b.out-1)
	}
}

// record ends a call. Calls that began before the breaker opened do not count any more.
func (b *breaker) record(probe, failed bool, now time.Time) {
	b.giveBack(probe)
	switch {
	case b.openUntil.IsZero():
		b.count(failed, now)
	case !probe:
	case failed:
		b.openUntil = now.Add(b.rule.OpenFor)
	default:
		*b = breaker{rule: b.rule}
	}
}

func (b *breaker) count(failed bool, now time.Time) {
	if !failed {
		b.failures = b.failures[:0]
		return
	}
	b.failures = slices.DeleteFunc(b.failures, func(at time.Time) bool { return now.Sub(at) >= b.rule.Window })
	if b.failures = append(b.failures, now); len(b.failures) >= b.rule.Failures {
		b.failures, b.opened, b.openUntil = b.failures[:0], now, now.Add(b.rule.OpenFor)
	}
}

// state is 0 closed, 1 half-open, 2 open, as the metric shows it.
func (b *breaker) state(now time.Time) int {
	switch {
	case b.openUntil.IsZero():
		return 0
	case now.Before(b.openUntil):
		return 2
	}
	return 1
}
