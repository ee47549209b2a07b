package workers

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/internal/store"
)

const (
	// beatEvery is how often a process notes in the log that it works the lanes.
	beatEvery = 2 * time.Second
	// beatSilent is how long one may be silent before the others take its share: three beats, and
	// clocks that differ by as much as is believed.
	beatSilent = 3*beatEvery + maxSkew
	// leaveWait is how long a process that ends waits for the log to take note.
	leaveWait = time.Second
)

// A crew is the processes that work the lanes together, as the log last told. A rate that holds
// for all of them is shared: each takes one part.
type crew struct {
	store *store.Store
	id    store.ProcessID
	live  atomic.Int32 // this process included
}

func newCrew(s *store.Store) *crew {
	c := &crew{store: s}
	c.live.Store(1)
	_, _ = rand.Read(c.id[:]) // never fails
	return c
}

// beat notes that this process is alive, what it finished and which providers it leaves alone, and reports whether the number of
// those that are alive has changed. While the log does not answer, the last number holds.
func (c *crew) beat(ctx context.Context, now time.Time, finished map[tidings.Lane]int, pauses []store.Pause) (changed bool, err error) {
	live, err := c.store.Beat(ctx, store.Beat{Process: c.id, Now: now.UTC(), Silent: beatSilent, Finished: finished, Pauses: pauses})
	if err != nil {
		return false, err
	}
	live = max(1, live)
	return c.live.Swap(int32(live)) != int32(live), nil
}

// share is this process's part of a rate that all processes have together.
func (c *crew) share(rate float64) float64 { return rate / float64(c.live.Load()) }

// join takes this process into the crew before it works, so that the rates are shared from the
// first call on.
func (w *Workers) join(ctx context.Context) error {
	_, err := w.crew.beat(ctx, time.Now(), nil, nil)
	return err
}

// beat tells the others what this process finished, and the trails which providers it leaves alone.
func (w *Workers) beat(ctx context.Context, now time.Time) {
	finished := map[tidings.Lane]int{}
	for lane, s := range w.senders {
		if n := s.meter.tell(); n > 0 {
			finished[lane] = n
		}
	}
	pauses, heard := w.pauses()
	changed, err := w.crew.beat(ctx, now, finished, pauses)
	if err == nil {
		heard()
	} else {
		for lane, n := range finished {
			w.senders[lane].meter.keep(n)
		}
		if ctx.Err() == nil {
			w.Log.Warn("the other processes are not told that this one works", "error", err)
		}
	}
	if changed { // who uses a share asks for it anew within a second
		w.Log.Info("rates are shared anew", "processes", w.crew.live.Load())
	}
}

// keepJoined beats until ctx ends.
func (w *Workers) keepJoined(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			w.beat(ctx, now)
		}
	}
}

// leave hands this process's share to the others at once. It has a moment of its own also when
// there was no time to stop in.
func (w *Workers) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWait)
	defer cancel()
	if err := w.crew.store.Leave(ctx, w.crew.id); err != nil { // they take it when it was silent for long enough
		w.Log.Warn("the other processes are not told that this one leaves", "error", err)
	}
}
