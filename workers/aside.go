package workers

import (
	"context"
	"time"

	"tidings"
)

// asidePages bounds the pages of late work that are set aside in one turn of a lane.
const asidePages = 4

// setAside takes what is fresh work no more out of the way of what is. It reports whether more
// of that is left than one turn sets aside: what is due may then still be late.
func (d *dispatcher) setAside(ctx context.Context, s *sender) (more bool, err error) {
	w := d.waits[s.lane]
	for range asidePages {
		now := time.Now().UTC()
		if w.late.IsZero() || w.late.After(now) {
			return false, nil
		}
		n, err := d.w.Store.Sideline(ctx, s.lane, now.Truncate(time.Microsecond), s.config.SideRate, sweepPage)
		if err != nil {
			return true, err
		}
		w.aside = w.aside || n > 0
		if n < sweepPage {
			w.late = time.Time{} // until the next look
		}
	}
	return !w.late.IsZero(), nil
}

// fillLate lets late work go before its turn while nothing fresh needs the lane. It fills a part of
// the lane only, so that what is fresh and comes next does not wait for long.
func (d *dispatcher) fillLate(ctx context.Context, lane tidings.Lane, depth int) error {
	w := d.waits[lane]
	room := min(d.w.Lanes.Space(lane)-depth+max(1, depth/topUp), feedChunk)
	if !w.aside || room <= 0 {
		return nil
	}
	stamp := time.Now().UTC().Truncate(time.Microsecond)
	ids, err := d.w.Store.Aside(ctx, lane, stamp, room)
	if err != nil {
		return err
	}
	w.aside = len(ids) == room
	if len(ids) == 0 {
		return nil
	}
	return d.publish(ctx, lane, stamp, ids)
}
