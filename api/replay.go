package api

import (
	"errors"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/intake"
	"tidings/templates"
)

func (s *service) replayCatalog(c *call) (*answer, error) {
	var in wire.Replay
	if err := c.read(&in); err != nil {
		return nil, err
	}
	other, err := templates.Parse(in.Files)
	var faults templates.Problems
	if errors.As(err, &faults) {
		return nil, catalogProblem(faults)
	}
	if err != nil {
		return nil, err
	}
	_, version := s.Catalogue()
	r, err := s.Intake.Replay(c.Context(), other, in.Since.Time.Time)
	if err != nil {
		return nil, err
	}
	return ok(replayed(&r, version, in.Since.Time)), nil
}

func replayed(r *intake.Replay, version int64, since wire.Time) wire.Replayed {
	out := wire.Replayed{
		CatalogVersion: version, Since: since, Examined: r.Examined, Cut: r.Cut, Changed: r.Changed,
		Counts: make([]wire.DifferenceCount, len(r.Counts)), Differences: make([]wire.Difference, len(r.Differences)),
	}
	for i, n := range r.Counts {
		out.Counts[i] = wire.DifferenceCount{Type: n.Type, Channel: n.Channel, Before: ruling(n.Before), After: ruling(n.After), Count: n.Count}
	}
	for i, d := range r.Differences {
		out.Differences[i] = wire.Difference{ID: d.ID, Type: d.Type, UserID: d.UserID, Channel: d.Channel, Before: decided(d.Before), After: decided(d.After)}
	}
	return out
}

func ruling(v intake.Ruling) *wire.Outcome {
	if v == (intake.Ruling{}) {
		return nil
	}
	return &wire.Outcome{Action: v.Action, Reason: v.Reason}
}

func decided(d *tidings.Decision) *wire.Outcome {
	if d == nil {
		return nil
	}
	return &wire.Outcome{Action: d.Action, Reason: d.Reason, Until: wire.At(d.Until)}
}
