package workers

import (
	"math"
	"time"
)

// dryAfter is how long a provider may have no permits before the others of its lane stop waiting
// for it. A busy one has some again within a call's time.
const dryAfter = 50 * time.Millisecond

// A drought says that a provider has been without permits for too long to wait for. Only the
// loop of its sender touches it.
type drought struct {
	since time.Time // zero: it has permits
	dry   bool
}

// see takes note of how many permits there are; when none, next is when there will be, if that
// is known. A drought ends when a good part of the most is free again, else every single permit
// would be a reason to wait once more.
func (d *drought) see(n, most int, next, now time.Time) {
	switch {
	case n > 0:
		d.since = time.Time{}
		d.dry = d.dry && n < max(1, most/4)
	case d.since.IsZero():
		d.since, d.dry = now, d.dry || !next.IsZero()
	case now.Sub(d.since) >= dryAfter:
		d.dry = true
	}
}

// survey is how many permits there are for the next deliveries, of which it is not known yet whom
// they are for: those of the scarcest healthy provider, so that nothing is claimed in vain. One
// that has been without for long does not count: what is for it is put off, in its turn, and the
// rest goes on. When none, again is when to look.
func (s *sender) survey(now time.Time) (permits int, again time.Time) {
	scarcest, dry, probing := math.MaxInt, 0, 0
	soon := func(at time.Time) {
		if !at.IsZero() && (again.IsZero() || at.Before(again)) {
			again = at
		}
	}
	for i, g := range s.gates {
		n, next := g.free(s.lane.Priority(), now)
		soon(next)
		if !g.healthy() {
			probing += n
			continue
		}
		d := &s.dry[i]
		d.see(n, min(g.Concurrency, s.config.Workers), next, now)
		switch {
		case d.dry:
			dry = max(dry, n)
			continue
		case n == 0 && len(s.gates) > 1:
			soon(d.since.Add(dryAfter))
		}
		scarcest = min(scarcest, n)
	}
	switch {
	case scarcest < math.MaxInt:
		return scarcest, again
	case dry > 0:
		return dry, again
	}
	return probing, again
}

// shut reports whether the breakers of all providers of the lane are open, and until when.
func (s *sender) shut(now time.Time) (shut bool, until time.Time) {
	for _, g := range s.gates {
		closed, next := g.shut(now)
		if !closed {
			return false, time.Time{}
		}
		if until.IsZero() || next.Before(until) {
			until = next
		}
	}
	return len(s.gates) > 0, until
}
