// Package bench measures this machine: how many events the service accepts, delivers to a
// provider that costs nothing, and pushes to a simulated APNs in another process.
//
// It promises that every measurement is bounded, and that what is compared is measured in
// turns within one run, since the speed of a machine changes by the minute. It must never be
// needed by the service itself.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Kinds lists what can be measured, in the order in which it is.
func Kinds() []string { return []string{"accept", "drain", "blast"} }

// Options say what is measured, how often and how long.
type Options struct {
	Kinds      []string      // some of Kinds; none: all
	Rounds     int           // of each measurement; 0: 5
	Span       time.Duration // of one round of accept; 0: 1s
	Deliveries int           // of one round of drain and blast; 0: 10,000
	JSON       bool          // print one JSON document in place of a table
	Simulate   []string      // the command, to which a folder is added, that runs Simulate in another process
	Log        *slog.Logger  // of the service under measurement; nil: silent
}

// run is a measurement under way.
type run struct {
	Options
	dir string // of its own
}

// Run measures and prints the report.
func Run(ctx context.Context, o Options, out io.Writer) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	report := Report{Cores: runtime.GOMAXPROCS(0), Rounds: o.Rounds}
	for _, kind := range o.Kinds {
		measure := map[string]func(context.Context, *run) ([]Result, error){"accept": accept, "drain": drain, "blast": blast}[kind]
		results, err := within(o, kind, func(r *run) ([]Result, error) { return measure(ctx, r) })
		if err != nil {
			return fmt.Errorf("measure %s: %w", kind, err)
		}
		report.Results = append(report.Results, results...)
	}
	if o.JSON {
		return report.writeJSON(out)
	}
	return report.writeTable(out)
}

func (o Options) withDefaults() (Options, error) {
	if len(o.Kinds) == 0 {
		o.Kinds = Kinds()
	}
	for _, k := range o.Kinds {
		if !slices.Contains(Kinds(), k) {
			return o, fmt.Errorf("there is no measurement %q: take %s", k, strings.Join(Kinds(), ", "))
		}
	}
	if o.Rounds <= 0 {
		o.Rounds = 5
	}
	if o.Span <= 0 {
		o.Span = time.Second
	}
	if o.Deliveries <= 0 {
		o.Deliveries = 10_000
	}
	if over := o.Deliveries % batchSize; o.Deliveries > batchSize && over > 0 {
		o.Deliveries += batchSize - over // whole requests
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if slices.Contains(o.Kinds, "blast") && len(o.Simulate) == 0 {
		return o, errors.New("blast needs the command that runs the simulator")
	}
	return o, nil
}

// within gives a measurement a folder for as long as it takes.
func within(o Options, kind string, measure func(*run) ([]Result, error)) (results []Result, err error) {
	dir, err := os.MkdirTemp("", "tidings-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return measure(&run{Options: o, dir: filepath.Join(dir, kind)})
}
