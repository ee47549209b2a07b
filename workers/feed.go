package workers

import (
	"context"
	"errors"
	"time"

	"tidings"
	"tidings/internal/lanes"
)

const (
	// feedChunk bounds the deliveries of one move from parked to queued.
	feedChunk = 500
	// feedAgain is the pause while due deliveries wait for room in their lane.
	feedAgain = 50 * time.Millisecond
	// afterBacklog is how long after a lane is open again the dispatcher looks once more, for what
	// was accepted as parked just before.
	afterBacklog = 250 * time.Millisecond
)

// A wait is what the dispatcher knows of what waits in the log for a lane.
type wait struct {
	backlog bool      // due deliveries wait for room
	behind  time.Time // since when, while the lane is worked; zero: they do not
	late    time.Time // when the first of what waits is fresh work no more; zero: never
	aside   bool      // late work waits aside
}

// feed moves the due deliveries of a lane from the log into the lane while it has room. A lane
// is open to direct publishing only when nothing due waits beside it, else the new would
// overtake the old.
func (d *dispatcher) feed(ctx context.Context, s *sender) {
	now, w := time.Now(), d.waits[s.lane]
	if shut, until := s.shut(now); s.paused.Load() || shut {
		d.w.Lanes.CloseLane(s.lane, true)
		w.backlog, w.behind = true, time.Time{}
		if shut && !s.paused.Load() {
			d.wakeLane(s.lane, latest(until, now.Add(feedAgain)))
		}
		return
	}
	depth := d.w.Lanes.Bound(s.lane, s.pull(now, !w.behind.IsZero() && now.Sub(w.behind) >= laneSpan).depth())
	if w.backlog && d.w.Lanes.Space(s.lane) < depth/topUp {
		d.wakeLane(s.lane, now.Add(feedAgain))
		return
	}
	more, err := d.fill(ctx, s, depth)
	d.w.Lanes.CloseLane(s.lane, more)
	switch {
	case err != nil:
		d.trouble(ctx, "publish to "+string(s.lane), err)
		d.wakeLane(s.lane, now.Add(troubled))
	case more, w.aside:
		d.wakeLane(s.lane, now.Add(feedAgain))
	case w.backlog:
		d.wakeLane(s.lane, now.Add(afterBacklog))
	}
	if w.backlog = more; !more {
		w.behind = time.Time{}
	} else if w.behind.IsZero() {
		w.behind = now
	}
}

// fill fills the lane with what is due, and with late work when that leaves it idle. It reports
// whether more is due than the lane could take.
func (d *dispatcher) fill(ctx context.Context, s *sender, depth int) (more bool, err error) {
	more, err = d.setAside(ctx, s)
	if err == nil && !more {
		more, err = d.fillDue(ctx, s.lane)
		if more {
			return more, err
		}
	}
	if err != nil {
		return more, err
	}
	return more, d.fillLate(ctx, s.lane, depth)
}

// fillDue reports whether more is due than the lane could take.
func (d *dispatcher) fillDue(ctx context.Context, lane tidings.Lane) (more bool, err error) {
	for ctx.Err() == nil {
		room := min(d.w.Lanes.Space(lane), feedChunk)
		if room == 0 {
			return true, nil
		}
		stamp := time.Now().UTC().Truncate(time.Microsecond)
		ids, err := d.w.Store.Due(ctx, lane, stamp, room)
		if err != nil {
			return true, err
		}
		if len(ids) > 0 {
			if err := d.publish(ctx, lane, stamp, ids); err != nil {
				return true, err
			}
		}
		if len(ids) < room {
			return false, nil
		}
	}
	return true, ctx.Err()
}

// publish puts ids into the lane, and back to parked those that it did not take: at once when
// the lane is full, else when a publish whose answer was lost would have arrived.
func (d *dispatcher) publish(ctx context.Context, lane tidings.Lane, stamp time.Time, ids []tidings.DeliveryID) error {
	failed, err := d.w.Lanes.Publish(ctx, lane, stamp, ids)
	if len(failed) == 0 {
		return nil
	}
	due := stamp
	if !errors.Is(err, lanes.ErrFull) {
		due = stamp.Add(publishGrace)
	}
	ctx = context.WithoutCancel(ctx) // else they would wait to be found lost
	return errors.Join(err, d.w.Store.Unqueue(ctx, failed, stamp, due))
}
