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
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
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
	NATSCredentials channels.Secret    `yaml:"nats_credentials"` // content of a credentials file: a JWT and its seed
	NATSCAFile      string             `yaml:"nats_ca_file"`     // PEM of the roots to trust for it
	NATSReplicas    int                `yaml:"nats_replicas"`    // of each stream
	Roles           []string           `yaml:"roles"`
	Catalog         string             `yaml:"catalog"`
	SecretFile      string             `yaml:"secret_file"`
	ShutdownTimeout time.Duration      `yaml:"shutdown_timeout"`
	Workers         workers.Config     `yaml:",inline"`
	Disk            admission.Disk     `yaml:"disk"`
	Apps            map[string]App     `yaml:"apps"`
	Defaults        Defaults           `yaml:"defaults"`
	Providers       []Provider         `yaml:"-"`
	Routes          map[string][]Route `yaml:"routes"`
}

// App is what one app may do. Zero means no bound.
type App struct {
	RatePerSecond float64 `yaml:"rate_per_second"` // events
	Burst         int     `yaml:"burst"`           // events at once; 0: one second's worth
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
	Weight int    `yaml:"weight"`
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
	Endpoint      string        `yaml:"endpoint"`        // base URL in place of the vendor's own
	CAFile        string        `yaml:"ca_file"`         // PEM of the roots to trust for it
	Timeout       time.Duration `yaml:"timeout"`         // of a whole call
	Connect       time.Duration `yaml:"connect_timeout"` // of it, until a connection stands; 0: five seconds, or all of it when that is less
	Answer        time.Duration `yaml:"answer_timeout"`  // of it, from the request to the head of the answer, where the protocol is HTTP/1; 0: all of it
	Concurrency   int           `yaml:"concurrency"`
	RatePerSecond float64       `yaml:"rate_per_second"` // of all processes together; 0: no limit
}

// Default is the configuration of an empty file in dir.
func Default(dir string) Config {
	return Config{
		Listen: "127.0.0.1:8080", DataDir: filepath.Join(dir, "data"), SecretFile: filepath.Join(dir, "data", "secret"),
		Roles: []string{"api", "worker"}, ShutdownTimeout: 30 * time.Second, NATSReplicas: 1,
		Workers: workers.DefaultConfig(), Disk: admission.DefaultDisk(), Defaults: Defaults{Timezone: "UTC"},
	}
}

// Load reads the file (empty: none), overlays the environment (as os.Environ gives it) and
// checks the whole. vendors are the provider types there are.
func Load(file string, environ []string, vendors []channels.Vendor) (Config, error) {
	dir := "."
	var root yaml.Node
	if file != "" {
		dir = filepath.Dir(file)
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return Config{}, fmt.Errorf("there is no configuration file %s: name one with --config, or leave it out", file)
		}
		if err != nil {
			return Config{}, fmt.Errorf("read configuration: %w", err)
		}
		if err := yaml.Unmarshal(text, &root); err != nil {
			return Config{}, fmt.Errorf("read configuration %s: %w", file, err)
		}
	}
	c := Default(dir)
	d := decoder{file: file, dir: dir, env: environment(environ)}
	if err := d.config(&root, &c, vendors); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// Validate checks what concerns several parts.
func (c *Config) Validate() error {
	for _, r := range c.Roles {
		if r != "api" && r != "worker" {
			return fmt.Errorf("roles: %q is neither api nor worker", r)
		}
	}
	if len(c.Roles) == 0 {
		return errors.New("roles: name api, worker or both")
	}
	if c.DatabaseURL == "" && !(c.HasRole("api") && c.HasRole("worker")) {
		return errors.New("roles: SQLite serves api and worker in one process; set database_url to split them")
	}
	if c.NATSURL == "" && !(c.HasRole("api") && c.HasRole("worker")) {
		return errors.New("roles: an embedded broker serves the process that it is in; set nats_url to split roles")
	}
	if err := c.validateBroker(); err != nil {
		return err
	}
	if c.ShutdownTimeout <= 0 {
		return errors.New("shutdown_timeout: must be above 0")
	}
	if _, err := time.LoadLocation(c.Defaults.Timezone); err != nil || c.Defaults.Timezone == "" || c.Defaults.Timezone == "Local" {
		return fmt.Errorf("defaults.timezone: %q is not an IANA time zone", c.Defaults.Timezone)
	}
	if err := c.validateProviders(); err != nil {
		return err
	}
	if err := c.Disk.Validate(); err != nil {
		return err
	}
	return c.Workers.Validate()
}

// maxReplicas is how many copies of a stream JetStream keeps at most.
const maxReplicas = 5

// validateBroker must not quote the URL, which may hold a password.
func (c *Config) validateBroker() error {
	if c.NATSURL == "" {
		if c.NATSCredentials != "" || c.NATSCAFile != "" || c.NATSReplicas != 1 {
			return errors.New("nats_url: the embedded broker has no credentials, CA or replicas; name a server, or leave these out")
		}
		return nil
	}
	for part := range strings.SplitSeq(string(c.NATSURL), ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("nats_url: each URL must read like nats://host:4222 or tls://host:4222")
		}
	}
	if c.NATSReplicas < 1 || c.NATSReplicas > maxReplicas {
		return fmt.Errorf("nats_replicas: must be 1 to %d; 3 is common", maxReplicas)
	}
	return nil
}

func (c *Config) validateProviders() error {
	channel := map[string]tidings.Channel{}
	for _, p := range c.Providers {
		switch {
		case channel[p.Name] != "":
			return fmt.Errorf("providers: two are named %q", p.Name)
		case p.Timeout <= 0 || p.Concurrency <= 0 || p.RatePerSecond < 0:
			return fmt.Errorf("providers: %s: timeout and concurrency must be above 0, rate_per_second not below", p.Name)
		}
		if err := c.validateSpans(p); err != nil {
			return err
		}
		channel[p.Name] = p.Vendor.Channel
	}
	if err := c.validateAccounts(); err != nil {
		return err
	}
	for ch, routes := range c.Routes {
		if !slices.Contains(tidings.Channels(), tidings.Channel(ch)) {
			return fmt.Errorf("routes: %q is not a channel", ch)
		}
		for _, r := range routes {
			if err := r.validate(ch, channel); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) validateSpans(p Provider) error {
	if p.Connect < 0 || p.Answer < 0 || p.Connect > p.Timeout || p.Answer > p.Timeout {
		return fmt.Errorf("providers: %s: connect_timeout %v and answer_timeout %v are parts of timeout %v", p.Name, p.Connect, p.Answer, p.Timeout)
	}
	for _, pr := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
		lane := tidings.LaneOf(p.Vendor.Channel, pr)
		if wait := c.Workers.Lane(lane).AckWait; p.Timeout >= wait {
			return fmt.Errorf("providers: %s: timeout %v must be below ack_wait %v of lane %s", p.Name, p.Timeout, wait, lane)
		} else if lease := c.Workers.Delivery.Lease; wait >= lease {
			return fmt.Errorf("lanes.%s.ack_wait: %v must be below delivery.lease %v", lane, wait, lease)
		}
	}
	if lease, margin := c.Workers.Delivery.Lease, c.Workers.Delivery.Margin(); p.Timeout+margin >= lease {
		return fmt.Errorf("providers: %s: timeout %v and %v to spare must be below delivery.lease %v", p.Name, p.Timeout, margin, lease)
	}
	return nil
}

func (r Route) validate(ch string, channel map[string]tidings.Channel) error {
	if len(r.Countries) == 0 || len(r.Providers) == 0 {
		return fmt.Errorf("routes: %s: a route needs countries and providers", ch)
	}
	for _, w := range r.Providers {
		if channel[w.Name] != tidings.Channel(ch) {
			return fmt.Errorf("routes: %s: no %s provider is named %q", ch, ch, w.Name)
		}
		if w.Weight < 0 {
			return fmt.Errorf("routes: %s: the weight of %s is below 0", ch, w.Name)
		}
	}
	return nil
}

// HasRole reports whether this process plays the role.
func (c *Config) HasRole(role string) bool { return slices.Contains(c.Roles, role) }
