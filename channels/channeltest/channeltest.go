// Package channeltest is the suite that every vendor must pass: what channels.Provider promises,
// tried against the simulator of its protocol, in virtual time.
//
// It promises to find a provider that breaks a promise, which is itself tested with broken ones.
// It must never know a vendor: what differs is in the Harness.
package channeltest

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
	"tidings/internal/testkit"
)

// A Harness is what the suite must know of a vendor.
type Harness struct {
	Vendor  channels.Vendor
	Address string // one that the service accepts
	Content tidings.Content

	// Unavailable is what the service does when it is in trouble; the zero Do is status 503.
	Unavailable simulator.Do
	// ResetBefore is the fault when the connection is cut before anything is accepted; empty:
	// unknown, as for all protocols that send the whole message at once.
	ResetBefore tidings.Outcome
	// ShowsAttempt says that the protocol carries the number of the attempt.
	ShowsAttempt bool
	// RetryAfter says that the protocol has the Retry-After header.
	RetryAfter bool
	// Expires reports whether the ledger's entry carries the instant after which the message is of
	// no use; nil: the protocol has no such thing.
	Expires func(e simulator.Entry, at time.Time) bool
	// Collapse is the ledger's header that carries the collapse id; empty: the protocol has none.
	Collapse string

	// Answers are the rows of the vendor's fault table, testdata/faults.golden.
	Answers []Answer
}

// An Answer is one thing that the service can say, as a row of the fault table.
type Answer struct {
	Name string // as documentation: what the service means by it; empty: the reason
	Do   simulator.Do
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	dir := t.TempDir()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if err := h.try(t, dir, c); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("fault_table", func(t *testing.T) { h.faultTable(t, dir) })
}

// Try runs f in a bubble of its own, with a provider beside its simulated service, for what only
// one vendor has.
func Try(t *testing.T, h Harness, f func(t *testing.T, b *Bench)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := h.open(t, dir)
		defer b.close()
		f(t, b)
	})
}

// try runs one check in a bubble of its own.
func (h Harness) try(t *testing.T, dir string, c check) (err error) {
	synctest.Test(t, func(t *testing.T) {
		b := h.open(t, dir)
		defer b.close()
		err = c.run(b)
	})
	return err
}

// A Bench is one provider beside its simulated service.
type Bench struct {
	Harness
	Sim      *simulator.Simulator
	Provider channels.Provider

	t       *testing.T
	tape    *simulator.Tape
	line    line
	log     *journal
	secrets []string // that must never be shown
	client  *http.Client
}

func (h Harness) open(t *testing.T, dir string) *Bench {
	t.Helper()
	network := testkit.NewNetwork()
	b := &Bench{Harness: h, t: t, tape: &simulator.Tape{}, log: &journal{}}
	b.line.dial = network.Dial
	sim, err := simulator.Start(simulator.Settings{
		Listen: func(vendor string) (net.Listener, error) { return network.Listen(vendor + ":443") },
		Dial:   network.Dial, Ledger: b.tape, Dir: dir, HooksURL: "http://hooks",
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Sim = sim
	b.Provider, err = h.Vendor.Build(b.config())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// config fills the vendor's configuration as the simulator would have an operator do it.
func (b *Bench) config() (any, channels.Settings) {
	b.t.Helper()
	var given simulator.Provider
	for _, p := range b.Sim.Providers() {
		if p.Type == b.Vendor.Type {
			given = p
		}
	}
	values := map[string]string{}
	for _, l := range given.Lines {
		values[l.Key] = b.resolve(l)
	}
	text, err := yaml.Marshal(values)
	if err != nil {
		b.t.Fatal(err)
	}
	config := b.Vendor.Config()
	if err := yaml.Unmarshal(text, config); err != nil {
		b.t.Fatal(err)
	}
	roots := &tls.Config{RootCAs: b.Sim.Roots()}
	b.client = &http.Client{Transport: b.eavesdrop(&http.Transport{DialContext: b.line.Dial, TLSClientConfig: roots})}
	return config, channels.Settings{
		Name: b.Vendor.Type, Endpoint: values["endpoint"], HooksURL: "http://hooks/hooks/" + b.Vendor.Type,
		Client: b.client, Dial: b.line.Dial, TLS: roots, Transport: b.eavesdrop,
		Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// resolve reads a value that names a file, and notes what is secret.
func (b *Bench) resolve(l simulator.Line) string {
	b.t.Helper()
	value := l.Value
	path, isRef := strings.CutPrefix(value, "file:")
	if !isRef {
		path = value
	}
	if isRef || strings.HasSuffix(l.Key, "_file") && l.Key != "ca_file" {
		text, err := os.ReadFile(path)
		if err != nil {
			b.t.Fatal(err)
		}
		b.hide(strings.Fields(string(text))...)
		if isRef {
			value = strings.TrimSpace(string(text))
		}
	}
	for _, word := range []string{"token", "secret", "password"} {
		if strings.Contains(l.Key, word) {
			b.hide(value)
		}
	}
	return value
}

// hide notes secrets; what is short would be found by chance.
func (b *Bench) hide(words ...string) {
	for _, w := range words {
		if len(w) >= 16 {
			b.secrets = append(b.secrets, w)
		}
	}
}

func (b *Bench) close() {
	if c, ok := b.Provider.(interface{ Close() error }); ok {
		if err := c.Close(); err != nil {
			b.t.Error(err)
		}
	}
	b.client.CloseIdleConnections()
	if err := b.Sim.Close(); err != nil {
		b.t.Error(err)
	}
	synctest.Wait()
}
