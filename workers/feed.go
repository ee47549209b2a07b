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

// feed moves the due deliveries of a lane from the log into the lane while it has room. A lane
// is open to direct publishing only when nothing due waits beside it, else the new would
// overtake the old.
func (d *dispatcher) feed(ctx context.Context, s *sender) {
	now := time.Now()
	if shut, until := s.shut(now); s.paused.Load() || shut {
		d.w.Lanes.CloseLane(s.lane, true)
		d.backlog[s.lane] = true
		delete(d.behind, s.lane)
		if shut && !s.paused.Load() {
			d.wakeLane(s.lane, latest(until, now.Add(feedAgain)))
		}
		return
	}
	since, behind := d.behind[s.lane]
	depth := d.w.Lanes.Bound(s.lane, s.pull(now, behind && now.Sub(since) >= laneSpan).depth())
	if d.backlog[s.lane] && d.w.Lanes.Space(s.lane) < depth/topUp {
		d.wakeLane(s.lane, now.Add(feedAgain))
		return
	}
	more, err := d.fill(ctx, s.lane)
	d.w.Lanes.CloseLane(s.lane, more)
	switch {
	case err != nil:
		d.trouble(ctx, "publish to "+string(s.lane), err)
		d.wakeLane(s.lane, now.Add(troubled))
	case more:
		d.wakeLane(s.lane, now.Add(feedAgain))
	case d.backlog[s.lane]:
		d.wakeLane(s.lane, now.Add(afterBacklog))
	}
	if d.backlog[s.lane] = more; !more {
		delete(d.behind, s.lane)
	} else if !behind {
		d.behind[s.lane] = now
	}
}

// fill reports whether more is due than the lane could take.
func (d *dispatcher) fill(ctx context.Context, lane tidings.Lane) (more bool, err error) {
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
