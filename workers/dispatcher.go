package workers

import (
	"context"
	"sync"
	"time"

	"tidings"
)

const (
	// look is how often the dispatcher reads what operators have set for the lanes.
	look = time.Second
	// measure is how often the clock is compared with the log's.
	measure = time.Minute
	// idle is how long the dispatcher sleeps when nothing is known to be due; sweeps end it.
	idle = time.Hour
)

// A dispatcher moves what is due: parked deliveries into their lanes, lost ones back, leases
// and waits that are over to their next state, holds to intake. Any number of processes may
// run one; the log keeps them from taking the same row.
type dispatcher struct {
	w    *Workers
	wake chan struct{} // holds one token when a due time came nearer

	mu   sync.Mutex
	next map[tidings.Lane]*dues // known due times; guarded by mu

	looking sync.Mutex // held from reading what operators have set until it is in force

	// Only the loop touches what follows.
	waits   map[tidings.Lane]*wait
	sights  map[tidings.Lane]*sights
	sweepAt time.Time
	holdAt  time.Time // when the earliest hold is due; zero: none
	stuck   bool      // holds could not be released: the next sweep tries again
	lookAt  time.Time
	skewAt  time.Time
}

func newDispatcher(w *Workers) *dispatcher {
	now := time.Now()
	d := &dispatcher{w: w, wake: make(chan struct{}, 1), next: map[tidings.Lane]*dues{}, waits: map[tidings.Lane]*wait{},
		sights: map[tidings.Lane]*sights{}, skewAt: now.Add(measure)}
	for lane := range w.senders {
		d.sights[lane], d.waits[lane] = &sights{}, &wait{}
	}
	return d
}

// wakeLane tells the dispatcher that something of a lane is due at that time.
func (d *dispatcher) wakeLane(lane tidings.Lane, at time.Time) {
	d.mu.Lock()
	known := d.next[lane]
	if known == nil {
		known = &dues{}
		d.next[lane] = known
	}
	nearer := known.add(at)
	d.mu.Unlock()
	if !nearer {
		return
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *dispatcher) run(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		d.periodic(ctx, now)
		for _, lane := range d.due(now) {
			d.feed(ctx, d.w.senders[lane])
		}
		if !d.sweepAt.After(now) {
			d.sweep(ctx, now)
			d.sweepAt = now.Add(d.w.Config.Delivery.Sweep)
		}
		if !d.holdAt.IsZero() && !d.holdAt.After(now) {
			d.releaseHolds(ctx)
		}
		d.sleep(ctx)
	}
}

func (d *dispatcher) periodic(ctx context.Context, now time.Time) {
	if !d.lookAt.After(now) {
		d.lookAt = now.Add(look)
		d.lookAround(ctx, now)
		d.seeParked(ctx, now)
		d.seeHolds(ctx)
		d.flushDigests(ctx)
	}
	if !d.skewAt.After(now) {
		d.skewAt = now.Add(measure)
		if err := d.w.measureSkew(ctx); err != nil {
			d.w.Log.Warn("clock is not compared", "error", err)
		}
	}
}

// due takes the lanes that have something due at now off the list.
func (d *dispatcher) due(now time.Time) (lanes []tidings.Lane) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for lane, next := range d.next {
		if next.take(now) {
			lanes = append(lanes, lane)
		}
	}
	return lanes
}

func (d *dispatcher) sleep(ctx context.Context) {
	now := time.Now()
	until := now.Add(idle)
	for _, at := range []time.Time{d.nearest(), d.sweepAt, d.holdAt, d.lookAt, d.skewAt} {
		if !at.IsZero() && at.Before(until) {
			until = at
		}
	}
	timer := time.NewTimer(until.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.wake:
	case <-ctx.Done():
	}
}

func (d *dispatcher) nearest() (nearest time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, next := range d.next {
		if len(*next) > 0 && (nearest.IsZero() || (*next)[0].Before(nearest)) {
			nearest = (*next)[0]
		}
	}
	return nearest
}

// lookAround takes over what operators have set, and shows the gauges that change by the second.
// Whoever switched a lane calls it beside the loop.
func (d *dispatcher) lookAround(ctx context.Context, now time.Time) {
	d.looking.Lock()
	defer d.looking.Unlock()
	m := d.w.Metrics
	for _, g := range d.w.gates {
		g.setRate(d.w.crew.share(g.PerSecond), now)
		state, asked := g.state(now)
		m.BreakerState.WithLabelValues(g.Name).Set(float64(state))
		m.ProviderPaused.WithLabelValues(g.Name).Set(map[bool]float64{true: 1}[asked])
	}
	states, err := d.w.Store.LaneStates(ctx)
	if err != nil {
		d.trouble(ctx, "read the states of lanes", err)
		return
	}
	paused, rate := map[tidings.Lane]bool{}, map[tidings.Lane]float64{}
	for _, s := range states {
		paused[s.Lane], rate[s.Lane] = s.Paused, s.Rate
	}
	for lane, s := range d.w.senders {
		m.LaneInFlight.WithLabelValues(string(lane)).Set(float64(s.open.Load()))
		m.DrainPerSecond.WithLabelValues(string(lane)).Set(s.meter.perSecond(now))
		m.LanePaused.WithLabelValues(string(lane)).Set(map[bool]float64{true: 1}[paused[lane]])
		if s.pace.set(d.w.crew.share(rate[lane])) {
			s.wake()
		}
		if s.paused.Swap(paused[lane]) == paused[lane] {
			continue
		}
		d.w.Log.Info("lane is paused or resumed", "lane", lane, "paused", paused[lane])
		d.w.Lanes.CloseLane(lane, true) // until feed has seen what waits
		d.wakeLane(lane, now)
		s.wake()
	}
}

// seeParked finds out what waits in the log, also what other processes have parked.
func (d *dispatcher) seeParked(ctx context.Context, now time.Time) {
	heads, err := d.w.Store.LaneHeads(ctx, now.UTC())
	if err != nil {
		d.trouble(ctx, "look at the heads of lanes", err)
		return
	}
	for lane, w := range d.waits {
		head := heads[lane]
		w.late, w.aside = head.Late, head.Aside
		if !head.NextDue.IsZero() {
			d.wakeLane(lane, latest(head.NextDue, now.Add(feedAgain)))
		}
		if head.Aside || !head.Late.IsZero() && !head.Late.After(now) {
			d.wakeLane(lane, now.Add(feedAgain))
		}
		d.forward(ctx, d.w.senders[lane], head, now)
	}
}

// trouble logs what could not be done; the next round tries again.
func (d *dispatcher) trouble(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		d.w.Log.Error("dispatcher cannot "+what, "error", err)
	}
}
