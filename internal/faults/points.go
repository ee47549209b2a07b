package faults

import (
	"fmt"
	"sync"
)

// A Point is a place of a scenario where the process may die: before or after the nth call of a name.
type Point struct {
	Seam   Seam
	What   string
	Nth    int // from 1
	After  bool
	Inside bool // within a transaction
}

// String is the point in words, such as "after commit: insert notifications (1)".
func (p Point) String() string {
	side := "before"
	if p.After {
		side = "after"
	}
	return fmt.Sprintf("%s %s (%d)", side, p.What, p.Nth)
}

// A Fuse counts the calls of a scenario while it is armed, and ends the process at one of them.
// Calls are counted by name: what happens at one instant has no order, what happens at one place has.
type Fuse struct {
	at Point // zero: nothing happens, calls are counted only

	mu     sync.Mutex
	armed  bool           // guarded by mu
	blown  bool           // guarded by mu
	counts map[string]int // by name; guarded by mu
	points []Point        // in the order of the calls; guarded by mu
}

// NewFuse is a fuse that blows at a point; the zero point: never.
func NewFuse(at Point) *Fuse { return &Fuse{at: at, counts: map[string]int{}} }

// Arm begins to count, or stops to.
func (f *Fuse) Arm(armed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = armed
}

// Judge is the fate of a call: death at the point, once.
func (f *Fuse) Judge(c Call) Fate {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed || f.blown || c.Quiet {
		return Fate{}
	}
	f.counts[c.What]++
	p := Point{Seam: c.Seam, What: c.What, Nth: f.counts[c.What], Inside: c.Inside}
	f.points = append(f.points, p)
	if !c.Inside && !c.Inward {
		p.After = true
		f.points = append(f.points, p)
	}
	if f.at.What != c.What || f.at.Nth != p.Nth {
		return Fate{}
	}
	f.blown = true
	if f.at.After {
		return Fate{Deed: DieAfter}
	}
	return Fate{Deed: DieBefore}
}

// Blown reports whether the point was reached.
func (f *Fuse) Blown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown
}

// Points are the points that the scenario had while the fuse was armed.
func (f *Fuse) Points() []Point {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.points[:len(f.points):len(f.points)]
}
