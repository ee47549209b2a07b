package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newSend() *cobra.Command {
	var r remote
	var event struct {
		Type      string          `json:"type"`
		User      string          `json:"user"`
		Data      json.RawMessage `json:"data,omitempty"`
		Channels  []string        `json:"channels,omitempty"`
		DedupeKey string          `json:"dedupe_key,omitempty"`
		SendAt    string          `json:"send_at,omitempty"`
		Local     string          `json:"send_at_local,omitempty"`
		DryRun    bool            `json:"dry_run,omitempty"`
	}
	var data string
	cmd := &cobra.Command{
		Use: "send --type TYPE --user ID", Short: "Post one event", Args: cobra.NoArgs,
		Example: `  tidings send --type order.shipped --user u_4711 --data '{"order":"4711","carrier":"UPS"}'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if event.Type == "" || event.User == "" {
				return errUsage("name the event with --type and the user with --user")
			}
			if event.Data = json.RawMessage(data); data != "" && !isObject(event.Data) {
				return errUsage(`--data: not a JSON object, such as {"order":"4711"}`)
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := c.Do(cmd.Context(), http.MethodPost, "/v1/events", event, &raw); err != nil {
				return err
			}
			if r.json || event.DryRun {
				return printJSON(cmd, raw)
			}
			return printAccepted(cmd, raw)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&event.Type, "type", "", "event type of the catalogue")
	cmd.Flags().StringVar(&event.User, "user", "", "id of the user")
	cmd.Flags().StringVar(&data, "data", "", "the event's data, a JSON object")
	cmd.Flags().StringSliceVar(&event.Channels, "channels", nil, "only these channels of the event type")
	cmd.Flags().StringVar(&event.DedupeKey, "dedupe-key", "", "the same key again gives the same notification")
	cmd.Flags().StringVar(&event.SendAt, "send-at", "", "not before this RFC 3339 time")
	cmd.Flags().StringVar(&event.Local, "send-at-local", "", "not before the user's clock shows this time, as in 2026-12-01T09:00")
	cmd.MarkFlagsMutuallyExclusive("send-at", "send-at-local")
	cmd.Flags().BoolVar(&event.DryRun, "dry-run", false, "decide and render, and change nothing")
	return cmd
}

func isObject(text json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(text, &members) == nil && members != nil
}

func printAccepted(cmd *cobra.Command, raw json.RawMessage) error {
	var a struct {
		ID, Status string
		Duplicate  bool
		Decisions  []struct {
			Channel, Action, Reason string
			Addresses               int
			Until                   *time.Time
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	again := ""
	if a.Duplicate {
		again = " (accepted before)"
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s %s%s\n", a.ID, a.Status, again)
	for _, d := range a.Decisions {
		what := strings.ReplaceAll(d.Reason, "_", " ")
		switch {
		case d.Action == "send" && d.Addresses == 1:
			what = "to 1 address"
		case d.Action == "send":
			what = fmt.Sprintf("to %d addresses", d.Addresses)
		case d.Until != nil:
			what += " until " + stamp(*d.Until)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "  %-8s %-8s %s\n", d.Channel, d.Action, what)
	}
	return nil
}

func printJSON(cmd *cobra.Command, raw json.RawMessage) error {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetIndent("", "  ")
	return enc.Encode(raw)
}
