package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
)

func newServe() *cobra.Command {
	var roles []string
	var level string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: "Run the service until SIGTERM or SIGINT. When it listens it prints one line, \"ready http://ADDRESS:PORT\".\n" +
			"Without a configuration everything is embedded and kept in ./data.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var flags []config.Flag
			if cmd.Flags().Changed("roles") { // also to nothing, which is refused
				flags = append(flags, config.Flag{Name: "--roles", Variable: "TIDINGS_ROLES", Value: joinComma(roles)})
			}
			cfg, err := loadConfig(cmd, flags...)
			if err != nil {
				return err
			}
			var lvl slog.Level
			if err := lvl.UnmarshalText([]byte(level)); err != nil {
				return errUsage("--log-level: %q is not debug, info, warn or error", level)
			}
			a, err := app.New(cmd.Context(), cfg, app.Settings{
				Version: version(), Log: newLog(cmd.ErrOrStderr(), lvl), Vendors: all.Vendors(),
			})
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), "ready", a.URL())
			return a.Run(cmd.Context())
		},
	}
	cmd.Flags().StringSliceVar(&roles, "roles", nil, "what this process does: api, worker (default: the configuration's)")
	cmd.Flags().StringVar(&level, "log-level", "info", "debug, info, warn or error")
	return cmd
}
