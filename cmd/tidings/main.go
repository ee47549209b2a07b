// Command tidings is the whole of the service in one binary: the service itself, its demo, the
// provider simulators and the tools of an operator.
//
// It promises one file a command, which parses and calls. It must never hold rules of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/store"
)

// version is the commit that this binary was built from, where make build could tell.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	v := "dev"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += "+changed"
		}
	}
	return v
}

// gcPercent lets the heap grow further between collections than Go's default: what is alive is
// small beside what passes through, and a collection costs the processor that deliveries need.
const gcPercent = 300

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(os.Args[1:])
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tidings:", sentence(err))
		stop()
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "tidings",
		Short:         "Tells users what happened, by push, SMS and e-mail, and tells support whether they got it",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version(),
	}
	root.PersistentFlags().String("config", os.Getenv("TIDINGS_CONFIG"), "configuration file (TIDINGS_CONFIG)")
	root.AddCommand(
		newDemo(), newServe(), newMigrate(), newSimulate(), newKeys(), newCatalog(), newSend(), newTrace(), newExplain(), newLanes(), newDeadLetters(), newBench(),
	)
	nameUnknown(root)
	sayUsage(root)
	return root
}

// nameUnknown lets every command that is but a group of others refuse what it does not know, where
// cobra would print its help and report success.
func nameUnknown(group *cobra.Command) {
	for _, c := range group.Commands() {
		nameUnknown(c)
	}
	if !group.HasSubCommands() || group.Runnable() {
		return
	}
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return errNoCommand(cmd, args[0])
		}
		return cmd.Help()
	}
}

// loadConfig reads the configuration that --config names; paths in it are relative to its file.
func loadConfig(cmd *cobra.Command, flags ...config.Flag) (config.Config, error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(file, os.Environ(), all.Vendors(), flags...)
}

// withStore runs f on the log that the configuration names, without the service.
func withStore(cmd *cobra.Command, f func(ctx context.Context, s *store.Store) error) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	return app.WithStore(cmd.Context(), cfg, newLog(cmd.ErrOrStderr(), slog.LevelWarn), f)
}

func newLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}

// errUsage is a call that lacks something; the sentence says the mend.
func errUsage(format string, args ...any) error {
	return errors.New(fmt.Sprintf(format, args...) + "; see --help")
}
