package store

import (
	"slices"
	"time"

	"tidings"
)

// A Count asks accept to count a notification under limits, and to decide with what they have counted.
type Count struct {
	Scopes []CountScope
	// Decide is asked inside the transaction about the acceptance, with the user's counters locked.
	// told is, by scope, when the user was told something before, oldest first. It may only take
	// away what the acceptance has; nil: nothing. It may be asked more than once.
	Decide func(a *Acceptance, told map[string][]time.Time) *Decided
}

// A CountScope is a scope of limits, with the last Keep instants that any of them can ask for
// and the longest span over which one counts.
type CountScope struct {
	Scope string
	Keep  int
	Per   time.Duration
}

// Decided is what an acceptance came to inside the transaction.
type Decided struct {
	Decisions  []tidings.Decision
	Deliveries []NewDelivery
	Holds      []tidings.Hold
}

// Into makes an acceptance what was written of it.
func (a *Accepted) Into(c *Acceptance) {
	if d := a.Decided; d != nil {
		c.Notification.Decisions, c.Deliveries, c.Holds = d.Decisions, d.Deliveries, d.Holds
	}
}

// count decides again, in the order of the chunk, what is to be sent under limits: each by what was
// told before, also in the same chunk. A notification counts once, with the first that is sent of it.
func (a *accepting) count() error {
	places := a.counted()
	if len(places) == 0 {
		return nil
	}
	if err := a.lockEarlier(); err != nil {
		return err
	}
	all, err := a.takeCounters(places)
	if err != nil {
		return err
	}
	a.own()
	told := map[tidings.NotificationID]bool{}
	for _, i := range places {
		if ntf := a.chunk[i].Notification.ID; !told[ntf] {
			told[ntf] = a.countOne(i, all)
		}
	}
	return a.putCounters(sortedKeys(all), all)
}

// counted are the places of what would be sent, and counts.
func (a *accepting) counted() []int {
	var places []int
	for _, i := range slices.Concat(a.fresh, a.holds) {
		c := &a.chunk[i]
		before := c.Release != nil && a.released[c.Notification.ID].next > 0
		if c.Count != nil && len(c.Deliveries) > 0 && !before {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	return places
}

// takeCounters makes the counters that are missing and locks all of them.
func (a *accepting) takeCounters(places []int) (map[CounterKey]*counter, error) {
	idle := map[CounterKey]time.Time{}
	for _, i := range places {
		c := &a.chunk[i]
		for _, s := range c.Count.Scopes {
			key := CounterKey{c.Notification.UserID, c.Notification.Test, s.Scope}
			idle[key] = queuedAt(c).Add(s.Per)
		}
	}
	keys := sortedKeys(idle)
	all := make(map[CounterKey]*counter, len(keys))
	err := a.each("counter_take", len(keys), func(k int) []any {
		return []any{keys[k].User, keys[k].row(), idle[keys[k]].UnixMicro()}
	}, func(k int, r row) error {
		c := &counter{}
		all[keys[k]] = c
		return c.scan(r)
	})
	return all, err
}

// countOne decides about one acceptance and reports whether it is counted.
func (a *accepting) countOne(i int, all map[CounterKey]*counter) bool {
	c := &a.chunk[i]
	of := func(s CountScope) *counter {
		return all[CounterKey{c.Notification.UserID, c.Notification.Test, s.Scope}]
	}
	told := make(map[string][]time.Time, len(c.Count.Scopes))
	for _, s := range c.Count.Scopes {
		told[s.Scope] = of(s).times
	}
	if again := c.Count.Decide(c, told); again != nil {
		a.out[i].Decided = again
		a.out[i].Into(c)
	}
	if len(c.Deliveries) == 0 {
		return false
	}
	for _, s := range c.Count.Scopes {
		of(s).add(queuedAt(c), s)
	}
	return true
}
