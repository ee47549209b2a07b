package preferences

import (
	"time"

	"tidings"
)

// A calm is what keeps one channel of an event from making itself heard at any time.
type calm struct {
	hours *Hours // the user's; nil: none
	zone  *time.Location
	calls []ring
}

// A ring is a phone that law lets ring at some hours only.
type ring struct {
	window tidings.Window
	by     tidings.Cause    // whose window it is
	zones  []*time.Location // where it may be: in all of them it must be allowed
}

// calmOf is what keeps a channel calm for a user; what is critical, or disturbs nobody, need not be.
func (p *Preferences) calmOf(e *tidings.EventType, channel tidings.Channel, zone *time.Location) (c calm) {
	if e.Category.Kind != tidings.Critical && disturbs(channel) {
		c.hours, c.zone = p.QuietHours, zone
	}
	return c
}

// regulated reports whether the law says when an event may make a channel ring.
func regulated(e *tidings.EventType, channel tidings.Channel) bool {
	return channel == tidings.SMS && e.Category.Kind == tidings.Marketing
}

// call adds a phone that would ring.
func (c *calm) call(e *tidings.EventType, phone string, zones []*time.Location) {
	if w, by := windowOf(e, phone); by != "" {
		c.calls = append(c.calls, ring{w, by, zones})
	}
}

// The longest way to look ahead: windows repeat by the week, clocks change twice a year.
const (
	calmAhead = 15 * 24 * time.Hour
	calmSteps = 20 // of one window: its days, and changes of the clock
)

// until is the first instant from t on that nothing keeps calm, and what did last, where that is not
// the user; ever is false when there is none, since windows of places far apart never meet.
func (c *calm) until(t time.Time) (at time.Time, by tidings.Cause, ever bool) {
	for at = t; at.Sub(t) < calmAhead; {
		next := at
		if c.hours != nil {
			if after := c.hours.After(next, c.zone); after.After(next) {
				next, by = after, ""
			}
		}
		for i := range c.calls {
			for _, zone := range c.calls[i].zones {
				opened, ever := opens(&c.calls[i].window, next, zone)
				switch {
				case !ever:
					return time.Time{}, tidings.CauseNever, false
				case opened.After(next):
					next, by = opened, c.calls[i].by
				}
			}
		}
		if next.Equal(at) {
			return at, by, true
		}
		at = next
	}
	return time.Time{}, tidings.CauseNever, false
}

// opens is the first instant from t on at which a window is open by a zone's clock, which runs
// evenly until the zone's next change of offset, and jumps there.
func opens(w *tidings.Window, t time.Time, zone *time.Location) (at time.Time, ever bool) {
	for range calmSteps {
		local := t.In(zone)
		wall := sinceMidnight(local)
		span := w[local.Weekday()]
		from, to := time.Duration(span.From)*time.Minute, time.Duration(span.To)*time.Minute
		if from <= wall && wall < to {
			return t, true
		}
		wait := 24*time.Hour - wall
		if wall < from && from < to {
			wait = from - wall
		}
		end := t.Add(wait)
		if _, change := local.ZoneBounds(); !change.IsZero() && !end.Before(change) {
			end = change.In(t.Location())
		}
		t = end
	}
	return time.Time{}, false
}

// Release is when what had to wait until an instant is decided again: then or a little later, by
// as much of spread as jitter says, from 0 up to 1. Of the time that is left before it expires no
// more than half is spent.
func Release(until, expires time.Time, spread time.Duration, jitter float64) time.Time {
	if !expires.IsZero() {
		spread = min(spread, expires.Sub(until)/2)
	}
	return until.Add(time.Duration(jitter * float64(max(spread, 0)))).Truncate(time.Microsecond)
}
