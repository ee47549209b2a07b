package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"tidings/internal/playground"
)

func newDemo() *cobra.Command {
	o := playground.Options{Version: version()}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run everything on this machine, against simulated providers, and show what happens",
		Long: "Start the simulators and the service in a fresh temporary folder, send real events through real protocols, say what came of\n" +
			"each, and go on until Ctrl-C. With --once it ends after the story, with exit code 1 if anything came out wrong.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Out = cmd.OutOrStdout()
			o.Log = newLog(cmd.ErrOrStderr(), slog.LevelError)
			return playground.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Once, "once", false, "end after the story")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one line of JSON when ready; with --once one line a step")
	cmd.Flags().StringVar(&o.Dir, "data-dir", "", "keep everything in this folder (default: a temporary one, removed at the end)")
	cmd.Flags().StringVar(&o.Listen, "listen", "127.0.0.1:0", "where the service listens")
	return cmd
}
