package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
)

func newLanes() *cobra.Command {
	var r remote
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "lanes", Short: "Show how the lanes stand; pause, resume, slow down or rebuild one", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			if !watch {
				return showLanes(cmd.Context(), cmd.OutOrStdout(), c, r.json)
			}
			if every <= 0 {
				return errUsage("--every must be above 0")
			}
			return watchLanes(cmd.Context(), cmd.OutOrStdout(), every, func(ctx context.Context, out io.Writer) error {
				return showLanes(ctx, out, c, r.json)
			})
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&watch, "watch", false, "show them again and again until interrupted")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "with --watch: how often")
	cmd.AddCommand(
		newLane("pause LANE", "Send nothing more of a lane until it is resumed; posts are still accepted", (*client.Client).PauseLane),
		newLane("resume LANE", "End a pause", (*client.Client).ResumeLane),
		newLaneRate(), newLanesRebuild(),
	)
	return cmd
}

// newLane is a command that changes one lane and shows it.
func newLane(use, short string, change func(*client.Client, context.Context, tidings.Lane) (wire.Lane, error)) *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeLanes(cmd, &r, func(c *client.Client) ([]wire.Lane, error) {
				l, err := change(c, cmd.Context(), tidings.Lane(args[0]))
				return []wire.Lane{l}, err
			})
		},
	}
	r.flags(cmd)
	return cmd
}

func newLaneRate() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use: "rate LANE PER_SECOND|off", Short: "Limit how many of a lane are sent a second, by all processes together", Args: cobra.ExactArgs(2),
		Example: "  tidings lanes rate push.bulk 50\n  tidings lanes rate push.bulk off",
		RunE: func(cmd *cobra.Command, args []string) error {
			rate, err := laneRate(args[1])
			if err != nil {
				return err
			}
			return changeLanes(cmd, &r, func(c *client.Client) ([]wire.Lane, error) {
				l, err := c.SetLaneRate(cmd.Context(), tidings.Lane(args[0]), rate)
				return []wire.Lane{l}, err
			})
		},
	}
	r.flags(cmd)
	return cmd
}

// laneRate is the rate that a lane is to have; 0: none.
func laneRate(text string) (float64, error) {
	if text == "off" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil, math.IsNaN(rate), math.IsInf(rate, 0):
		return 0, errUsage("%q is no rate: take a number above 0, or off", text)
	case rate <= 0:
		return 0, errUsage("a rate must be above 0; off lifts it, and pause stops the lane")
	}
	return rate, nil
}

func newLanesRebuild() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use: "rebuild [LANE]", Short: "Make a lane, or all of them, again and fill it from the log; nothing is lost or sent twice", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeLanes(cmd, &r, func(c *client.Client) ([]wire.Lane, error) { return rebuildLanes(cmd, c, args) })
		},
	}
	r.flags(cmd)
	return cmd
}

func rebuildLanes(cmd *cobra.Command, c *client.Client, names []string) (done []wire.Lane, err error) {
	if len(names) == 0 {
		all, err := c.Lanes(cmd.Context())
		if err != nil {
			return nil, err
		}
		for _, l := range all.Data {
			names = append(names, string(l.Name))
		}
	}
	for _, name := range names {
		l, err := c.RebuildLane(cmd.Context(), tidings.Lane(name))
		if err != nil {
			return done, fmt.Errorf("rebuild %s: %w", name, err)
		}
		done = append(done, l)
	}
	return done, nil
}

// changeLanes does something to lanes and shows how they stand then.
func changeLanes(cmd *cobra.Command, r *remote, change func(*client.Client) ([]wire.Lane, error)) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	changed, err := change(c)
	if err != nil {
		return err
	}
	return printLanes(cmd.OutOrStdout(), wire.Lanes{Data: changed}, r.json)
}

func showLanes(ctx context.Context, out io.Writer, c *client.Client, asJSON bool) error {
	all, err := c.Lanes(ctx)
	if err != nil {
		return err
	}
	return printLanes(out, all, asJSON)
}

// watchLanes shows until ctx ends; on a terminal each time over what it showed before.
func watchLanes(ctx context.Context, out io.Writer, every time.Duration, show func(context.Context, io.Writer) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if onTerminal(out) {
			fmt.Fprint(out, "\x1b[H\x1b[2J")
		}
		if err := show(ctx, out); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// onTerminal reports whether what is written is seen by a person.
func onTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printLanes prints a table, or one line of JSON.
func printLanes(out io.Writer, all wire.Lanes, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(all)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "LANE\tDEPTH\tOLDEST\tIN FLIGHT\tPARKED\tDRAIN/S\tRATE/S\tLIMIT\tSTATE\t")
	for _, l := range all.Data {
		state, rate := "open", "-"
		if l.Paused {
			state = "paused"
		}
		if l.RatePerSecond > 0 {
			rate = strconv.FormatFloat(float64(l.RatePerSecond), 'f', -1, 64)
		}
		oldest := time.Duration(l.OldestAgeSeconds * float64(time.Second)).Round(100 * time.Millisecond)
		fmt.Fprintf(w, "%s\t%d\t%v\t%d\t%d\t%.1f\t%s\t%d\t%s\t\n", l.Name, l.Depth, oldest, l.InFlight, l.Parked, l.DrainPerSecond, rate, l.Limit, state)
	}
	return w.Flush()
}
