package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/config"
)

type textConfig struct {
	KeyFile string          `yaml:"key_file"`
	Token   channels.Secret `yaml:"token"`
	Topics  []string        `yaml:"topics"`
	Strict  bool            `yaml:"strict"`
	Of      string          `yaml:"account"`
}

func (c *textConfig) Account() string { return c.Of }

func (c *textConfig) Home() string { return "https://text.example.test" }

func (c *textConfig) Validate() error {
	if c.Token == "" {
		return fmt.Errorf("token is missing")
	}
	return nil
}

func vendors() []channels.Vendor {
	build := func(textConfig, channels.Settings) (channels.Provider, error) { return nil, nil }
	return []channels.Vendor{
		channels.Define("text", tidings.SMS, channels.Traits{}, textConfig{Strict: true}, build),
		channels.Define("other", tidings.Push, channels.Traits{}, textConfig{}, build),
	}
}

func load(t *testing.T, text string, environ ...string) (config.Config, string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tidings.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file, environ, vendors())
	return c, filepath.Dir(file), err
}

func TestSpansContradictOnlyWhereSomethingIsSent(t *testing.T) {
	for _, c := range []struct{ why, text, want string }{
		{"short spans throughout", `
delivery: {lease: 4s}
lanes: {sms: {ack_wait: 3s}}
providers: [{name: a, type: text, token: t, timeout: 2s}]
`, ""},
		{"a call that leaves no time to record it", `
delivery: {lease: 4s}
lanes: {sms: {ack_wait: 3500ms}}
providers: [{name: a, type: text, token: t, timeout: 3s}]
`, "providers.a.timeout: 3s and 1s to spare must be below delivery.lease 4s"},
		{"a lane in use that nobody set", `
delivery: {lease: 20s}
providers: [{name: a, type: text, token: t, timeout: 2s}]
`, "lanes.sms.priority.ack_wait: 30s must be below delivery.lease 20s"},
		{"no provider yet, so any lane may be in use", `
delivery: {lease: 20s}
`, "ack_wait: 30s must be below delivery.lease 20s"},
	} {
		_, _, err := load(t, c.text)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.why, err, c.want)
		}
	}
}

func TestLoadReadsEveryPartAndKeepsDefaults(t *testing.T) {
	c, dir, err := load(t, `
listen: 127.0.0.1:9999
data_dir: ./state
delivery: {retry_base: 20ms, lease: 50s}
lanes: {sms: {workers: 3}, "sms.bulk": {ack_wait: 12s}}
apps: {shop: {rate_per_second: 2.5, burst: 7}}
providers:
  - {name: text-a, type: text, token: canary, key_file: keys/a.p8, topics: [x, y], timeout: 2s, endpoint: "http://127.0.0.1:1"}
  - {name: text-b, type: text, token: "file:token", strict: false}
routes:
  sms: [{countries: ["*"], providers: [{name: text-a, weight: 51}, {name: text-b, weight: 49}]}]
`)
	if err == nil {
		t.Fatal("a secret file that is not there was accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err = config.Load(filepath.Join(dir, "tidings.yaml"), nil, vendors())
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:9999" || c.DataDir != filepath.Join(dir, "state") || c.SecretFile != filepath.Join(dir, "data", "secret") {
		t.Errorf("top: %+v", c)
	}
	if d := c.Workers.Delivery; d.RetryBase != 20*time.Millisecond || d.Lease != 50*time.Second || d.MaxAttempts != 24 {
		t.Errorf("delivery: %+v", d)
	}
	if l := c.Workers.Lane("sms.bulk"); l.Workers != 3 || l.AckWait != 12*time.Second {
		t.Errorf("lane: %+v", l)
	}
	if c.Apps["shop"] != (config.App{RatePerSecond: 2.5, Burst: 7}) {
		t.Errorf("apps: %+v", c.Apps)
	}
	a, b := c.Providers[0], c.Providers[1]
	own := a.Config.(*textConfig)
	if a.Timeout != 2*time.Second || a.Concurrency != 64 || own.KeyFile != filepath.Join(dir, "keys/a.p8") || len(own.Topics) != 2 || !own.Strict {
		t.Errorf("first provider: %+v %+v", a.Common, own)
	}
	if own := b.Config.(*textConfig); own.Strict || string(own.Token) != "from-file" {
		t.Errorf("second provider: %+v", own)
	}
}

func TestEnvironmentOverlaysEveryScalar(t *testing.T) {
	t.Setenv("TEXT_TOKEN", "from-env")
	c, _, err := load(t, `
lanes: {sms: {workers: 3}}
providers: [{name: text-a, type: text, token: "env:TEXT_TOKEN"}]
`, "TIDINGS_LISTEN=:0", "TIDINGS_DELIVERY_LEASE=45s", "TIDINGS_PROVIDERS_TEXT_A_TIMEOUT=3s", "TIDINGS_PROVIDERS_TEXT_A_STRICT=false",
		"TIDINGS_LANES_SMS_WORKERS=9", "TIDINGS_ROLES=api, worker", "TIDINGS_KEY=not-a-setting")
	if err != nil {
		t.Fatal(err)
	}
	p := c.Providers[0]
	if c.Listen != ":0" || c.Workers.Delivery.Lease != 45*time.Second || p.Timeout != 3*time.Second || p.Config.(*textConfig).Strict ||
		c.Workers.Lane("sms.priority").Workers != 9 || len(c.Roles) != 2 {
		t.Errorf("got %+v, provider %+v", c, p.Common)
	}
	if string(p.Config.(*textConfig).Token) != "from-env" {
		t.Error("the secret was not taken from the environment")
	}
	if _, _, err := load(t, "", "TIDINGS_DELIVERY_LEASE=soon"); err == nil || !strings.Contains(err.Error(), "TIDINGS_DELIVERY_LEASE") {
		t.Errorf("a bad variable: %v", err)
	}
}

func TestLoadTakesAnAccountTwiceWhereNeitherStandsInForTheOther(t *testing.T) {
	for why, text := range map[string]string{
		"routes of their own": `
providers: [{name: a, type: text, token: t, account: one}, {name: b, type: text, token: t, account: one}]
routes: {sms: [{countries: [DE], providers: [{name: a}]}, {countries: ["*"], providers: [{name: b}]}]}
`,
		"another endpoint": `
providers: [{name: a, type: text, token: t, account: one}, {name: b, type: text, token: t, account: one, endpoint: "http://127.0.0.1:1"}]
`,
		"another account": `
providers: [{name: a, type: text, token: t, account: one}, {name: b, type: text, token: t, account: two}]
`,
	} {
		if _, _, err := load(t, text); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	const provider = "providers: [{name: a, type: text, token: t}]\n"
	for name, c := range map[string]struct{ text, want string }{
		"an unknown key, with its line":          {"listen: x\nlisten_on: y\n", "tidings.yaml:2: unknown key \"listen_on\""},
		"an unknown key of a vendor":             {"providers:\n  - {name: a, type: text, token: t,\n     colour: red}\n", "tidings.yaml:3: unknown key \"colour\""},
		"an unknown key deep inside":             {"delivery:\n  lease: 50s\n  leese: 1s\n", "tidings.yaml:3: unknown key \"leese\""},
		"a number for a duration":                {"delivery: {lease: 50}\n", "tidings.yaml:1: delivery.lease: \"50\" is not a duration"},
		"a scalar for a mapping":                 {"delivery: 5\n", "want a mapping"},
		"a provider type that is not there":      {"providers: [{name: a, type: pigeon}]\n", "there is no type \"pigeon\""},
		"what the vendor's Validate refuses":     {"providers: [{name: a, type: text}]\n", "token is missing"},
		"two providers of one name":              {"providers: [{name: a, type: text, token: t}, {name: a, type: other, token: t}]\n", "two are named \"a\""},
		"a route to another channel's provider":  {provider + "routes: {push: [{countries: ['*'], providers: [{name: a}]}]}\n", "no push provider is named \"a\""},
		"split roles on SQLite":                  {"roles: [api]\n", "set database_url"},
		"split roles that share no broker":       {"database_url: 'postgres://localhost'\nroles: [worker]\n", "set nats_url"},
		"a role that is not there":               {"roles: [api, cook]\n", "neither api nor worker"},
		"a provider slower than the broker":      {"providers: [{name: a, type: text, token: t, timeout: 30s}]\n", "must be below ack_wait"},
		"an ack wait longer than the lease":      {"lanes: {sms: {ack_wait: 61s}}\n", "must be below delivery.lease"},
		"a lane that is not there":               {"lanes: {smoke: {workers: 1}}\n", "neither a channel nor a lane"},
		"a broker's URL of another kind":         {"nats_url: 'http://canary@nats.example.test'\n", "nats_url: each URL must read like"},
		"credentials for the embedded broker":    {"nats_credentials: x\n", "the embedded broker has no credentials"},
		"more replicas than there can be":        {"nats_url: 'nats://nats.example.test'\nnats_replicas: 7\n", "must be at most 5"},
		"a time zone by offset":                  {"defaults: {timezone: UTC+3}\n", "not an IANA time zone"},
		"a secret from a variable that is unset": {"database_url: 'env:TIDINGS_NOT_SET'\n", "TIDINGS_NOT_SET is not set"},
		"a fallback to the same account":         {"providers: [{name: a, type: text, token: t, account: one}, {name: b, type: text, token: t, account: one}]\n", "a and b are one account"},
		"the same account within a route": {"providers: [{name: a, type: text, token: t, account: one}, {name: b, type: text, token: t, account: one}]\n" +
			"routes: {sms: [{countries: ['*'], providers: [{name: a}, {name: b}]}]}\n", "a and b are one account"},
		"a route that names a provider twice":             {provider + "routes: {sms: [{countries: ['*'], providers: [{name: a}, {name: a}]}]}\n", "are one account"},
		"a connection that may take longer than the call": {"providers: [{name: a, type: text, token: t, connect_timeout: 11s}]\n", "are parts of timeout"},
		"slow calls beyond the time-out":                  {"breaker: {slow: 1.5}\n", "breaker.slow: must be at most 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := load(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
