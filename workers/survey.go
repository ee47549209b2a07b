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
	paced bool // its rate is why: what is for it has its turns, at just that rate
}

// A reach bounds how much is claimed while some provider of the lane is dry, when it is not known
// whether any of it is for another. It begins with one delivery and doubles whenever it is used up,
// until the dry one has permits again: of a busy provider hardly anything is put off that it could
// have taken a moment later, and one that hangs is soon out of the others' way. Only the loop of its
// sender touches it.
type reach struct {
	most int       // how many may be claimed in vain before the next rest
	vain int       // were since the last one
	rest time.Time // until then a dry provider is waited for again, since all that was found was for it
}

func newReach() reach { return reach{most: 1} }

// left is how many more may be claimed before the next rest.
func (r *reach) left() int { return r.most - r.vain }

// claimed takes note of a claim in a drought. What an entry brings may be less than what is left:
// a rest is taken when all of the reach was in vain, however many claims that took.
func (r *reach) claimed(sent, putOff int, now time.Time) {
	if putOff == 0 {
		return
	}
	r.vain += putOff
	if sent == 0 && r.vain < r.most {
		return
	}
	if sent == 0 {
		r.rest = now.Add(dryAfter)
	}
	r.most, r.vain = min(2*r.most, maxClaim), 0
}

// see takes note of how many permits there are; when none, next is when there will be, if that
// is known. A drought ends when a good part of the most is free again, else every single permit
// would be a reason to wait once more. It reports whether there are permits again for which the others may be
// kept waiting.
func (d *drought) see(n, most int, next, now time.Time) (rain bool) {
	switch {
	case n > 0:
		rain = !d.since.IsZero() && !d.paced
		d.since = time.Time{}
		d.dry = d.dry && n < max(1, most/4)
		d.paced = d.paced && d.dry
	case d.since.IsZero():
		d.paced = d.paced || !next.IsZero()
		d.since, d.dry = now, d.dry || d.paced
	case now.Sub(d.since) >= dryAfter:
		d.dry = true
	}
	return rain
}

// survey is how many permits there are for the next deliveries, of which it is not known yet whom
// they are for: those of the scarcest healthy provider, so that nothing is claimed in vain. One
// that has been without for long does not count: what is for it is put off, in its turn, and the
// rest goes on. When none, again is when to look.
func (s *sender) survey(now time.Time) (permits int, again time.Time) {
	scarcest, dry, probing, drought := math.MaxInt, 0, 0, false
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
		if d.see(n, min(g.Concurrency, s.config.Workers), next, now) {
			s.reach = newReach()
		}
		switch {
		case d.dry && n == 0 && now.Before(s.reach.rest):
			soon(s.reach.rest)
		case d.dry:
			dry, drought = max(dry, n), true
			continue
		case n == 0 && len(s.gates) > 1:
			soon(d.since.Add(dryAfter))
		}
		scarcest = min(scarcest, n)
	}
	switch {
	case drought && scarcest < math.MaxInt:
		return min(scarcest, s.reach.left()), again
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
