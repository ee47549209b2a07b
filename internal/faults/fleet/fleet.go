// Package fleet runs the real binary as operators do: simulated providers, a database, a broker and
// any number of service processes that can be killed and started again on the same files.
//
// It promises that nothing outlives the program that started it. It must never reach into a
// process: what it knows, it knows from the API, the logs and the providers' ledger.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tidings/api/client"
	"tidings/channels/simulator"
)

// Settings say what a fleet is made of.
type Settings struct {
	Dir      string // everything lies here; it must exist
	Binary   string // the service's
	Database string // URL of a PostgreSQL database; empty: SQLite, for one process only
	Broker   string // URL of a broker; empty: embedded, for one process only
	Config   string // YAML that is added to the written configuration
	Env      []string
}

// A Fleet is simulated providers, and the service processes that use them.
type Fleet struct {
	Settings
	Key     string // "id.secret", with all scopes
	Control string // base URL of the simulators' control port

	config    string // file
	simulator *process
	services  []*Service
}

// Build builds the service's binary into a folder and gives its path.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "tidings")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "tidings/cmd/tidings").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the service: %w: %s", err, out)
	}
	return binary, nil
}

// New starts the simulators, writes the configuration and makes a key; no service runs yet.
func New(ctx context.Context, s Settings) (_ *Fleet, err error) {
	f := &Fleet{Settings: s, config: filepath.Join(s.Dir, "tidings.yaml")}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	f.simulator = f.process("simulate", "simulate", "--listen-base", "0", "--ledger", f.LedgerFile(), "--write-config", f.config, "--service-listen", address)
	line, err := f.simulator.start(ctx)
	if err != nil {
		return nil, err
	}
	var ready struct{ Control string }
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		return nil, fmt.Errorf("read what the simulator says: %w", err)
	}
	f.Control = ready.Control
	if err := f.configure(); err != nil {
		return nil, err
	}
	return f, f.makeKey(ctx)
}

// configure adds to the configuration that the simulator has written.
func (f *Fleet) configure() error {
	text := "\n" + f.Config
	if f.Database != "" {
		text += fmt.Sprintf("\ndatabase_url: %q", f.Database)
	}
	if f.Broker != "" {
		text += fmt.Sprintf("\nnats_url: %q", f.Broker)
	}
	file, err := os.OpenFile(f.config, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("add to the configuration: %w", err)
	}
	_, err = file.WriteString(text + "\n")
	return errors.Join(err, file.Close())
}

func (f *Fleet) makeKey(ctx context.Context) error {
	out, err := f.Run(ctx, "keys", "create", "--app", "shop", "--json")
	if err != nil {
		return err
	}
	var key struct {
		ID     string `json:"key_id"`
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(out), &key); err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	f.Key = key.ID + "." + key.Secret
	return nil
}

// Run runs one of the binary's commands to its end, and gives what it prints.
func (f *Fleet) Run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, f.Binary, append(args, "--config", f.config)...)
	cmd.Env = append(os.Environ(), f.Env...)
	cmd.SysProcAttr = orphans()
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(out), fmt.Errorf("tidings %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// Service adds a service process that plays some roles (none: the configuration's). It is not started.
func (f *Fleet) Service(name string, roles ...string) (*Service, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{"serve", "--config", f.config}
	if len(roles) > 0 {
		args = append(args, "--roles", strings.Join(roles, ","))
	}
	p := f.process(name, args...)
	p.env = append(p.env, "TIDINGS_LISTEN="+address)
	s := &Service{Name: name, URL: "http://" + address, process: p}
	id, secret, _ := strings.Cut(f.Key, ".")
	s.Client = client.New(s.URL, id, secret)
	f.services = append(f.services, s)
	return s, nil
}

func (f *Fleet) process(name string, args ...string) *process {
	return &process{name: name, path: f.Binary, args: args, env: append([]string{}, f.Env...), log: filepath.Join(f.LogDir(), name+".log")}
}

// Services are the service processes that were added.
func (f *Fleet) Services() []*Service { return f.services }

// LedgerFile is where the simulators keep what they accepted.
func (f *Fleet) LedgerFile() string { return filepath.Join(f.Dir, "ledger.jsonl") }

// LogDir is the folder of the logs of all processes.
func (f *Fleet) LogDir() string { return filepath.Join(f.Dir, "logs") }

// LanesDir is where an embedded broker keeps its files.
func (f *Fleet) LanesDir() string { return filepath.Join(f.Dir, "data", "jetstream") }

// Ledger is everything that the simulators have accepted so far.
func (f *Fleet) Ledger() ([]simulator.Entry, error) {
	file, err := os.Open(f.LedgerFile())
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer func() { _ = file.Close() }()
	return simulator.ReadLedger(file)
}

// Close ends every process. Services are asked to; what does not end in time is killed.
func (f *Fleet) Close() error {
	var failed error
	for _, s := range f.services {
		if s.Running() {
			failed = errors.Join(failed, s.Stop())
		}
		s.Client.CloseIdleConnections()
	}
	if f.simulator != nil && f.simulator.running() {
		failed = errors.Join(failed, f.simulator.kill())
	}
	return failed
}

// FreeAddress is an address on this machine that nobody listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}
