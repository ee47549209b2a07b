package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

func newTrace() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use: "trace ID", Short: "Say whether the user got it: a notification's whole trail", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := c.Do(cmd.Context(), http.MethodGet, "/v1/notifications/"+url.PathEscape(args[0]), nil, &raw); err != nil {
				return err
			}
			if r.json {
				return printJSON(cmd, raw)
			}
			return printTrail(cmd, raw)
		},
	}
	r.flags(cmd)
	return cmd
}

func printTrail(cmd *cobra.Command, raw json.RawMessage) error {
	var t struct {
		ID, App, Type, Status, Summary string
		UserID                         string `json:"user_id"`
		Timeline                       []struct {
			At   time.Time
			Text string
		}
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s  %s for %s by %s: %s\n%s\n\n", t.ID, t.Type, t.UserID, t.App, t.Status, t.Summary)
	for _, m := range t.Timeline {
		fmt.Fprintf(out, "%s  %s\n", m.At.UTC().Format("2006-01-02 15:04:05.000"), m.Text)
	}
	return nil
}
