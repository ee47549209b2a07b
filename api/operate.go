package api

import (
	"errors"
	"log/slog"

	"tidings/api/problem"
	"tidings/api/wire"
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
