package faults

import (
	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
)

// posts checks that every answer was kept: its notification is there, and one key has one.
func (c *checker) posts() {
	answered := map[string]tidings.NotificationID{}
	counted := map[tidings.NotificationID]bool{}
	for _, p := range c.Posts {
		if first, ok := answered[p.Key]; ok && p.Key != "" && first != p.ID {
			c.broken(Conserved, p.ID, "the key %q was answered with %s too", p.Key, first)
		}
		answered[p.Key] = p.ID
		if counted[p.ID] {
			continue
		}
		counted[p.ID] = true
		if c.trails[p.ID] == nil {
			c.figures.Lost++
			c.broken(Ends, p.ID, "its caller was told of it, and the log does not have it")
		}
	}
	c.figures.Accepted = len(counted)
}

// strangers checks that nothing is in the log that nobody posted, and nothing twice. Digests are
// made of what was posted.
func (c *checker) strangers() {
	known := map[tidings.NotificationID]bool{}
	for _, p := range c.Posts {
		known[p.ID] = true
	}
	type owned struct{ app, key string }
	keys := map[owned]tidings.NotificationID{}
	strangers := 0
	for i := range c.Trails {
		t := &c.Trails[i]
		if !known[t.ID] && len(t.Parts) == 0 {
			strangers++
		}
		key := owned{t.App, t.DedupeKey}
		if first, ok := keys[key]; ok && t.DedupeKey != "" && first != t.ID {
			c.broken(Conserved, t.ID, "has the dedupe key of %s", first)
		}
		keys[key] = t.ID
	}
	if strangers > c.Unanswered {
		c.broken(Conserved, tidings.NotificationID{}, "%d notifications are in the log of which no caller was told, and %d callers got no answer", strangers, c.Unanswered)
	}
	for id, accepts := range c.accepts {
		if c.trails[tidings.NotificationOf(id)] == nil {
			d := &wire.Delivery{ID: id}
			c.brokenBy(Told, d, "%s accepted it, and the log does not have it", accepts[0].Provider)
		}
	}
}

// trail judges one notification by what came of its deliveries.
func (c *checker) trail(t *wire.Trail) {
	c.conserved(t)
	ended := true
	for _, h := range t.Holds {
		if h.State == tidings.HoldWaiting && h.Until.Before(c.Ended) {
			ended = false
			c.broken(Ends, t.ID, "a hold of %s was due at %v", h.Channel, h.Until)
		}
	}
	for i := range t.Deliveries {
		d := &t.Deliveries[i]
		c.figures.Deliveries++
		if !d.Final {
			ended = false
			c.brokenBy(Ends, d, "is %s at the end of the run, due at %v", d.Status, d.DueAt)
		}
		c.abandoned(Sighting{At: c.Ended, Delivery: *d})
		e := evidenceOf(t, d, c.accepts[d.ID])
		c.figures.Unknown += len(e.unknown)
		c.sent(t, d, e)
		c.once(d, e)
		c.told(t, d, e)
		c.stopped(t, d, e)
	}
	if !ended {
		c.figures.Lost++
	}
}

// conserved checks that every address that was decided for has its delivery.
func (c *checker) conserved(t *wire.Trail) {
	want, got := map[tidings.Channel]int{}, map[tidings.Channel]int{}
	for _, d := range t.Decisions {
		if d.Action == tidings.ActionSend {
			want[d.Channel] += d.Addresses
		}
	}
	for _, d := range t.Deliveries {
		got[d.Channel]++
	}
	for channel, n := range want {
		if got[channel] != n {
			c.broken(Conserved, t.ID, "%d deliveries by %s were decided and there are %d", n, channel, got[channel])
		}
	}
}

// Evidence is what the two sides say of one delivery: the providers and the trail.
type evidence struct {
	accepts  []simulator.Entry
	ok       map[int]bool // attempts that the trail says succeeded, by number
	unknown  map[int]bool // attempts whose outcome the trail says is unknown, by number
	redrives int
}

func evidenceOf(t *wire.Trail, d *wire.Delivery, accepts []simulator.Entry) evidence {
	e := evidence{accepts: accepts, ok: map[int]bool{}, unknown: map[int]bool{}}
	for _, a := range d.Attempts {
		switch a.Outcome {
		case tidings.OK:
			e.ok[a.Number] = true
		case tidings.OutcomeUnknown:
			e.unknown[a.Number] = true
		}
	}
	for _, m := range t.Timeline {
		if m.Kind == "redriven" && m.DeliveryID == d.ID {
			e.redrives++
		}
	}
	return e
}

// could counts the attempts that a provider may have accepted.
func (e evidence) could() int {
	n := len(e.unknown)
	for number := range e.ok {
		if !e.unknown[number] {
			n++
		}
	}
	return n
}

func (c *checker) sent(t *wire.Trail, d *wire.Delivery, e evidence) {
	switch d.Status {
	case tidings.Sent, tidings.Delivered, tidings.Bounced:
		if len(e.accepts) == 0 && !t.Test {
			c.brokenBy(Sent, d, "is %s, and no provider accepted it", d.Status)
		}
	case tidings.Failed, tidings.Dead, tidings.Expired, tidings.Cancelled, tidings.Suppressed, tidings.Unknown:
		if d.Reason == "" && d.Final {
			c.brokenBy(Sent, d, "is %s without a reason", d.Status)
		}
	}
}

func (c *checker) once(d *wire.Delivery, e evidence) {
	extra := len(e.accepts) - 1
	if extra <= 0 {
		return
	}
	explained := min(extra, len(e.unknown)+e.redrives)
	c.figures.Doubled += explained
	if extra > explained {
		c.figures.Unexplained += extra - explained
		c.brokenBy(Once, d, "was accepted %d times; the trail shows %d unknown attempts and %d redrives", len(e.accepts), len(e.unknown), e.redrives)
	}
}

func (c *checker) told(t *wire.Trail, d *wire.Delivery, e evidence) {
	if n := len(e.accepts); n > e.could() {
		c.brokenBy(Told, d, "was accepted %d times; the trail shows %d attempts that may have been", n, e.could())
	}
	shown := map[int]bool{}
	for _, a := range e.accepts {
		shown[a.Attempt] = true
		if a.Attempt > 0 && !e.ok[a.Attempt] && !e.unknown[a.Attempt] {
			c.brokenBy(Told, d, "%s accepted attempt %d, of which the trail says otherwise or nothing", a.Provider, a.Attempt)
		}
	}
	if !t.Test && len(e.accepts) < len(e.ok) {
		c.brokenBy(Told, d, "%d attempts succeeded, says the trail; providers accepted %d", len(e.ok), len(e.accepts))
	}
}

func (c *checker) stopped(t *wire.Trail, d *wire.Delivery, e evidence) {
	for _, a := range e.accepts {
		late := a.At.Add(-c.Slack)
		if late.After(t.ExpiresAt.Time) {
			c.brokenBy(Stopped, d, "was accepted %v after it expired", a.At.Sub(t.ExpiresAt.Time))
		}
		if !t.CancelledAt.IsZero() && late.After(t.CancelledAt.Time) {
			c.brokenBy(Stopped, d, "was accepted %v after it was cancelled", a.At.Sub(t.CancelledAt.Time))
		}
		for _, s := range c.Stops {
			if s.covers(t, d) && late.After(s.At) {
				c.brokenBy(Stopped, d, "was accepted %v after its user had opted out", a.At.Sub(s.At))
			}
		}
	}
}

func (s Stop) covers(t *wire.Trail, d *wire.Delivery) bool {
	return s.User == t.UserID && (s.Category == "" || s.Category == t.Category) && (s.Channel == "" || s.Channel == d.Channel)
}
