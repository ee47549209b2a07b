package admission

import (
	"slices"
	"time"
)

const (
	// drainSpan is the time over which a rate is measured.
	drainSpan = time.Minute
	// drainLeast is how long a lane must have been busy until its rate is believed.
	drainLeast = 2 * time.Second
)

// A drain is the rate at which deliveries leave a lane while it has work.
type drain struct {
	samples   []sample
	perSecond float64 // while something waited; 0: not known
	full      float64 // while there was more than could be done: what the lane can do at most; 0: not known
}

// A sample is what left a lane between two counts.
type sample struct {
	at   time.Time // the end
	span time.Duration
	left int
	full bool
}

// see adds what was counted: how many waited before and after a span, and how many came in
// between. A lane at rest says nothing about its rate, and one that stands still only that
// something holds it up, which has an end.
func (d *drain) see(before, came, after int, span time.Duration, now time.Time) {
	left := before + came - after
	if before > 0 && after > 0 && left > 0 && span > 0 {
		d.samples = append(d.samples, sample{at: now, span: span, left: left, full: after >= left})
	}
	d.samples = slices.DeleteFunc(d.samples, func(s sample) bool { return now.Sub(s.at) >= drainSpan })
	d.perSecond = d.mean(0, func(sample) bool { return true })
	d.full = d.mean(drainLeast, func(s sample) bool { return s.full })
}

// mean is the rate over the samples that count; 0 where they span less than least.
func (d *drain) mean(least time.Duration, counts func(sample) bool) float64 {
	var left int
	var span time.Duration
	for _, s := range d.samples {
		if counts(s) {
			left, span = left+s.left, span+s.span
		}
	}
	if span == 0 || span < least {
		return 0
	}
	return float64(left) / span.Seconds()
}
