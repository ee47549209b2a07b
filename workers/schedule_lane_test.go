package workers

import (
	"math/rand/v2"
	"slices"
	"time"

	"tidings"
)

// A lossyLane is a lane as the worst broker would keep it: it loses entries that it took, takes
// entries that it says it refused, keeps copies, hands out late, and forgets everything.
type lossyLane struct {
	rng       *rand.Rand
	calm      bool // it behaves
	ackWait   time.Duration
	entries   []*lossyEntry // in the order in which they came
	delivered int           // the number of the newest entry that was handed out
	last      int           // number given
}

type lossyEntry struct {
	number int
	stamp  time.Time
	ids    []tidings.DeliveryID
	from   time.Time // handed out not before
	left   int       // ids that are not settled by who has it in hand
}

// chance is true once in n times, unless the lane behaves.
func (l *lossyLane) chance(n int) bool { return !l.calm && l.rng.IntN(n) == 0 }

// publish reports whether the publisher is told that it worked, which says little.
func (l *lossyLane) publish(ids []tidings.DeliveryID, stamp, now time.Time) bool {
	at := now
	switch {
	case l.chance(12):
		return false // refused
	case l.chance(12):
		return true // acknowledged and lost
	case l.chance(12):
		at = now.Add(time.Duration(l.rng.IntN(4000)) * time.Millisecond) // slow
	}
	copies := 1
	if l.chance(10) {
		copies = 2
	}
	for range copies {
		l.last++
		l.entries = append(l.entries, &lossyEntry{number: l.last, stamp: stamp, ids: ids, from: at})
	}
	return !l.chance(15) // the answer may be lost
}

// fetch hands out an entry; nil: there is none.
func (l *lossyLane) fetch(now time.Time) *lossyEntry {
	for _, e := range l.entries {
		if e.from.After(now) {
			continue
		}
		e.from, e.left = now.Add(l.ackWait), len(e.ids)
		l.delivered = max(l.delivered, e.number)
		return e
	}
	return nil
}

func (l *lossyLane) keep(e *lossyEntry, now time.Time) { e.from = now.Add(l.ackWait) }

func (l *lossyLane) ack(e *lossyEntry) {
	if !l.chance(15) { // else it comes again
		l.entries = slices.DeleteFunc(l.entries, func(o *lossyEntry) bool { return o == e })
	}
}

// forget is the loss of the broker's directory.
func (l *lossyLane) forget() { l.entries, l.delivered, l.last = nil, 0, 0 }

// horizon is what a broker tells: the stamp of the first entry that was never handed out.
func (l *lossyLane) horizon(now time.Time) (horizon time.Time, empty bool) {
	for _, e := range l.entries {
		if e.number > l.delivered {
			return e.stamp, false
		}
	}
	return now, len(l.entries) == 0
}
