package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"tidings/channels/simulator"
	"tidings/internal/playground"
)

func newSimulate() *cobra.Command {
	var base int
	var ledger, file, hooks, listen string
	var force bool
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Run the provider simulators alone",
		Long: "Speak the providers' real protocols on consecutive ports of 127.0.0.1 until SIGTERM or SIGINT, and print one line of JSON\n" +
			"when all listen. Each accepted send is a line of the ledger. Faults are set on the control port, base + 8.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hooks != "" && !isAddress(hooks) {
				return errUsage("--hooks: %q is not a URL such as http://127.0.0.1:8080", hooks)
			}
			return simulate(cmd, base, ledger, hooks, playground.Setup{File: file, Listen: listen, Force: force})
		},
	}
	cmd.Flags().IntVar(&base, "listen-base", 9001, "first port; 0 takes free ones")
	cmd.Flags().StringVar(&ledger, "ledger", "", "file to append accepted sends to")
	cmd.Flags().StringVar(&file, "write-config", "", "write a configuration that tidings serve takes as it is; credentials lie beside it, in a folder of its own")
	cmd.Flags().StringVar(&hooks, "hooks", "", "base URL under which receipts reach the service (default: where each message asks for them)")
	cmd.Flags().StringVar(&listen, "service-listen", "127.0.0.1:8080", "where the written configuration lets the service listen")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a configuration that is there")
	return cmd
}

// simulate runs the simulators.
func simulate(cmd *cobra.Command, base int, ledger, hooks string, setup playground.Setup) (err error) {
	dir, forget, err := credentials(setup)
	if err != nil {
		return err
	}
	defer forget()
	s := simulator.Settings{
		Listen: simulator.OnPorts(base), HooksURL: hooks, Dir: dir, Log: newLog(cmd.ErrOrStderr(), slog.LevelWarn),
	}
	if ledger != "" {
		f, err := os.OpenFile(ledger, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("open the ledger: %w", err)
		}
		defer f.Close()
		s.Ledger = f
	}
	sim, err := simulator.Start(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	if setup.File != "" {
		setup.Providers = sim.Providers()
		if err := playground.WriteConfig(setup); err != nil {
			return err
		}
	}
	ready := map[string]any{"ready": true, "control": "http://" + sim.Address(simulator.Control)}
	if err := json.NewEncoder(cmd.OutOrStdout()).Encode(ready); err != nil {
		return err
	}
	<-cmd.Context().Done() // by a signal
	return nil
}

// credentials is the folder for what the simulators keep. A configuration that may not be written is
// refused here, before anything is.
func credentials(setup playground.Setup) (dir string, forget func(), err error) {
	if setup.File == "" {
		dir, err := os.MkdirTemp("", "tidings-simulate-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if err := setup.Check(); err != nil {
		return "", nil, err
	}
	dir, err = setup.Credentials()
	return dir, func() {}, err
}
