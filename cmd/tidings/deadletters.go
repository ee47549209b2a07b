package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tidings"
	"tidings/api/wire"
)

func newDeadLetters() *cobra.Command {
	cmd := &cobra.Command{Use: "dead-letters", Short: "List deliveries that need a person, and try them again"}
	cmd.AddCommand(newDeadLettersList(), newDeadLettersRedrive())
	return cmd
}

// A deadFilter is how dead letters are selected on the command line, by the parameters' names.
type deadFilter map[string]*string

func (f deadFilter) flags(cmd *cobra.Command) {
	for _, name := range []struct{ parameter, about string }{
		{"channel", "on this channel"}, {"lane", "in this lane, such as sms.bulk"}, {"reason", "dead for this reason, such as retries_spent"},
		{"app", "of this app"}, {"event", "of this event type"}, {"user_id", "to this user"}, {"provider", "that this provider was called for"},
		{"since", "dead at this RFC 3339 time or later"}, {"until", "dead before this RFC 3339 time"},
	} {
		f[name.parameter] = cmd.Flags().String(strings.TrimSuffix(name.parameter, "_id"), "", "only those "+name.about)
	}
}

// query is the filter as parameters of a query.
func (f deadFilter) query() url.Values {
	q := url.Values{}
	for name, value := range f {
		if *value != "" {
			q.Set(name, *value)
		}
	}
	return q
}

func newDeadLettersList() *cobra.Command {
	var r remote
	filter := deadFilter{}
	var limit int
	var cursor string
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters, those accepted last first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			q := filter.query()
			q.Set("limit", strconv.Itoa(limit))
			if cursor != "" {
				q.Set("cursor", cursor)
			}
			page, err := c.DeadLetters(cmd.Context(), q)
			if err != nil {
				return err
			}
			if r.json {
				return printValue(cmd, page)
			}
			return printDeadLetters(cmd, page)
		},
	}
	r.flags(cmd)
	filter.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "how many, at most 200")
	cmd.Flags().StringVar(&cursor, "cursor", "", "page on after the next_cursor of the page before")
	return cmd
}

func printDeadLetters(cmd *cobra.Command, page wire.DeadLetters) error {
	out := cmd.OutOrStdout()
	if len(page.Data) == 0 {
		fmt.Fprintln(out, "no dead letters")
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "DELIVERY\tDIED\tLANE\tAPP\tEVENT\tUSER\tREASON\tLAST ANSWER")
	for _, l := range page.Data {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.ID, stamp(l.DiedAt.Time), l.Lane, l.App, l.Type, l.UserID, l.Reason, lastAnswer(l.LastAttempt))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if page.NextCursor != nil {
		fmt.Fprintf(out, "\nthere are more: --cursor %s\n", *page.NextCursor)
	}
	return nil
}

func lastAnswer(a *wire.Attempt) string {
	if a == nil {
		return "-"
	}
	text := a.Provider + " " + string(a.Outcome)
	if a.HTTPStatus > 0 {
		text += " " + strconv.Itoa(a.HTTPStatus)
	}
	return strings.TrimSpace(text + " " + a.Code)
}

func newDeadLettersRedrive() *cobra.Command {
	var r remote
	filter := deadFilter{}
	var limit int
	var rate float64
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use: "redrive [DELIVERY…]", Short: "Try dead letters again: those named, or all that the flags select",
		Long: "Try dead letters again: those named, or all that the flags select. Each has all of its tries and providers again; whether it may " +
			"still be sent is decided anew when its time comes. What is of no more use ends as expired.",
		Example: "  tidings dead-letters redrive --provider twilio --since 2026-12-01T08:00:00Z --rate 20",
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := filter.redrive(args)
			if err != nil {
				return err
			}
			if limit < 1 || limit > wire.MaxRedriveLimit {
				return errUsage("--limit: %d is not a number from 1 to %d", limit, wire.MaxRedriveLimit)
			}
			in.Limit, in.RatePerSecond = limit, wire.Rate(rate)
			return redrive(cmd, &r, in, dryRun, yes)
		},
	}
	r.flags(cmd)
	filter.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", wire.MaxRedriveLimit, "at most so many, those accepted first")
	cmd.Flags().Float64Var(&rate, "rate", 0, "how many are due in a second; 0: all at once")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "count, and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// redrive is the body of a redrive by the filter.
func (f deadFilter) redrive(ids []string) (wire.Redrive, error) {
	var in wire.Redrive
	for _, text := range ids {
		id, err := tidings.ParseDeliveryID(text)
		if err != nil {
			return in, errUsage("%q is not the id of a delivery, dlv_…", text)
		}
		in.IDs = append(in.IDs, id)
	}
	in.Channel, in.Lane, in.Reason = tidings.Channel(*f["channel"]), tidings.Lane(*f["lane"]), tidings.Reason(*f["reason"])
	in.App, in.Event, in.UserID, in.Provider = wire.Name(*f["app"]), wire.Name(*f["event"]), wire.Name(*f["user_id"]), wire.Name(*f["provider"])
	for name, into := range map[string]*wire.Time{"since": &in.Since, "until": &in.Until} {
		if text := *f[name]; text != "" {
			at, ok := wire.ParseTime(text)
			if !ok {
				return in, errUsage("--%s: not a time as in RFC 3339, such as %s", name, time.Now().UTC().Format(time.RFC3339))
			}
			*into = wire.At(at)
		}
	}
	return in, nil
}

// errDeclined is an answer other than yes.
var errDeclined = errors.New("nothing was changed: answer y, or give --yes")

// redrive counts first, and asks unless yes is given.
func redrive(cmd *cobra.Command, r *remote, in wire.Redrive, dryRun, yes bool) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	if dryRun || !yes {
		in.DryRun = true
		count, err := c.Redrive(cmd.Context(), in)
		if err != nil || dryRun || count.Matched == 0 {
			return orPrint(cmd, r, count, err)
		}
		if !confirmed(cmd, count) {
			return errDeclined
		}
		in.DryRun = false
	}
	done, err := c.Redrive(cmd.Context(), in)
	return orPrint(cmd, r, done, err)
}

// confirmed asks on stderr, so that what is printed stays data, and reads one line.
func confirmed(cmd *cobra.Command, count wire.Redriven) bool {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s. Go on? [y/N] ", redrivenText(count))
	line, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // no answer is no
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}

func orPrint(cmd *cobra.Command, r *remote, done wire.Redriven, err error) error {
	if err != nil {
		return err
	}
	if r.json {
		return printValue(cmd, done)
	}
	fmt.Fprintln(cmd.OutOrStdout(), redrivenText(done))
	return nil
}

// redrivenText is what became of dead letters, or would.
func redrivenText(r wire.Redriven) string {
	if r.Matched+r.Skipped == 0 {
		return "no dead letters are selected"
	}
	again := "are tried again"
	if r.DryRun {
		again = "would be tried again"
	}
	text := fmt.Sprintf("%d of %d dead letters %s", r.Redriven, r.Matched, again)
	if !r.LastDueAt.IsZero() && time.Until(r.LastDueAt.Time) > time.Second {
		text += ", the last at " + stamp(r.LastDueAt.Time)
	}
	for _, part := range []struct {
		n    int
		text string
	}{{r.Expired, "too late to be of use"}, {r.Cancelled, "called off"}, {r.Skipped, "not dead or not selected"}} {
		if part.n > 0 {
			text += fmt.Sprintf("; %d %s", part.n, part.text)
		}
	}
	if r.More {
		text += "; there are more"
	}
	return text
}

func printValue(cmd *cobra.Command, v any) error {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
