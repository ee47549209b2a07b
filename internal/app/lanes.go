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

// idsPerWorker is how many deliveries a lane holds for each call at once: about ten seconds of
// drain at ten milliseconds a call.
const idsPerWorker = 1000

func laneSpecs(cfg config.Config) []lanes.Spec {
	var specs []lanes.Spec
	for _, name := range laneNames() {
		lane := cfg.Workers.Lane(name)
		specs = append(specs, lanes.Spec{
			Lane: name, MaxIDs: lane.Workers * idsPerWorker, AckWait: lane.AckWait, MaxInHand: 2 * max(lane.Workers, 16),
		})
	}
	return specs
}

func lanesDir(cfg config.Config) string { return filepath.Join(cfg.DataDir, "jetstream") }
