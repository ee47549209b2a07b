package config

import (
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tidings"
	"tidings/internal/setting"
)

// Validate checks what the bounds of single settings do not: their form, and what concerns several. Its
// errors are of package setting.
func (c *Config) Validate() error {
	for _, check := range []func() error{
		c.validateAddresses, c.validateRoles, c.validateBroker, c.validateApps, c.validateDefaults,
		c.Disk.Validate, c.Workers.Validate, c.validateProviders, c.validateRoutes, c.validateAccounts,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) validateAddresses() error {
	_, port, err := net.SplitHostPort(c.Listen)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return setting.Wrong("listen", "%q is no address: write HOST:PORT, such as 127.0.0.1:8080; port 0 takes a free one", c.Listen)
	}
	if c.PublicURL != "" && !isBase(c.PublicURL) {
		return setting.Wrong("public_url", "it must read like https://notify.example.test, without a query")
	}
	for path, value := range map[string]string{"data_dir": c.DataDir, "secret_file": c.SecretFile} {
		if value == "" {
			return setting.Wrong(path, "it is empty: name a path, or leave it out")
		}
	}
	if db := string(c.DatabaseURL); db != "" {
		u, err := url.Parse(db) // neither may be quoted: they may hold a password
		if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
			return setting.Wrong("database_url", "it must read like postgres://user:password@host/database, or be empty for SQLite")
		}
	}
	if c.ShutdownTimeout <= 0 {
		return setting.Wrong("shutdown_timeout", "must be above 0")
	}
	return nil
}

// isBase reports whether paths can be put behind a URL.
func isBase(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

func (c *Config) validateRoles() error {
	for i, r := range c.Roles {
		if r != "api" && r != "worker" {
			return setting.Wrong("roles", "%q is neither api nor worker", r)
		}
		if slices.Contains(c.Roles[:i], r) {
			return setting.Wrong("roles", "%q stands twice", r)
		}
	}
	switch split := !c.HasRole("api") || !c.HasRole("worker"); {
	case len(c.Roles) == 0:
		return setting.Wrong("roles", "name api, worker or both")
	case c.DatabaseURL == "" && split:
		return setting.Wrong("roles", "SQLite serves api and worker in one process; set database_url to split them")
	case c.NATSURL == "" && split:
		return setting.Wrong("roles", "an embedded broker serves the process that it is in; set nats_url to split roles")
	}
	return nil
}

// maxReplicas is how many copies of a stream JetStream keeps at most.
const maxReplicas = 5

// validateBroker must not quote the URL, which may hold a password.
func (c *Config) validateBroker() error {
	if c.NATSURL == "" {
		if c.NATSCredentials != "" || c.NATSCAFile != "" || c.NATSReplicas != 1 {
			return setting.Wrong("nats_url", "the embedded broker has no credentials, CA or replicas; name a server, or leave these out")
		}
		return nil
	}
	for part := range strings.SplitSeq(string(c.NATSURL), ",") {
		u, err := url.Parse(strings.TrimSpace(part))
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return setting.Wrong("nats_url", "each URL must read like nats://host:4222 or tls://host:4222")
		}
	}
	if c.NATSReplicas < 1 || c.NATSReplicas > maxReplicas {
		return setting.Wrong("nats_replicas", "must be 1 to %d; 3 is common", maxReplicas)
	}
	if c.NATSCredentials != "" && !strings.Contains(string(c.NATSCredentials), "-----BEGIN NATS USER JWT-----") {
		return setting.Wrong("nats_credentials", "it is the content of a credentials file: name the file as file:PATH")
	}
	return nil
}

// appName is the form of an app's name, as of every id that callers choose.
var appName = regexp.MustCompile(`^[A-Za-z0-9._:@-]{1,128}$`)

func (c *Config) validateApps() error {
	for _, name := range slices.Sorted(maps.Keys(c.Apps)) {
		a, path := c.Apps[name], "apps."+name
		switch {
		case !appName.MatchString(name):
			return setting.Wrong(path, "%q is not a name of an app: take 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -", name)
		case a.RatePerSecond < 0:
			return setting.Wrong(path+".rate_per_second", "must not be below 0; 0 is no bound")
		case a.Burst < 0:
			return setting.Wrong(path+".burst", "must not be below 0; 0 is one second's worth")
		case a.Burst > 0 && a.RatePerSecond == 0:
			return setting.Wrong(path+".burst", "it bounds nothing without a rate_per_second: set one, or leave it out")
		}
	}
	return nil
}

func (c *Config) validateDefaults() error {
	zone := c.Defaults.Timezone
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
		return setting.Wrong("defaults.timezone", "%q is not an IANA time zone", zone)
	}
	if l := c.Defaults.Locale; l != "" && !locale.MatchString(l) {
		return setting.Wrong("defaults.locale", "%q is not a locale such as en or pt-BR", l)
	}
	return nil
}

// locale is the form of a language tag.
var locale = regexp.MustCompile(`^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$`)

func (c *Config) validateProviders() error {
	names := map[string]bool{}
	for _, p := range c.Providers {
		path := "providers." + p.Name
		switch {
		case names[p.Name]:
			return setting.Wrong(path, "two are named %q", p.Name)
		case p.Timeout <= 0:
			return setting.Wrong(path+".timeout", "must be above 0")
		case p.Concurrency <= 0:
			return setting.Wrong(path+".concurrency", "must be above 0")
		case p.RatePerSecond < 0:
			return setting.Wrong(path+".rate_per_second", "must not be below 0; 0 is no limit")
		case p.Endpoint != "" && !isBase(p.Endpoint):
			return setting.Wrong(path+".endpoint", "it must read like https://host:port, without a query")
		}
		if err := c.validateSpans(p, path); err != nil {
			return err
		}
		names[p.Name] = true
	}
	if len(c.Providers) > 0 {
		return nil
	}
	for _, ch := range tidings.Channels() { // nothing says which lanes will be in use
		if err := c.validateAckWaits(ch); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) validateAckWaits(ch tidings.Channel) error {
	for _, pr := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
		if err := c.Workers.ValidateAckWait(tidings.LaneOf(ch, pr)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) validateSpans(p Provider, path string) error {
	if p.Connect < 0 || p.Answer < 0 || p.Connect > p.Timeout || p.Answer > p.Timeout {
		return setting.Wrong(path, "connect_timeout %v and answer_timeout %v are parts of timeout %v", p.Connect, p.Answer, p.Timeout)
	}
	for _, pr := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
		lane := tidings.LaneOf(p.Vendor.Channel, pr)
		if wait := c.Workers.Lane(lane).AckWait; p.Timeout >= wait {
			return setting.Wrong(path+".timeout", "%v must be below ack_wait %v of lane %s", p.Timeout, wait, lane)
		}
	}
	if err := c.validateAckWaits(p.Vendor.Channel); err != nil {
		return err
	}
	if lease, margin := c.Workers.Delivery.Lease, c.Workers.Delivery.Margin(); p.Timeout+margin >= lease {
		return setting.Wrong(path+".timeout", "%v and %v to spare must be below delivery.lease %v", p.Timeout, margin, lease)
	}
	return nil
}
