package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tidings"
)

// A count of what waits for a lane costs about a fifth of a microsecond a row. Up to exactUpTo
// rows it is taken whenever it is asked for; one of more may be older by countAge for each row,
// so that counting takes a fiftieth of a processor at most.
const (
	exactUpTo = 20_000
	countAge  = 10 * time.Microsecond
)

// counted is what LaneStats counted last.
type counted struct {
	mu   sync.Mutex
	at   time.Time                  // guarded by mu
	rows int                        // guarded by mu
	each map[tidings.Lane]LaneStats // guarded by mu; never changed once it is here
}

// recent is the last count while it is recent enough; nil: none is.
func (c *counted) recent(at time.Time) map[tidings.Lane]LaneStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows <= exactUpTo || at.Sub(c.at) > time.Duration(c.rows)*countAge {
		return nil
	}
	return c.each
}

func (c *counted) keep(at time.Time, each map[tidings.Lane]LaneStats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.rows, c.each = at, 0, each
	for _, st := range each {
		c.rows += st.Parked + st.Due + st.Turn + st.Unknown
	}
}

// LaneStats counts the live deliveries by lane; a lane without any is absent. Where more than
// 20,000 wait, the counts of what is parked, due, waiting for its turn and unknown may be some seconds old: ten for a
// million.
func (s *Store) LaneStats(ctx context.Context, now time.Time) (map[tidings.Lane]LaneStats, error) {
	began := time.Now()
	recent := s.counted.recent(began)
	var out, waiting map[tidings.Lane]LaneStats
	err := s.read(ctx, func(t *tx) (err error) {
		if out, err = t.laneHeads(now); err != nil {
			return err
		}
		if waiting = recent; waiting == nil {
			waiting, err = t.laneWaiting(now)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count lanes: %w", err)
	}
	if recent == nil {
		s.counted.keep(began, waiting)
	}
	for lane, w := range waiting {
		st := out[lane]
		st.Parked, st.Due, st.Turn, st.Unknown = w.Parked, w.Due, w.Turn, w.Unknown
		out[lane] = st
	}
	return out, nil
}

// LaneHeads is LaneStats without the counts of what is parked, due, waiting for its turn and unknown. It costs little
// however much waits.
func (s *Store) LaneHeads(ctx context.Context, now time.Time) (map[tidings.Lane]LaneStats, error) {
	var out map[tidings.Lane]LaneStats
	err := s.read(ctx, func(t *tx) (err error) {
		out, err = t.laneHeads(now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at the heads of lanes: %w", err)
	}
	return out, nil
}

func (t *tx) laneHeads(now time.Time) (map[tidings.Lane]LaneStats, error) {
	all, out := tidings.Lanes(), map[tidings.Lane]LaneStats{}
	err := t.each("lane_head", len(all), func(i int) []any { return []any{string(all[i]), now.UnixMicro()} }, func(i int, r row) error {
		var st LaneStats
		var queued, turn time.Time
		if err := r.Scan(instant{&st.NextDue}, instant{&queued}, &st.Queued, &st.Sending, instant{&st.Late}, &st.Aside, instant{&turn}); err != nil {
			return err
		}
		st.Oldest, st.Turns = queued, !turn.IsZero()
		for _, at := range []time.Time{st.NextDue, turn} {
			if !at.IsZero() && !at.After(now) && (st.Oldest.IsZero() || at.Before(st.Oldest)) {
				st.Oldest = at
			}
		}
		if st != (LaneStats{}) {
			out[all[i]] = st
		}
		return nil
	})
	return out, err
}

func (t *tx) laneWaiting(now time.Time) (map[tidings.Lane]LaneStats, error) {
	all, out := tidings.Lanes(), map[tidings.Lane]LaneStats{}
	err := t.each("lane_waiting", len(all), func(i int) []any { return []any{string(all[i]), now.UnixMicro()} }, func(i int, r row) error {
		var st LaneStats
		err := r.Scan(&st.Parked, &st.Due, &st.Turn, &st.Unknown)
		if st.Parked -= st.Due + st.Turn; st != (LaneStats{}) {
			out[all[i]] = st
		}
		return err
	})
	return out, err
}

// LaneStates lists the lanes that an operator has touched.
func (s *Store) LaneStates(ctx context.Context) ([]LaneState, error) {
	var out []LaneState
	err := s.read(ctx, func(t *tx) (err error) {
		out, err = t.laneStates()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	return out, nil
}

func (t *tx) laneStates() (out []LaneState, err error) {
	err = t.query("lane_states", nil, func(r row) error {
		var l LaneState
		var rate *float64
		err := r.Scan(&l.Lane, instant{&l.Since}, &rate)
		l.Paused = !l.Since.IsZero()
		if rate != nil {
			l.Rate = *rate
		}
		out = append(out, l)
		return err
	})
	return out, err
}

// SetLanePaused pauses or resumes a lane.
func (s *Store) SetLanePaused(ctx context.Context, lane tidings.Lane, paused bool, now time.Time) error {
	since := time.Time{}
	if paused {
		since = now
	}
	err := s.write(ctx, Urgent, func(t *tx) error {
		if !paused {
			if err := t.endLanePause(lane, now); err != nil {
				return err
			}
		}
		_, err := t.exec("lane_pause", string(lane), micros(since))
		return err
	})
	if err != nil {
		return fmt.Errorf("pause or resume lane %s: %w", lane, err)
	}
	return nil
}

// SetLaneRate limits how many deliveries of a lane all processes together send in a second; 0 lifts the limit.
func (s *Store) SetLaneRate(ctx context.Context, lane tidings.Lane, perSecond float64) error {
	var rate *float64
	if perSecond > 0 {
		rate = &perSecond
	}
	err := s.write(ctx, Urgent, func(t *tx) error {
		_, err := t.exec("lane_rate", string(lane), rate)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the rate of lane %s: %w", lane, err)
	}
	return nil
}
