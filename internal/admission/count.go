package admission

import (
	"context"
	"maps"
	"time"

	"tidings"
	"tidings/internal/store"
)

// How often what waits is counted. Between counts this process adds what it accepts.
const (
	countCalm  = 5 * time.Second        // while little waits
	countBusy  = time.Second            // while a lane is filling
	countSoon  = 100 * time.Millisecond // when work was refused: it may fit by now
	countShare = 50                     // a count of so long is followed by a pause of that many times its span
	countWait  = 10 * time.Second       // for the log's answer
)

// keepCounting counts until ctx ends.
func (d *Door) keepCounting(ctx context.Context) {
	defer close(d.done)
	busy := false
	for cost := time.Duration(0); ; {
		if !d.pause(ctx, busy, countShare*cost) {
			return
		}
		began := time.Now()
		var err error
		if busy, err = d.count(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("what waits for the lanes is not counted", "error", err)
		}
		cost = time.Since(began)
	}
}

// pause waits until the next count is due or wanted; false: ctx has ended.
func (d *Door) pause(ctx context.Context, busy bool, least time.Duration) bool {
	soon, most := max(countSoon, least), countCalm
	if busy {
		most = countBusy
	}
	if !sleep(ctx, soon, nil) {
		return false
	}
	return sleep(ctx, max(0, most-soon), d.poke)
}

// sleep waits for a span or until it is poked; false: ctx has ended.
func sleep(ctx context.Context, span time.Duration, poke <-chan struct{}) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-poke:
	case <-timer.C:
	}
	return true
}

// count takes over what the log says, and reports whether a lane is filling.
func (d *Door) count(ctx context.Context) (busy bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, countWait)
	defer cancel()
	now := time.Now().UTC()
	settled, apart := d.before()
	waiting, err := d.Store.Waiting(ctx, now, d.counted, apart)
	if err != nil {
		return true, err
	}
	span := now.Sub(d.counted)
	d.counted = now
	return d.takeOver(waiting, settled, span, now), nil
}

// before is what the log will know when it is asked from now on, and of which lanes it must tell
// the apps apart.
func (d *Door) before() (settled map[tidings.Lane]map[string]int, apart []tidings.Lane) {
	d.mu.Lock()
	defer d.mu.Unlock()
	settled = map[tidings.Lane]map[string]int{}
	for name, l := range d.lanes {
		settled[name] = maps.Clone(l.since)
		if l.contended() {
			apart = append(apart, name)
		}
	}
	return settled, apart
}

func (d *Door) takeOver(waiting map[tidings.Lane]store.Waiting, settled map[tidings.Lane]map[string]int, span time.Duration, now time.Time) (busy bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, l := range d.lanes {
		w := waiting[name]
		l.drain.see(l.total-l.turn, w.Came, w.Queued+w.Due, span, now)
		l.total, l.turn, l.late, l.apps = w.Queued+w.Due+w.Turn, w.Turn, w.Late, w.Apps
		for app, n := range settled[name] {
			l.take(l.since, app, n)
		}
		busy = busy || max(l.waiting(), l.late) > min(l.limit(), l.bound.Short)/4
		if l.apps == nil && l.contended() {
			d.wake() // it became so since the count was asked for
		}
		if d.Gauge != nil {
			d.Gauge(name, w.Queued, w.Due > 0)
		}
	}
	return busy
}
