package app

import (
	"path/filepath"

	"tidings"
	"tidings/internal/admission"
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

// laneSettings say where the broker is and who we are there.
func laneSettings(cfg config.Config, s Settings) (lanes.Settings, error) {
	set := lanes.Settings{URL: string(cfg.NATSURL), Dir: lanesDir(cfg), Lanes: laneSpecs(cfg), Log: s.Log,
		Credentials: string(cfg.NATSCredentials), Replicas: cfg.NATSReplicas, Conn: s.Broker, Dial: s.DialBroker}
	trust, err := rootsOf("nats_ca_file", cfg.NATSCAFile)
	if err != nil {
		return set, cfg.Locate(err)
	}
	if trust != nil {
		set.Roots = trust.RootCAs
	}
	return set, nil
}

func laneSpecs(cfg config.Config) []lanes.Spec {
	var specs []lanes.Spec
	for _, name := range laneNames() {
		specs = append(specs, cfg.Workers.Spec(name))
	}
	return specs
}

// laneLimits are how many deliveries of each lane may wait in the log.
func laneLimits(cfg config.Config) map[tidings.Lane]int {
	limits := map[tidings.Lane]int{}
	for _, name := range laneNames() {
		limits[name] = cfg.Workers.Lane(name).Limit
	}
	return limits
}

// bounds are how much of each lane may wait.
func bounds(cfg config.Config) map[tidings.Lane]admission.Bound {
	all := map[tidings.Lane]admission.Bound{}
	for _, name := range laneNames() {
		l := cfg.Workers.Lane(name)
		all[name] = admission.Bound{Limit: l.Limit, MaxWait: l.MaxWait, Short: cfg.Workers.Spec(name).MaxIDs}
	}
	return all
}

// watched is the folder whose disk must have room for new work; none where nothing of it is kept here.
func watched(cfg config.Config) string {
	if cfg.DatabaseURL != "" && cfg.NATSURL != "" {
		return ""
	}
	return cfg.DataDir
}

// gauge tells the lanes what is counted, where no dispatcher does.
func gauge(cfg config.Config, l *lanes.Lanes) func(lane tidings.Lane, queued int, closed bool) {
	if cfg.HasRole("worker") {
		return nil
	}
	return l.Gauge
}

func lanesDir(cfg config.Config) string { return filepath.Join(cfg.DataDir, "jetstream") }
