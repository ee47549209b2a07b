package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tidings/internal/store"
)

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the log up to this binary's",
		Long:  "Bring the schema of the log up to this binary's and say which version it has. serve does the same at its start.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := withStore(cmd, func(context.Context, *store.Store) error { return nil }); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "the schema is at version %d\n", store.SchemaVersion())
			return nil
		},
	}
}
