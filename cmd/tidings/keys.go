package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tidings/internal/app"
	"tidings/internal/store"
)

func newKeys() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Make, list and revoke API keys",
		Long: "Make, list and revoke API keys, on the database directly: the service may be running, and takes note within a second.",
	}
	cmd.AddCommand(newKeysCreate(), newKeysList(), newKeysRevoke())
	return cmd
}

func newKeysCreate() *cobra.Command {
	var name string
	var scopes []string
	var test, asJSON bool
	cmd := &cobra.Command{
		Use: "create", Short: "Make a key for an app, and the app with it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return errUsage("name the app with --app")
			}
			key, secret, err := app.NewKey(name, scopes, test, time.Now())
			if err != nil {
				return err
			}
			err = withStore(cmd, func(ctx context.Context, s *store.Store) error { return s.CreateKey(ctx, key) })
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{"key_id": key.ID, "secret": secret})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "key id  %s\nsecret  %s\n\nThe secret is not shown again. Use it as: curl -u %s:SECRET …\n", key.ID, secret, key.ID)
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "app", "", "the app that the key is for")
	cmd.Flags().StringSliceVar(&scopes, "scopes", []string{"all"}, "send, users, read, operate, admin, or all")
	cmd.Flags().BoolVar(&test, "test", false, "a key whose notifications run the whole path and never reach a provider")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {key_id, secret}")
	return cmd
}

func newKeysList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List keys, without their secrets", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd, func(ctx context.Context, s *store.Store) error {
				keys, err := s.Keys(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return printKeysJSON(cmd, keys)
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				fmt.Fprintln(w, "KEY\tAPP\tSCOPES\tCREATED\tREVOKED")
				for _, k := range keys {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.ID, k.App, strings.Join(k.Scopes, ","), stamp(k.CreatedAt), stamp(k.RevokedAt))
				}
				return w.Flush()
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a list of objects")
	return cmd
}

func printKeysJSON(cmd *cobra.Command, keys []store.Key) error {
	type shown struct {
		KeyID     string    `json:"key_id"`
		App       string    `json:"app"`
		Scopes    []string  `json:"scopes"`
		Test      bool      `json:"test"`
		CreatedAt time.Time `json:"created_at"`
		RevokedAt time.Time `json:"revoked_at,omitzero"`
	}
	list := make([]shown, 0, len(keys))
	for _, k := range keys {
		list = append(list, shown{k.ID, k.App, k.Scopes, k.Test, k.CreatedAt, k.RevokedAt})
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
}

func newKeysRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY_ID", Short: "End a key: whoever uses it is refused within a second", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd, func(ctx context.Context, s *store.Store) error {
				err := s.RevokeKey(ctx, args[0], time.Now())
				if errors.Is(err, store.ErrNotFound) {
					return fmt.Errorf("there is no key %q; tidings keys list lists those there are", args[0])
				}
				if err != nil {
					return fmt.Errorf("revoke %s: %w", args[0], err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s is revoked\n", args[0])
				return nil
			})
		},
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

func joinComma(s []string) string { return strings.Join(s, ",") }
