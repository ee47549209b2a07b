package api

import (
	"log/slog"
	"slices"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/strict"
	"tidings/api/wire"
	"tidings/internal/store"
)

func (s *service) listLanes(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	all, err := s.lanes(c)
	if err != nil {
		return nil, err
	}
	return ok(wire.Lanes{Data: all}), nil
}

func (s *service) pauseLane(c *call) (*answer, error)  { return s.setPaused(c, true) }
func (s *service) resumeLane(c *call) (*answer, error) { return s.setPaused(c, false) }

func (s *service) setPaused(c *call, paused bool) (*answer, error) {
	return s.switchLane(c, &wire.Nothing{}, func(name tidings.Lane) error {
		return s.Store.SetLanePaused(c.Context(), name, paused, c.now)
	})
}

func (s *service) patchLane(c *call) (*answer, error) {
	var in wire.LaneChange
	return s.switchLane(c, &in, func(name tidings.Lane) error {
		c.notes = append(c.notes, slog.Float64("rate_per_second", float64(in.RatePerSecond)))
		return s.Store.SetLaneRate(c.Context(), name, float64(in.RatePerSecond))
	})
}

// rebuildLane makes a lane again, empty, and parks what is queued, for the dispatcher to publish
// anew: what was in the lane is in the log. What a worker has in hand and has not claimed by then
// is published again too, and claimed once.
func (s *service) rebuildLane(c *call) (*answer, error) {
	return s.switchLane(c, &wire.Nothing{}, func(name tidings.Lane) error {
		if err := s.RebuildLane(c.Context(), name); err != nil {
			s.Log.Error("a lane is not made again", "lane", name, "error", err)
			return problem.New(problem.NotReady, "the broker cannot make the lane again now; try again").Retry(time.Second)
		}
		n, err := s.Store.Requeue(c.Context(), name, c.now)
		c.notes = append(c.notes, slog.Int("deliveries", n))
		return err
	})
}

// switchLane reads what is asked for, changes the lane that the path names, lets the workers of
// this process know, and answers how the lane stands.
func (s *service) switchLane(c *call, in strict.Reader, change func(tidings.Lane) error) (*answer, error) {
	name := tidings.Lane(c.PathValue("lane"))
	if !slices.Contains(s.Lanes, name) {
		return nil, problem.New(problem.NotFound, "there is no such lane")
	}
	if err := c.read(in); err != nil {
		return nil, err
	}
	c.notes = append(c.notes, slog.String("lane", string(name)))
	if err := change(name); err != nil {
		return nil, err
	}
	if s.LanesChanged != nil {
		s.LanesChanged(c.Context())
	}
	all, err := s.lanes(c)
	if err != nil {
		return nil, err
	}
	return ok(all[slices.Index(s.Lanes, name)]), nil
}

// lanes is how all lanes stand, in configured order.
func (s *service) lanes(c *call) ([]wire.Lane, error) {
	stats, err := s.Store.LaneStats(c.Context(), c.now)
	if err != nil {
		return nil, err
	}
	states, err := s.Store.LaneStates(c.Context())
	if err != nil {
		return nil, err
	}
	drain, err := s.Store.Drain(c.Context(), c.now)
	if err != nil {
		return nil, err
	}
	out := make([]wire.Lane, 0, len(s.Lanes))
	for _, name := range s.Lanes {
		l := lane(name, stats[name], c.now)
		l.Limit = s.Limits[name]
		if i := slices.IndexFunc(states, func(st store.LaneState) bool { return st.Lane == name }); i >= 0 {
			l.Paused, l.RatePerSecond = states[i].Paused, wire.Rate(states[i].Rate)
		}
		l.DrainPerSecond = drain[name]
		out = append(out, l)
	}
	return out, nil
}

func lane(name tidings.Lane, st store.LaneStats, now time.Time) wire.Lane {
	l := wire.Lane{Name: name, Depth: st.Due + st.Turn + st.Queued, InFlight: st.Sending, Parked: st.Parked}
	if !st.Oldest.IsZero() {
		l.OldestAgeSeconds = max(0, now.Sub(st.Oldest).Seconds())
	}
	return l
}
