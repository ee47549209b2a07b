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
//
// Every counter that the transaction may change is locked here, in one go: whoever came back for
// more could wait for somebody who waits for it.
func (a *accepting) count() error {
	places := a.counted()
	owed, err := a.owed()
	if err != nil {
		return err
	}
	if err := a.takeCounters(places, owed); err != nil || len(places) == 0 {
		return err
	}
	a.own()
	told := map[tidings.NotificationID]bool{}
	for _, i := range places {
		if ntf := a.chunk[i].Notification.ID; !told[ntf] {
			told[ntf] = a.countOne(i)
		}
	}
	return a.putCounters(sortedKeys(a.counters), a.counters)
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

// owed are the counters from which this transaction may take something back: those of what it may
// supersede, and of what may have nothing left once its hold is released. The one writer of SQLite
// reads them when it comes to that.
func (a *accepting) owed() (map[CounterKey]bool, error) {
	if a.dialect.oneWriter {
		return nil, nil
	}
	earlier, err := a.earlier() // locked: rows of notifications come before counters
	if err != nil {
		return nil, err
	}
	ids := earlierOf(earlier)
	for _, i := range a.holds {
		if c := &a.chunk[i]; c.Count != nil || len(c.Deliveries)+len(c.Holds) == 0 {
			ids = append(ids, c.Notification.ID)
		}
	}
	owed := map[CounterKey]bool{}
	return owed, a.each("refund_whose", len(ids), func(k int) []any { return []any{ids[k][:]} }, func(_ int, r row) error {
		keys, err := countersOf(r)
		for _, key := range keys {
			owed[key] = true
		}
		return err
	})
}

// takeCounters locks the counters of what counts, which are made where they are missing, and those
// that are owed something.
func (a *accepting) takeCounters(places []int, owed map[CounterKey]bool) error {
	idle := map[CounterKey]time.Time{}
	for key := range owed {
		idle[key] = time.Time{}
	}
	for _, i := range places {
		c := &a.chunk[i]
		for _, s := range c.Count.Scopes {
			key := CounterKey{c.Notification.UserID, c.Notification.Test, s.Scope}
			idle[key] = queuedAt(c).Add(s.Per)
		}
	}
	keys := sortedKeys(idle)
	a.counters = make(map[CounterKey]*counter, len(keys))
	return a.each("counter_take", len(keys), func(k int) []any {
		at := idle[keys[k]]
		return []any{keys[k].User, keys[k].row(), at.UnixMicro(), flag(!at.IsZero())}
	}, func(k int, r row) error {
		c := &counter{}
		a.counters[keys[k]] = c
		return c.scan(r)
	})
}

// countOne decides about one acceptance and reports whether it is counted.
func (a *accepting) countOne(i int) bool {
	c := &a.chunk[i]
	of := func(s CountScope) *counter {
		return a.counters[CounterKey{c.Notification.UserID, c.Notification.Test, s.Scope}]
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

// refund is that of the transaction, with the counters that were locked when it counted: what is
// missing among them was never counted, or has been forgotten.
func (a *accepting) refund(ids []tidings.NotificationID) error {
	if a.dialect.oneWriter {
		return a.tx.refund(ids)
	}
	back, err := a.refunds(ids)
	if err != nil {
		return err
	}
	return a.takeBack(back, a.counters)
}
