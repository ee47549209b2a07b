package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tidings/channels/simulator"
)

// readiness is the line by which the simulator's process says that it listens.
type readiness struct {
	Control  string             `json:"control"`
	Provider simulator.Provider `json:"provider"`
}

// Simulate runs a simulator that keeps no ledger, with its credentials in dir, until in ends. It
// prints one line when it listens. The process that measures starts it as a process of its own.
func Simulate(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	sim, err := simulator.Start(simulator.Settings{Listen: simulator.OnPorts(0), Dir: dir})
	if err != nil {
		return err
	}
	ready := readiness{Control: "http://" + sim.Address(simulator.Control)}
	for _, p := range sim.Providers() {
		if p.Type == "apns" {
			ready.Provider = p
		}
	}
	err = json.NewEncoder(out).Encode(ready)
	if err == nil {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.Copy(io.Discard, in)
		}()
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
	return errors.Join(err, sim.Close())
}

// A simulated is a simulator in another process.
type simulated struct {
	cmd      *exec.Cmd
	input    io.Closer // closed, the process ends
	control  string
	provider simulator.Provider
}

// startWithin is how long the simulator's process may take to listen.
const startWithin = 20 * time.Second

func (r *run) startSimulator(ctx context.Context) (*simulated, error) {
	dir := filepath.Join(r.dir, "simulator")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	cmd := exec.CommandContext(ctx, r.Simulate[0], append(r.Simulate[1:], dir)...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the simulator: %w", err)
	}
	s := &simulated{cmd: cmd, input: input}
	late := time.AfterFunc(startWithin, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var ready readiness
	if err := json.NewDecoder(output).Decode(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("start the simulator: %w", err), s.stop())
	}
	s.control, s.provider = ready.Control, ready.Provider
	return s, nil
}

func (s *simulated) pid() int { return s.cmd.Process.Pid }

// stop ends the process and waits for it.
func (s *simulated) stop() error {
	err := s.input.Close()
	if e := s.cmd.Wait(); e != nil {
		err = errors.Join(err, fmt.Errorf("end the simulator: %w", e))
	}
	return err
}
