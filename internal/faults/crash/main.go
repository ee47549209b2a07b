// Command crash kills the service at random moments and proves that nothing is lost by it and nothing
// sent twice in silence: the real binary, real files, real protocols, and the providers' own ledger
// as the witness.
//
// It promises the same kills, events and provider faults for the same seed, though not the same
// interleaving. It must never look inside the service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Options say what is run and for how long.
type Options struct {
	Binary   string // the service's; empty: built now
	Dir      string // where everything lies; empty: a temporary folder, kept if an invariant is broken
	Engine   string // sqlite: one process; postgres: several, with an external broker
	Kills    int
	Seed     uint64
	Longest  time.Duration // the run ends by then, though fewer were killed; 0: no bound
	Pause    time.Duration // a process lives between 0 and twice as long before its kill
	Every    time.Duration // there is a kill exactly so often instead; 0: by Pause
	Only     string        // kills take processes alone whose name begins so, such as worker; empty: any
	Rate     int           // events posted a second
	Burst    int           // events posted at once for one digest, before every tenth kill and the first; 0: none
	APIs     int           // processes that only accept; PostgreSQL only
	Workers  int           // processes that only deliver; PostgreSQL only
	Gently   bool          // processes end by SIGTERM, one after the other, and providers behave: a rolling restart
	Restarts bool          // the database and the broker are restarted too; PostgreSQL only
	Progress io.Writer
}

// Defaults are options for an engine.
func Defaults(engine string) Options {
	return Options{Engine: engine, Kills: 200, Seed: 1, Pause: 750 * time.Millisecond, Rate: 60, Burst: 200, APIs: 2, Workers: 3,
		Restarts: engine == postgres, Progress: io.Discard}
}

// The engines.
const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		stop()
		os.Exit(1)
	}
}

var errBroken = errors.New("an invariant is broken; see the report")

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	o := Defaults(sqlite)
	flags := flag.NewFlagSet("crash", flag.ContinueOnError)
	flags.StringVar(&o.Engine, "engine", o.Engine, "sqlite or postgres")
	flags.IntVar(&o.Kills, "kills", o.Kills, "how many processes are killed")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "of all that is random")
	seconds := flags.Int("seconds", 0, "end after so long though fewer were killed; 0: no bound")
	flags.DurationVar(&o.Pause, "pause", o.Pause, "mean time between kills")
	flags.DurationVar(&o.Every, "every", 0, "kill exactly so often instead (0: at random, by -pause)")
	flags.StringVar(&o.Only, "only", "", "kill only processes whose name begins so, such as worker (default: any)")
	flags.IntVar(&o.Rate, "rate", o.Rate, "events posted a second")
	flags.IntVar(&o.Burst, "burst", o.Burst, "events posted at once for one digest, before every tenth kill (0: none)")
	flags.IntVar(&o.APIs, "apis", o.APIs, "api processes (postgres)")
	flags.IntVar(&o.Workers, "workers", o.Workers, "worker processes (postgres)")
	flags.StringVar(&o.Dir, "dir", "", "where everything lies (default: a temporary folder)")
	flags.StringVar(&o.Binary, "binary", "", "the service (default: built now)")
	restarts := flags.Bool("restarts", true, "end the database and the broker now and then, too (postgres)")
	flags.BoolVar(&o.Gently, "gently", false, "end processes by SIGTERM instead, one after the other: a rolling restart")
	asJSON := flags.Bool("json", false, "print the report as JSON")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.Longest, o.Restarts, o.Progress = time.Duration(*seconds)*time.Second, *restarts && o.Engine == postgres && !o.Gently, progress
	report, err := Run(ctx, o)
	if err != nil {
		return err
	}
	if *asJSON {
		err = json.NewEncoder(out).Encode(report)
	} else {
		_, err = io.WriteString(out, report.String())
	}
	if err == nil && len(report.Violations) > 0 {
		return errBroken
	}
	return err
}
