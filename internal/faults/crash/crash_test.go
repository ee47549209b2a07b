package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
	"tidings/deploy"
	"tidings/internal/faults/fleet"
	"tidings/templates"
)

// The long run is make crash; this is a handful of kills on each database, and one restart of
// every process in turn.
func TestAHandfulOfKillsLosesAndRepeatsNothing(t *testing.T) {
	binary, err := fleet.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for why, edit := range map[string]func(*Options){
		"one process on SQLite":             func(o *Options) { o.Engine = sqlite },
		"several on PostgreSQL":             func(o *Options) { o.Engine, o.APIs, o.Workers = postgres, 1, 2 },
		"a rolling restart under some load": func(o *Options) { o.Engine, o.APIs, o.Workers, o.Gently, o.Burst = postgres, 2, 2, true, 0 },
	} {
		t.Run(why, func(t *testing.T) {
			o := Defaults(sqlite)
			edit(&o)
			o.Binary, o.Dir, o.Kills, o.Rate = binary, t.TempDir(), 4, 40
			report, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Violations) > 0 || report.Kills != o.Kills || report.Figures.Accepted == 0 || report.Figures.Accepts == 0 ||
				report.Figures.Gathered < o.Burst {
				t.Errorf("the report is\n%v", report)
			}
		})
	}
}

func TestASteadyRunKillsWorkersAloneAndOnTime(t *testing.T) {
	o := Defaults(postgres)
	o.Only, o.Every = "worker", 5*time.Second
	t1 := &trial{Options: o, fleet: &fleet.Fleet{}}
	for _, name := range []string{"api-0", "worker-0", "worker-1"} {
		if _, err := t1.fleet.Service(name); err != nil {
			t.Fatal(err)
		}
	}
	c := newChaos(t1)
	c.began = time.Now()
	killed := map[string]bool{}
	for range 100 {
		killed[c.victim(5).Name] = true
	}
	if len(killed) != 2 || killed["api-0"] {
		t.Errorf("killed %v", killed)
	}
	c.Only = ""
	for range 100 {
		first := c.victim(1)
		c.deaths = []death{{service: first}}
		if second := c.victim(2); first.Name == "api-0" || second.Name == "api-0" || first == second {
			t.Fatalf("a burst meets the kills of %s and %s", first.Name, second.Name)
		}
		c.deaths = nil
	}
	if d := c.untilKill(3); d > 15*time.Second || d < 14*time.Second {
		t.Errorf("the third kill is in %v, want 15 s after the beginning", d)
	}
}

func TestAnEngineThatThereIsNotIsRefused(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-engine", "oracle", "-dir", t.TempDir()}, &out, &out); err == nil || out.Len() > 0 {
		t.Errorf("err = %v, printed %q", err, out.String())
	}
}

func TestTheCatalogueOfTheRunIsSound(t *testing.T) {
	dir := t.TempDir()
	if err := writeCatalogue(dir); err != nil {
		t.Fatal(err)
	}
	files, err := templates.Load(os.DirFS(filepath.Join(dir, "catalog")))
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := templates.Load(deploy.Catalogue())
	if err != nil || len(sample) != len(files) {
		t.Errorf("%d files, the sample has %d, %v", len(files), len(sample), err)
	}
	if d := catalogue.Events[commentType].Digest; d.Window != 3*time.Second || d.Max != 10 {
		t.Errorf("comments are told of as %+v", d)
	}
	for event, want := range map[string]tidings.OnUnknown{
		"order.shipped": {Wait: 3 * time.Second, Retry: true}, "payment.failed": {Wait: 3 * time.Second},
		"security.alert": {Retry: true}, "login.code": {Retry: true}, "offer.weekly": {},
	} {
		if got := catalogue.Events[event].Unknown(tidings.Email); got != want {
			t.Errorf("%s: %+v, want %+v", event, got, want)
		}
	}
}

func TestFaultsOfARunCanBeShownByTheirProviders(t *testing.T) {
	sim, err := simulator.Start(simulator.Settings{Listen: simulator.OnPorts(0), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sim.Close() }()
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		if err := sim.SetFaults(mischief(random)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEqualSeedsMakeEqualEvents(t *testing.T) {
	events := func(seed uint64) string {
		random := rand.New(rand.NewPCG(seed, 1))
		var all []event
		for n := range 50 {
			e := newEvent(n, random)
			e.SendAt = nil // counts from now
			all = append(all, e)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if first, second := events(7), events(7); first != second || first == events(8) {
		t.Error("the seed does not decide")
	}
}

func TestOpenClaimsAreCountedForTheKillThatLeftThem(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 3, 1, 12, 0, seconds, 0, time.UTC) }
	open := func(from, to int) wire.Delivery {
		return wire.Delivery{Attempts: []wire.Attempt{
			{Code: "lease_over", Outcome: tidings.OutcomeUnknown, StartedAt: wire.At(at(from)), EndedAt: wire.At(at(to))}, {Outcome: tidings.OK},
		}}
	}
	trails := []wire.Trail{{Deliveries: []wire.Delivery{open(1, 10), open(2, 10)}}, {Deliveries: []wire.Delivery{open(6, 15)}}}
	spans, most := ambiguous(trails, []death{{killed: at(5)}, {killed: at(9)}})
	if got := spansOf(spans); got != (Spans{Count: 3, P50: 9000, P99: 9000, Max: 9000}) || most != 2 {
		t.Errorf("spans %+v, most %d", got, most)
	}
}
