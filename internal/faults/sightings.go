package faults

import (
	"slices"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/store"
)

// sightings checks that what was seen during the run only ever went forward, up to its end.
func (c *checker) sightings() {
	last := map[tidings.DeliveryID]Sighting{}
	see := func(s Sighting) {
		if before, ok := last[s.Delivery.ID]; ok {
			c.forward(&before.Delivery, &s.Delivery)
		}
		last[s.Delivery.ID] = s
	}
	for _, s := range c.Sightings {
		c.abandoned(s)
		see(s)
	}
	for i := range c.Trails {
		for _, d := range c.Trails[i].Deliveries {
			if _, ok := last[d.ID]; ok {
				see(Sighting{At: c.Ended, Delivery: d})
			}
		}
	}
	for id := range last {
		if c.trails[tidings.NotificationOf(id)] == nil {
			c.brokenBy(Forward, &wire.Delivery{ID: id}, "was seen during the run, and the log does not have it any more")
		}
	}
}

// abandoned checks that nobody keeps a claim whose lease is long over. Time in which no process
// lived does not count.
func (c *checker) abandoned(s Sighting) {
	d := &s.Delivery
	if d.Status == tidings.Sending && c.lived(d.DueAt.Time, s.At) > c.Patience {
		c.brokenBy(NotAbandoned, d, "is being sent %v after its lease was over", s.At.Sub(d.DueAt.Time))
	}
}

// lived is how much of a span some process lived.
func (c *checker) lived(from, to time.Time) (lived time.Duration) {
	if c.Alive == nil {
		return to.Sub(from)
	}
	for _, life := range c.Alive {
		begin, end := life.From, life.To
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		lived += max(0, end.Sub(begin))
	}
	return lived
}

// forward checks one delivery against how it was seen before.
func (c *checker) forward(before, after *wire.Delivery) {
	for _, a := range before.Attempts {
		if a.Code == store.CodeNotRecorded {
			continue // until it is
		}
		if !slices.ContainsFunc(after.Attempts, func(b wire.Attempt) bool {
			return a.Number == b.Number && a.Late == b.Late && a.Outcome == b.Outcome
		}) {
			c.brokenBy(Forward, before, "attempt %d (%s) was seen, and is in the trail no more", a.Number, a.Outcome)
		}
	}
	if len(after.Receipts) < len(before.Receipts) {
		c.brokenBy(Forward, before, "%d receipts were seen, and %d are in the trail", len(before.Receipts), len(after.Receipts))
	}
	redriven := c.redriven(before.ID)
	from, to := stored(before.Status), stored(after.Status)
	if !reaches(from, to, redriven) {
		c.brokenBy(Forward, before, "went from %s to %s", before.Status, after.Status)
	}
	if before.Final && !after.Final && !redriven && !slices.ContainsFunc(after.Attempts, func(a wire.Attempt) bool { return a.Late }) {
		c.brokenBy(Forward, before, "had ended as %s, and is %s", before.Status, after.Status)
	}
}

func (c *checker) redriven(id tidings.DeliveryID) bool {
	t := c.trails[tidings.NotificationOf(id)]
	return t != nil && slices.ContainsFunc(t.Timeline, func(m wire.Moment) bool { return m.Kind == "redriven" && m.DeliveryID == id })
}

// stored is a status of the log that shows so: what waits shows as queued or retrying wherever it waits.
func stored(shown tidings.Status) tidings.Status {
	if shown == tidings.Queued || shown == tidings.Retrying {
		return tidings.Parked
	}
	return shown
}

// reaches reports whether any number of events lead from one status to the other.
func reaches(from, to tidings.Status, redriven bool) bool {
	seen, open := map[tidings.Status]bool{from: true}, []tidings.Status{from}
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		for _, t := range tidings.Transitions() {
			if t.From != at || t.Event == tidings.EventRedrive && !redriven {
				continue
			}
			for _, next := range t.To {
				if !seen[next] {
					seen[next] = true
					open = append(open, next)
				}
			}
		}
	}
	return seen[to]
}
