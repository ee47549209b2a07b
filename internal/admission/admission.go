// Package admission says whether more work may come in now.
//
// It promises that what waits in the log stays bounded, that no app fills a lane for the others,
// and that under pressure work is refused in a stated order, before anything is committed, with
// the time after which another try makes sense. It must never refuse what was accepted before,
// nor work of one lane because another is full.
package admission

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/internal/store"
)

// Settings wire a Door.
type Settings struct {
	Store  *store.Store
	Bounds map[tidings.Lane]Bound
	Disk   Disk
	Dir    string // on the disk that is watched; empty: none is
	// Free measures a disk; nil: the system's answer.
	Free func(dir string) (free, total uint64, err error)
	// Gauge is told how many deliveries are queued in a lane and whether others are due before
	// them; nil where a dispatcher tells the lanes.
	Gauge func(lane tidings.Lane, queued int, closed bool)
	Log   *slog.Logger
}

// A Bound is how much of a lane may wait in the log, due or in the lane.
type Bound struct {
	Limit   int           // deliveries
	MaxWait time.Duration // at the rate at which the lane drains; 0: whatever
	Short   int           // how many deliveries the lane itself holds
}

// A Class says how early work is refused under pressure.
type Class int

// The classes, first refused first.
const (
	Marketing Class = iota
	Digest          // what is gathered to go out later
	Transactional
	Critical
)

// part is how full something may be before work of the class is refused: a tenth above what is
// full for everybody else is kept for critical work.
func (c Class) part() float64 { return [...]float64{0.8, 0.9, 1, 1.1}[c] }

// Fits reports whether work of the class may join where that much of so much waits.
func (c Class) Fits(waiting, of int) bool { return waiting < c.of(of) }

// of is the class's part of a bound, rounded up.
func (c Class) of(bound int) int { return int(c.part()*float64(bound) + 0.999) }

// ClassOf is the class of a kind of category.
func ClassOf(k tidings.CategoryKind) Class {
	switch k {
	case tidings.Critical:
		return Critical
	case tidings.Marketing:
		return Marketing
	}
	return Transactional
}

// A Refusal says why work may not come in now. Code is one of the API's.
type Refusal struct {
	Code   string
	Detail string
	After  time.Duration // when to try again, in whole seconds
}

// The codes of refusals.
const (
	CodeLaneFull      = "lane_full"      // more waits for the lane than may
	CodeQuotaExceeded = "quota_exceeded" // the app has its share of the lane, and others want theirs
	CodeNotReady      = "not_ready"      // there is no room to write it down
)

// A Door is where work comes in. It is safe for concurrent use; Close ends it. The zero Door lets
// everything in.
type Door struct {
	Settings

	mu    sync.Mutex
	lanes map[tidings.Lane]*load // guarded by mu; the map itself stays as it is

	disk atomic.Pointer[measurement] // the last one; nil: none yet

	counted time.Time // when the log was last asked; only the counting touches it

	poke chan struct{} // holds one token when a count is wanted soon
	stop context.CancelFunc
	done chan struct{} // closed when the counting has ended
}

// Open counts what waits and opens the door.
func Open(ctx context.Context, s Settings) (*Door, error) {
	d := newDoor(s)
	if _, err := d.count(ctx); err != nil {
		return nil, err
	}
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	go d.keepCounting(ctx)
	return d, nil
}

func newDoor(s Settings) *Door {
	if s.Free == nil {
		s.Free = freeSpace
	}
	d := &Door{Settings: s, lanes: map[tidings.Lane]*load{}, poke: make(chan struct{}, 1), done: make(chan struct{})}
	for lane, bound := range s.Bounds {
		d.lanes[lane] = newLoad(lane, bound)
	}
	return d
}

// Close ends the counting.
func (d *Door) Close() {
	d.stop()
	<-d.done
}

// A Demand is what one event wants to put into one lane.
type Demand struct {
	Lane       tidings.Lane
	Deliveries int
}

// Enter lets the work of an event in, or says why not. What is let in counts at once; Settle must
// follow when it is known whether it was committed.
func (d *Door) Enter(app string, c Class, demands []Demand) *Refusal {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range demands {
		l := d.lanes[w.Lane]
		if l == nil {
			continue
		}
		refusal := l.refusal(app, c, w.Deliveries)
		if refusal != nil || l.contended() {
			d.wake()
		}
		if refusal != nil {
			return refusal
		}
	}
	for _, w := range demands {
		if l := d.lanes[w.Lane]; l != nil {
			l.add(l.open, app, w.Deliveries)
		}
	}
	return nil
}

// Settle says what became of work that was let in: whether it waits in the log now.
func (d *Door) Settle(app string, demands []Demand, committed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range demands {
		l := d.lanes[w.Lane]
		if l == nil {
			continue
		}
		l.take(l.open, app, w.Deliveries)
		if committed {
			l.add(l.since, app, w.Deliveries)
		}
	}
}

// Direct reports whether an app may put so many more deliveries straight into a lane: not when it
// has its share of the room there and others want theirs. What may not waits in the log, from
// where the lane is fed app by app.
func (d *Door) Direct(app string, lane tidings.Lane, deliveries int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.lanes[lane]
	return l == nil || l.direct(app, deliveries)
}

func (d *Door) wake() {
	select {
	case d.poke <- struct{}{}:
	default:
	}
}
