package api

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"tidings"
	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/store"
	"tidings/templates"
)

func (s *service) getCatalog(c *call) (*answer, error) {
	if err := c.onlyQuery(); err != nil {
		return nil, err
	}
	_, version := s.Catalogue()
	return s.catalog(c, version)
}

func (s *service) putCatalog(c *call) (*answer, error) {
	var in wire.CatalogChange
	if err := c.read(&in); err != nil {
		return nil, err
	}
	now, current := s.Catalogue()
	if in.Version != nil && *in.Version != current || in.Hash != nil && *in.Hash != now.Hash {
		return nil, problem.New(problem.VersionConflict, "the catalogue was published since; read it again")
	}
	version, err := s.Publish(c.Context(), in.Files)
	var faults templates.Problems
	if errors.As(err, &faults) {
		return nil, catalogProblem(faults)
	}
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, slog.Int64("catalog_version", version))
	return s.catalog(c, version)
}

func (s *service) catalog(c *call, version int64) (*answer, error) {
	stored, err := s.Store.Catalog(c.Context(), version)
	if err != nil {
		return nil, err
	}
	return ok(wire.Catalog{Version: stored.Version, Hash: stored.Hash, Files: stored.Files}), nil
}

func catalogProblem(all templates.Problems) error {
	p := problem.New(problem.InvalidInput, all.Error())
	for _, one := range all {
		detail := templates.Problems{one}.Error()
		p.Errors = append(p.Errors, problem.At{Pointer: pointer("files", one.File), Detail: detail})
	}
	return p
}

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
	name := tidings.Lane(c.PathValue("lane"))
	if !slices.Contains(s.Lanes, name) {
		return nil, problem.New(problem.NotFound, "there is no such lane")
	}
	if err := c.read(&wire.Nothing{}); err != nil {
		return nil, err
	}
	if err := s.Store.SetLanePaused(c.Context(), name, paused, c.now); err != nil {
		return nil, err
	}
	if s.LanesSwitched != nil {
		s.LanesSwitched(c.Context())
	}
	c.notes = append(c.notes, slog.String("lane", string(name)))
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
	out := make([]wire.Lane, 0, len(s.Lanes))
	for _, name := range s.Lanes {
		l := lane(name, stats[name], c.now)
		l.Limit = s.Limits[name]
		l.Paused = slices.ContainsFunc(states, func(st store.LaneState) bool { return st.Lane == name && st.Paused })
		if s.LaneMeter != nil {
			l.DrainPerSecond = s.LaneMeter.DrainPerSecond(name)
		}
		out = append(out, l)
	}
	return out, nil
}

func lane(name tidings.Lane, st store.LaneStats, now time.Time) wire.Lane {
	l := wire.Lane{Name: name, Depth: st.Due + st.Queued, InFlight: st.Sending, Parked: st.Parked}
	if !st.Oldest.IsZero() {
		l.OldestAgeSeconds = max(0, now.Sub(st.Oldest).Seconds())
	}
	return l
}
