package app

import (
	"path/filepath"

	"tidings"
	"tidings/internal/config"
	"tidings/internal/lanes"
)

// laneNames are the lanes of the channels that have vendors.
func laneNames() []tidings.Lane {
	var names []tidings.Lane
	for _, c := range []tidings.Channel{tidings.Push, tidings.SMS, tidings.Email} {
		names = append(names, tidings.LaneOf(c, tidings.Urgent), tidings.LaneOf(c, tidings.Bulk))
	}
	return names
}

func laneSpecs(cfg config.Config) []lanes.Spec {
	var specs []lanes.Spec
	for _, name := range laneNames() {
		specs = append(specs, cfg.Workers.Spec(name))
	}
	return specs
}

func lanesDir(cfg config.Config) string { return filepath.Join(cfg.DataDir, "jetstream") }
