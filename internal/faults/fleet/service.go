package fleet

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"tidings/api/client"
)

// A Service is one process of the service. It keeps its address when it is started again.
type Service struct {
	Name   string
	URL    string
	Client *client.Client

	process *process
}

// Start starts the process, or starts it again, and waits until it listens.
func (s *Service) Start(ctx context.Context) error {
	line, err := s.process.start(ctx)
	if err != nil {
		return err
	}
	if line != "ready "+s.URL {
		return fmt.Errorf("start %s: it says %q", s.Name, line)
	}
	return nil
}

// Running reports whether the process lives.
func (s *Service) Running() bool { return s.process.running() }

// Kill ends the process by SIGKILL, at once.
func (s *Service) Kill() error { return s.process.kill() }

// Stop ends the process by SIGTERM and waits; an error says that it did not end well.
func (s *Service) Stop() error { return s.process.stop() }

// Signal sends the process a signal, such as SIGSTOP.
func (s *Service) Signal(sig os.Signal) error { return s.process.cmd.Process.Signal(sig) }

// Memory is what the process has in memory, in bytes (VmRSS of proc(5)).
func (s *Service) Memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("ask for the memory of %s: %w", s.Name, err)
	}
	var kib int64
	for line := range strings.Lines(string(text)) {
		if n, err := fmt.Sscanf(line, "VmRSS: %d kB", &kib); err == nil && n == 1 {
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("ask for the memory of %s: the system does not tell it", s.Name)
}

// LogFile is where the process writes its log, over all its starts.
func (s *Service) LogFile() string { return s.process.log }

// Get asks one of the paths that need no key, such as /readyz.
func (s *Service) Get(ctx context.Context, path string) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, strings.NewReader(""))
	if err != nil {
		return 0, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", s.Name, err)
	}
	return res.StatusCode, res.Body.Close()
}
