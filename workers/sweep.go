package workers

import (
	"context"
	"errors"
	"time"

	"tidings"
	"tidings/internal/lanes"
)

const (
	sweepPage = 500 // rows of one statement
	sweepMax  = 20  // pages of one sweep; the next goes on
	holdPage  = 200
)

// sweep looks through the log for what no wake told of.
func (d *dispatcher) sweep(ctx context.Context, now time.Time) {
	d.expire(ctx)
	d.closeLeases(ctx)
	answers := true // one question that the broker does not answer is enough
	for _, s := range d.w.senders {
		answers = answers && d.findLost(ctx, s)
		d.feed(ctx, s)
	}
	d.gauge(ctx, now)
	d.stuck = false
	d.releaseHolds(ctx)
}

// expire ends what is of no more use, so that nothing shows as live because its lane stands still.
func (d *dispatcher) expire(ctx context.Context) {
	for range sweepMax {
		n, err := d.w.Store.Expire(ctx, time.Now().UTC(), sweepPage)
		if err != nil {
			d.trouble(ctx, "expire deliveries", err)
		}
		if err != nil || n < sweepPage {
			return
		}
	}
}

// findLost parks the deliveries that are queued in the log and in the lane no more. It reports
// whether the broker answers.
func (d *dispatcher) findLost(ctx context.Context, s *sender) bool {
	if s.paused.Load() {
		return true // nothing is handed out, so nothing can be told
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	depth, err := d.w.Lanes.Depth(ctx, s.lane)
	if err != nil {
		d.trouble(ctx, "measure lane "+string(s.lane), err)
		return !errors.Is(err, lanes.ErrUnavailable)
	}
	empty, horizon, wait := depth == lanes.Depth{}, now, s.claimWait()
	if !empty {
		if horizon, err = d.w.Lanes.Horizon(ctx, s.lane, now); err != nil {
			d.trouble(ctx, "see the horizon of "+string(s.lane), err)
			return !errors.Is(err, lanes.ErrUnavailable)
		}
	}
	if horizon.After(now) {
		horizon = now // a stamp from a clock that is ahead
	}
	d.sights[s.lane].see(now, horizon, wait)
	if before, ok := d.sights[s.lane].lost(now, wait, time.Duration(d.w.skew.Load()), empty); ok {
		d.takeBack(ctx, s, before, now)
	}
	return true
}

// takeBack parks what was queued before an instant and is lost.
func (d *dispatcher) takeBack(ctx context.Context, s *sender, before, now time.Time) {
	for range sweepMax {
		n, err := d.w.Store.Lost(ctx, s.lane, before, now, sweepPage)
		if err != nil {
			d.trouble(ctx, "find what is lost of "+string(s.lane), err)
			return
		}
		if n > 0 {
			d.w.Log.Warn("deliveries were queued and not in their lane: they go there again", "lane", s.lane, "deliveries", n)
		}
		if n < sweepPage {
			return
		}
	}
}

// claimWait is how long what was handed out may take to be claimed: for bulk an entry may come
// again after its ack wait.
func (s *sender) claimWait() time.Duration {
	if s.lane.Priority() == tidings.Urgent {
		return publishGrace
	}
	return s.config.AckWait
}

// gauge counts the lanes in the log, for the metrics, for intake's sense of room, and for what
// was parked by others.
func (d *dispatcher) gauge(ctx context.Context, now time.Time) {
	stats, err := d.w.Store.LaneStats(ctx, now)
	if err != nil {
		d.trouble(ctx, "count the lanes", err)
		return
	}
	m := d.w.Metrics
	for lane, s := range d.w.senders {
		l := stats[lane]
		shut, _ := s.shut(now)
		d.w.Lanes.Gauge(lane, l.Queued, s.paused.Load() || shut || d.waits[lane].backlog)
		if !l.NextDue.IsZero() {
			d.wakeLane(lane, latest(l.NextDue, now.Add(feedAgain)))
		}
		m.LaneDepth.WithLabelValues(string(lane)).Set(float64(l.Due + l.Turn + l.Queued))
		m.DueRows.WithLabelValues(string(lane)).Set(float64(l.Due + l.Turn))
		age := 0.0
		if !l.Oldest.IsZero() {
			age = max(0, now.Sub(l.Oldest).Seconds())
		}
		m.LaneOldestDue.WithLabelValues(string(lane)).Set(age)
	}
}

// releaseHolds hands holds whose time has come to intake, which decides again.
func (d *dispatcher) releaseHolds(ctx context.Context) {
	for range sweepMax {
		now := time.Now().UTC()
		holds, of, err := d.w.Store.DueHolds(ctx, now, holdPage)
		if err == nil && len(holds) == 0 {
			break
		}
		if err == nil {
			err = d.w.Release(ctx, holds, of, now)
		}
		if err != nil {
			d.trouble(ctx, "release holds", err)
			d.holdAt, d.stuck = time.Time{}, true
			return
		}
	}
	d.seeHolds(ctx)
}

// seeHolds finds out when the next hold is due, also of those that others have made or moved.
func (d *dispatcher) seeHolds(ctx context.Context) {
	if d.stuck {
		return
	}
	next, err := d.w.Store.NextHold(ctx)
	if err != nil {
		d.trouble(ctx, "find the next hold", err)
	}
	d.holdAt = next
}
