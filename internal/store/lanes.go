package store

import (
	"context"
	"fmt"
	"time"

	"tidings"
)

// LaneStats counts the live deliveries by lane; a lane without any is absent.
func (s *Store) LaneStats(ctx context.Context, now time.Time) (map[tidings.Lane]LaneStats, error) {
	out := map[tidings.Lane]LaneStats{}
	err := s.read(ctx, func(t *tx) error {
		clear(out)
		return t.query("lane_stats", []any{now.UnixMicro()}, func(r row) error {
			var lane tidings.Lane
			var status tidings.Status
			var all, due int
			var first time.Time
			if err := r.Scan(&lane, &status, &all, &due, instant{&first}); err != nil {
				return err
			}
			st := out[lane]
			st.add(status, all, due, first, now)
			out[lane] = st
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("count lanes: %w", err)
	}
	return out, nil
}

// add counts the deliveries of one status, whose earliest due time is first.
func (st *LaneStats) add(status tidings.Status, all, due int, first, now time.Time) {
	switch status {
	case tidings.Parked:
		st.Parked, st.Due, st.NextDue = all-due, due, first
		if first.After(now) {
			return
		}
	case tidings.Queued:
		st.Queued = all
	case tidings.Sending:
		st.Sending = all
		return
	default:
		st.Unknown = all
		return
	}
	if st.Oldest.IsZero() || first.Before(st.Oldest) {
		st.Oldest = first
	}
}

// LaneStates lists the lanes that an operator has touched.
func (s *Store) LaneStates(ctx context.Context) ([]LaneState, error) {
	var out []LaneState
	err := s.read(ctx, func(t *tx) error {
		out = nil
		return t.query("lane_states", nil, func(r row) error {
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
	})
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	return out, nil
}

// SetLanePaused pauses or resumes a lane.
func (s *Store) SetLanePaused(ctx context.Context, lane tidings.Lane, paused bool, now time.Time) error {
	since := time.Time{}
	if paused {
		since = now
	}
	err := s.write(ctx, Urgent, func(t *tx) error {
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
