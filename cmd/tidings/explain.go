package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
	"tidings/templates"
)

func newExplain() *cobra.Command {
	var r remote
	var at, channel, dir string
	var since time.Duration
	cmd := &cobra.Command{
		Use: "explain USER EVENT | explain --catalog DIR", Short: "Say what a user would get and why, or what another catalogue would decide otherwise",
		Long: "With a user and an event type: every rule, what it looked at and what it said, by what is stored and without data.\n" +
			"With --catalog: which notifications since --since ago, the newest 10,000 at most, that catalogue would decide otherwise\n" +
			"than the current one, by what is known of the users today. Nothing is changed.",
		Example: "  tidings explain u_4711 order.shipped --at 2026-12-01T23:30:00Z\n  tidings explain --catalog ./catalog --since 24h",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			replays := cmd.Flags().Changed("catalog")
			switch {
			case replays && (len(args) > 0 || at != "" || channel != ""):
				return errUsage("--catalog asks about all users and takes only --since beside it")
			case !replays && len(args) != 2:
				return errUsage("name the user and the event type, or a catalogue with --catalog")
			case !replays && cmd.Flags().Changed("since"):
				return errUsage("--since belongs to --catalog")
			case since <= 0:
				return errUsage("--since must be above 0")
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			if replays {
				return replay(cmd, c, dir, since, r.json)
			}
			return explain(cmd, c, wire.Explained{UserID: args[0], Type: args[1]}, at, tidings.Channel(channel), r.json)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&at, "at", "", "decide for this RFC 3339 time; default: now")
	cmd.Flags().StringVar(&channel, "channel", "", "only this channel")
	cmd.Flags().StringVar(&dir, "catalog", "", "folder of the catalogue to compare with the current one")
	cmd.Flags().DurationVar(&since, "since", 24*time.Hour, "with --catalog: how far back")
	return cmd
}

// explain asks about the user and type of about.
func explain(cmd *cobra.Command, c *client.Client, about wire.Explained, at string, channel tidings.Channel, asJSON bool) error {
	var when time.Time
	if at != "" {
		t, ok := wire.ParseTime(at)
		if !ok {
			return errUsage("--at: %q is no RFC 3339 time such as 2026-12-01T08:00:00Z", at)
		}
		when = t
	}
	out, err := c.Explain(cmd.Context(), about.UserID, about.Type, when, channel)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
	return printExplained(cmd.OutOrStdout(), &out)
}

func printExplained(out io.Writer, e *wire.Explained) error {
	fmt.Fprintf(out, "%s for %s at %s: category %s, time zone %s\n", e.Type, e.UserID, shownTime(e.At), e.Category, e.Timezone)
	for _, c := range e.Channels {
		what := outcomeText(&wire.Outcome{Action: c.Decision.Action, Reason: c.Decision.Reason, Until: c.Decision.Until})
		if c.Decision.Action == tidings.ActionSend {
			what = fmt.Sprintf("send to %d address(es)", c.Decision.Addresses)
		}
		fmt.Fprintf(out, "\n%s: %s\n", c.Channel, what)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		for _, r := range c.Rules {
			why := string(r.Reason)
			if !r.Until.IsZero() {
				why += " until " + shownTime(r.Until)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", r.Rule, r.Verdict, why, r.Input)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func replay(cmd *cobra.Command, c *client.Client, dir string, since time.Duration, asJSON bool) error {
	files, err := templates.Load(os.DirFS(dir))
	if err != nil {
		return fmt.Errorf("read the catalogue in %s: %w", dir, err)
	}
	out, err := c.Replay(cmd.Context(), wire.Replay{Files: files, Since: wire.Instant{Time: wire.At(time.Now().Add(-since))}})
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(out)
	}
	return printReplayed(cmd.OutOrStdout(), &out)
}

func printReplayed(out io.Writer, r *wire.Replayed) error {
	cut := ""
	if r.Cut {
		cut = ", the newest of more"
	}
	fmt.Fprintf(out, "%d notifications since %s%s: %d decisions differ from version %d\n", r.Examined, shownTime(r.Since), cut, r.Changed, r.CatalogVersion)
	if r.Changed == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nCOUNT\tTYPE\tCHANNEL\tBEFORE\tAFTER")
	for _, n := range r.Counts {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", n.Count, n.Type, n.Channel, outcomeText(n.Before), outcomeText(n.After))
	}
	fmt.Fprintln(w, "\nNOTIFICATION\tTYPE\tUSER\tCHANNEL\tBEFORE\tAFTER")
	for _, d := range r.Differences {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.Type, d.UserID, d.Channel, outcomeText(d.Before), outcomeText(d.After))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if more := r.Changed - len(r.Differences); more > 0 {
		fmt.Fprintf(out, "and %d older\n", more)
	}
	return nil
}

// outcomeText is a decision in a few words; nil: there is none.
func outcomeText(o *wire.Outcome) string {
	switch {
	case o == nil:
		return "none"
	case o.Reason == "":
		return string(o.Action)
	case o.Until.IsZero():
		return fmt.Sprintf("%s %s", o.Action, o.Reason)
	}
	return fmt.Sprintf("%s %s until %s", o.Action, o.Reason, shownTime(o.Until))
}

func shownTime(t wire.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
