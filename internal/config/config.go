// Package config gathers the operator's configuration: one YAML file, overlaid by the
// environment.
//
// It promises to refuse what it does not know, naming file and line, and to resolve every
// path and secret before anything is built. It must never hold rules of a part that owns its own.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings/channels"
	"tidings/internal/admission"
	"tidings/workers"
)

// Config is everything that an operator can set.
type Config struct {
	Listen          string             `yaml:"listen"`
	PublicURL       string             `yaml:"public_url"`
	DataDir         string             `yaml:"data_dir"`
	DatabaseURL     channels.Secret    `yaml:"database_url"`
	NATSURL         channels.Secret    `yaml:"nats_url"`
	NATSCredentials channels.Secret    `yaml:"nats_credentials"`                 // content of a credentials file: a JWT and its seed
	NATSCAFile      string             `yaml:"nats_ca_file"`                     // PEM of the roots to trust for it
	NATSReplicas    int                `yaml:"nats_replicas" least:"1" most:"5"` // of each stream
	Roles           []string           `yaml:"roles"`
	Catalog         string             `yaml:"catalog"`
	SecretFile      string             `yaml:"secret_file"`
	ShutdownTimeout time.Duration      `yaml:"shutdown_timeout" above:"0"`
	Workers         workers.Config     `yaml:",inline"`
	Disk            admission.Disk     `yaml:"disk"`
	Apps            map[string]App     `yaml:"apps"`
	Brake           Brake              `yaml:"brake"`
	Defaults        Defaults           `yaml:"defaults"`
	Providers       []Provider         `yaml:"-"`
	Routes          map[string][]Route `yaml:"routes"`

	where places
}

// App is what one app may do. Zero means no bound.
type App struct {
	RatePerSecond float64 `yaml:"rate_per_second" least:"0"` // events
	Burst         int     `yaml:"burst" least:"0"`           // events at once; 0: one second's worth
}

// Brake is how many events of one type one user may get before it is taken for somebody's loop, where
// the event type does not say so itself.
type Brake struct {
	Events int           `yaml:"events" least:"0" most:"1000000"` // 0: any number
	Per    time.Duration `yaml:"per" above:"0"`
}

// Defaults hold for users who say nothing else.
type Defaults struct {
	Locale   string `yaml:"locale"` // empty: the catalogue's
	Timezone string `yaml:"timezone"`
}

// Route lists the providers that carry a channel to some countries.
type Route struct {
	Countries []string   `yaml:"countries"` // ISO 3166 alpha-2, or "*"
	Providers []Weighted `yaml:"providers"`
}

// Weighted is a provider of a route with its share of the traffic.
type Weighted struct {
	Name   string `yaml:"name"`
	Weight int    `yaml:"weight" least:"1"` // 0 is none: it only stands in for the others
}

// Provider is one configured provider: what all have, and what its vendor wants.
type Provider struct {
	Common
	Vendor channels.Vendor
	Config any // pointer to the vendor's configuration
}

// Common is what every provider has.
type Common struct {
	Name          string        `yaml:"name"`
	Type          string        `yaml:"type"`
	Endpoint      string        `yaml:"endpoint"`                  // base URL in place of the vendor's own
	CAFile        string        `yaml:"ca_file"`                   // PEM of the roots to trust for it
	Timeout       time.Duration `yaml:"timeout" above:"0"`         // of a whole call
	Connect       time.Duration `yaml:"connect_timeout" above:"0"` // of it, until a connection stands; 0: five seconds, or all of it when that is less
	Answer        time.Duration `yaml:"answer_timeout" above:"0"`  // of it, from the request to the head of the answer, where the protocol is HTTP/1; 0: all of it
	Concurrency   int           `yaml:"concurrency" least:"1"`
	RatePerSecond float64       `yaml:"rate_per_second" least:"0"` // of all processes together; 0: no limit
}

// Default is the configuration of an empty file in dir.
func Default(dir string) Config {
	return Config{
		Listen: "127.0.0.1:8080", DataDir: filepath.Join(dir, "data"), SecretFile: filepath.Join(dir, "data", "secret"),
		Roles: []string{"api", "worker"}, ShutdownTimeout: 30 * time.Second, NATSReplicas: 1,
		Workers: workers.DefaultConfig(), Disk: admission.DefaultDisk(), Defaults: Defaults{Timezone: "UTC"},
		Brake: Brake{Events: 1000, Per: time.Minute},
	}
}

// A Flag is a setting that a command line gives. It goes before the environment, and errors name it.
type Flag struct {
	Name     string // as it is typed: "--roles"
	Variable string // of the environment, that sets the same
	Value    string
}

// Load reads the file (empty: none), overlays the environment (as os.Environ gives it) and the flags,
// and checks the whole. vendors are the provider types there are.
func Load(file string, environ []string, vendors []channels.Vendor, flags ...Flag) (Config, error) {
	dir := "."
	document := &yaml.Node{}
	if file != "" {
		dir = filepath.Dir(file)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return Config{}, fmt.Errorf("there is no configuration file %s: name one with --config, or leave it out", file)
		}
		if err != nil {
			return Config{}, fmt.Errorf("read configuration: %w", err)
		}
		if document, err = parse(file, text); err != nil {
			return Config{}, err
		}
	}
	c := Default(dir)
	d := decoder{file: file, dir: dir, env: environment(environ), flags: map[string]string{}, used: map[string]bool{}, where: places{}}
	for _, f := range flags {
		d.env[f.Variable], d.flags[f.Variable] = f.Value, f.Name
	}
	if err := d.config(document, &c, vendors); err != nil {
		return Config{}, err
	}
	c.where = d.where
	return c, c.Locate(c.Validate())
}

// HasRole reports whether this process plays the role.
func (c *Config) HasRole(role string) bool { return slices.Contains(c.Roles, role) }
