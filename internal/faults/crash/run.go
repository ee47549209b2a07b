package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/faults"
	"tidings/internal/faults/fleet"
	"tidings/internal/testkit"
)

// The spans of a run: short, so that a run sees many leases end.
const (
	lease       = 8 * time.Second
	sweep       = time.Second
	callTime    = 2 * time.Second        // of a provider
	longestLag  = 300 * time.Millisecond // that a provider is made to take
	restartTime = 5 * time.Second        // that a process may take to be back
	stopLag     = 2 * time.Second        // from a stop to the last call that began before it
)

// workerName begins the names of the processes that only deliver.
const workerName = "worker-"

// settings are added to the configuration that the simulators write.
var settings = fmt.Sprintf(`
delivery: {retry_base: 200ms, retry_cap: 2s, max_attempts: 100, lease: %v, sweep: %v}
lanes: {push: {ack_wait: 4s}, sms: {ack_wait: 4s}, email: {ack_wait: 4s}}
breaker: {failures: 50, window: 5s, open_for: 500ms}
`, lease, sweep)

// environment shortens what the simulators have written.
func environment() (env []string) {
	for _, provider := range []string{"APNS", "FCM", "TWILIO", "AWS_SMS", "SMTP"} {
		env = append(env, fmt.Sprintf("TIDINGS_PROVIDERS_%s_TIMEOUT=%v", provider, callTime))
	}
	return env
}

// A trial is one run under way.
type trial struct {
	Options
	fleet    *fleet.Fleet
	broker   *fleet.Broker           // nil: embedded
	database *testkit.PostgresServer // nil: SQLite
	traffic  *traffic
	chaos    *chaos
	witness  *witness
}

// Run kills processes until there were enough, lets what is left come to rest, and judges.
func Run(ctx context.Context, o Options) (_ Report, err error) {
	t := &trial{Options: o}
	ephemeral := o.Dir == ""
	if ephemeral {
		if t.Dir, err = os.MkdirTemp("", "tidings-crash-"); err != nil {
			return Report{}, fmt.Errorf("make a folder: %w", err)
		}
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.open(ctx); err != nil {
		return Report{}, err
	}
	began := time.Now()
	if err := t.play(ctx); err != nil {
		return Report{}, fmt.Errorf("%w (logs are in %s)", err, t.Dir)
	}
	report, err := t.judge(ctx, time.Since(began))
	if err == nil && ephemeral && len(report.Violations) == 0 {
		err = os.RemoveAll(t.Dir)
	}
	return report, err
}

// open starts everything, and makes the users.
func (t *trial) open(ctx context.Context) (err error) {
	if t.Binary == "" {
		if t.Binary, err = fleet.Build(ctx, t.Dir); err != nil {
			return err
		}
	}
	s := fleet.Settings{Dir: t.Dir, Binary: t.Binary, Config: settings, Env: environment()}
	if t.Gently { // no lease is to end, and no call to run into its time-out
		s.Config, s.Env = fmt.Sprintf("delivery: {sweep: %v}", sweep), nil
	}
	if t.Engine == postgres {
		if t.database, err = testkit.NewPostgres(); err != nil {
			return err
		}
		if t.broker, err = fleet.NewBroker(filepath.Join(t.Dir, "broker")); err != nil {
			return err
		}
		s.Database, s.Broker = t.database.URL, t.broker.URL()
	} else if t.Engine != sqlite {
		return fmt.Errorf("--engine: %q is neither sqlite nor postgres", t.Engine)
	}
	if err := writeCatalogue(t.Dir); err != nil {
		return err
	}
	if t.fleet, err = fleet.New(ctx, s); err != nil {
		return err
	}
	if err := t.crew(ctx); err != nil {
		return err
	}
	if len(t.mortal()) == 0 {
		return fmt.Errorf("--only: no process has a name that begins with %q", t.Only)
	}
	t.traffic = newTraffic(t.accepting(), t.Seed, t.Rate)
	t.chaos = newChaos(t)
	t.witness = &witness{traffic: t.traffic}
	return t.traffic.register(ctx)
}

// crew starts the service: one process for SQLite, else as many as asked for.
func (t *trial) crew(ctx context.Context) error {
	if t.Engine == sqlite {
		return t.enlist(ctx, "both")
	}
	for n := range t.APIs {
		if err := t.enlist(ctx, fmt.Sprintf("api-%d", n), "api"); err != nil {
			return err
		}
	}
	for n := range t.Workers {
		if err := t.enlist(ctx, fmt.Sprint(workerName, n), "worker"); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) enlist(ctx context.Context, name string, roles ...string) error {
	s, err := t.fleet.Service(name, roles...)
	if err != nil {
		return err
	}
	return s.Start(ctx)
}

// mortal are the processes that may be killed.
func (t *trial) mortal() []*fleet.Service {
	return slices.DeleteFunc(slices.Clone(t.fleet.Services()), func(s *fleet.Service) bool { return !strings.HasPrefix(s.Name, t.Only) })
}

// accepting are the processes that take events.
func (t *trial) accepting() []*fleet.Service {
	if t.Engine == sqlite {
		return t.fleet.Services()
	}
	return t.fleet.Services()[:t.APIs]
}

// play posts, kills, and then waits until everything has come to an end.
func (t *trial) play(ctx context.Context) error {
	posting, stopPosting := context.WithCancel(ctx)
	defer stopPosting()
	posted, seen := make(chan error, 1), make(chan struct{})
	go func() { posted <- t.traffic.run(posting, ctx) }()
	go func() {
		defer close(seen)
		t.witness.watch(posting, rand.New(rand.NewPCG(t.Seed, 3)))
	}()
	err := t.chaos.run(ctx)
	stopPosting()
	<-seen
	if err := errors.Join(err, <-posted); err != nil {
		return err
	}
	if err := t.chaos.calm(ctx); err != nil {
		return err
	}
	return t.rest(ctx)
}

// rest waits until nothing is unfinished, or for so long that everything should be.
func (t *trial) rest(ctx context.Context) error {
	const longest = lease + sweep + 60*time.Second
	for end := time.Now().Add(longest); ; {
		all, err := t.traffic.list(ctx) // anew: digests have come in
		if err != nil {
			return err
		}
		open, err := t.traffic.open(ctx, all)
		if err != nil || len(open) == 0 {
			return err
		}
		for err == nil && len(open) > 0 && time.Now().Before(end) {
			if err = sleep(ctx, 200*time.Millisecond); err == nil {
				open, err = t.traffic.open(ctx, open)
			}
		}
		if err != nil || len(open) > 0 {
			return err // what is unfinished is for the judge
		}
	}
}

// judge reads what came of everything and checks the invariants.
func (t *trial) judge(ctx context.Context, took time.Duration) (Report, error) {
	ids, err := t.traffic.list(ctx)
	if err != nil {
		return Report{}, err
	}
	trails, err := t.traffic.read(ctx, ids)
	if err != nil {
		return Report{}, err
	}
	ledger, err := t.fleet.Ledger()
	if err != nil {
		return Report{}, err
	}
	lanes := t.fleet.LanesDir()
	if t.broker != nil {
		lanes = t.broker.Dir()
	}
	leaks, err := faults.FindLeaks(t.traffic.canaries(t.fleet.Key), t.fleet.LogDir(), lanes)
	if err != nil {
		return Report{}, err
	}
	history := faults.History{
		Posts: t.traffic.posts(), Unanswered: t.traffic.unanswered(), Trails: trails, Ledger: ledger, Sightings: t.witness.sightings(),
		Stops: t.traffic.stopped(), Leaks: leaks, Ended: time.Now(), Alive: t.chaos.lives(), Patience: sweep + restartTime, Slack: stopLag + longestLag,
	}
	verdict := faults.Check(history)
	return t.report(history, verdict, took), t.keep(history, verdict)
}

// keep writes the trails that break an invariant beside the logs, for whoever looks into it.
func (t *trial) keep(h faults.History, v faults.Verdict) error {
	broken := map[tidings.NotificationID]bool{}
	for _, violation := range v.Violations {
		broken[violation.Notification] = true
	}
	var kept []wire.Trail
	for i := range h.Trails {
		if broken[h.Trails[i].ID] {
			kept = append(kept, h.Trails[i])
		}
	}
	if len(kept) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return fmt.Errorf("keep what is broken: %w", err)
	}
	return os.WriteFile(filepath.Join(t.Dir, "broken.json"), text, 0o600)
}

func (t *trial) close() error {
	var failed error
	if t.fleet != nil {
		failed = t.fleet.Close()
	}
	if t.broker != nil {
		t.broker.Stop()
	}
	if t.database != nil {
		failed = errors.Join(failed, t.database.Close())
	}
	return failed
}
