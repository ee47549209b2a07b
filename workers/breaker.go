package workers

import (
	"math"
	"slices"
	"time"
)

// recovered is how many probes in a row must succeed before a provider gets everything again. A
// provider that fails half of the time passes one probe as often as not, and then fails a blast.
const recovered = 3

// A breaker says when a provider is left alone: when as many calls in a row as Failures have
// failed within Window, or when the provider asked for a pause. A count without "in a row" would
// open at one failure in a thousand of a busy provider, a share would burn thousands of attempts
// before it turns. Then it lets probes through, one after the other: a failure opens it again, a
// few successes close it. Its zero calls cost nothing, so a probe that was not needed can be given
// back, which ready-made breakers do not offer. It is not safe for concurrent use.
type breaker struct {
	rule      Breaker
	failures  []time.Time // in a row, the last rule.Failures at most
	openUntil time.Time   // zero: closed
	opened    time.Time   // when it opened first since it was closed
	asked     bool        // the provider asked for a pause: it is open without a failure
	probing   bool        // a probe is under way
	passed    int         // probes that succeeded since it opened last
}

// A change of a provider's standing is something that somebody should hear of.
type change int

const (
	unchanged change = iota
	tripped
	mended
	doubted // what it says of addresses
	trusted // again
)

// free is how many calls may begin at now.
func (b *breaker) free(now time.Time) int {
	switch {
	case b.openUntil.IsZero():
		return math.MaxInt
	case now.Before(b.openUntil), b.probing:
		return 0
	}
	return 1
}

// take begins a call; free was above zero. It reports whether the call is a probe.
func (b *breaker) take() (probe bool) {
	if b.openUntil.IsZero() {
		return false
	}
	b.probing = true
	return true
}

// giveBack ends a call that was not made.
func (b *breaker) giveBack(probe bool) {
	if probe {
		b.probing = false
	}
}

// record ends a call. Calls that began before the breaker opened do not count any more.
func (b *breaker) record(probe, failed bool, now time.Time) change {
	b.giveBack(probe)
	switch {
	case b.openUntil.IsZero():
		return b.count(failed, now)
	case !probe:
	case failed:
		return b.reopen(now)
	case !now.Before(b.openUntil): // else it asked for a pause meanwhile
		return b.pass()
	}
	return unchanged
}

// reopen begins another pause after a probe that failed. A pause that the provider asked for
// becomes one of the breaker's own.
func (b *breaker) reopen(now time.Time) change {
	told := unchanged
	if b.asked {
		b.asked, b.opened, told = false, now, tripped
	}
	b.openUntil, b.passed = now.Add(b.rule.OpenFor), 0
	return told
}

// pass counts a probe that succeeded.
func (b *breaker) pass() change {
	if b.passed++; b.passed < recovered && !b.asked {
		return unchanged
	}
	told := mended
	if b.asked {
		told = unchanged
	}
	*b = breaker{rule: b.rule}
	return told
}

func (b *breaker) count(failed bool, now time.Time) change {
	if !failed {
		b.failures = b.failures[:0]
		return unchanged
	}
	b.failures = slices.DeleteFunc(b.failures, func(at time.Time) bool { return now.Sub(at) >= b.rule.Window })
	if b.failures = append(b.failures, now); len(b.failures) < b.rule.Failures {
		return unchanged
	}
	b.failures, b.opened, b.openUntil = b.failures[:0], now, now.Add(b.rule.OpenFor)
	return tripped
}

// rest leaves the provider alone until then, as it asked. It is no failure.
func (b *breaker) rest(until, now time.Time) {
	if b.openUntil.IsZero() {
		b.asked, b.opened = true, now
	}
	b.openUntil, b.passed = latest(b.openUntil, until), 0
}

// state is 0 closed, 1 half-open, 2 open, as the metric shows it. A pause that the provider asked
// for is no trouble of it.
func (b *breaker) state(now time.Time) int {
	switch {
	case b.openUntil.IsZero(), b.asked:
		return 0
	case now.Before(b.openUntil):
		return 2
	}
	return 1
}
