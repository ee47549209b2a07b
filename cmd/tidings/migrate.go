package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tidings/internal/store"
)

func newMigrate() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Make the database's tables what this version of tidings needs",
		Long:  "Make the database's tables what this version of tidings needs, and say which version they have. serve does the same at its start.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := withStore(cmd, func(context.Context, *store.Store) error { return nil }); err != nil {
				return err
			}
			if asJSON {
				return printValue(cmd, map[string]int{"version": store.SchemaVersion()})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the schema is at version %d\n", store.SchemaVersion())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print {version}")
	return cmd
}
