package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	startWait = 30 * time.Second // for the first line of a process
	stopWait  = 40 * time.Second // from SIGTERM on; the service itself gives up after 30 s
)

// A process is a command that prints one line when it is ready. Its errors go to a log.
type process struct {
	name string
	path string
	args []string
	env  []string
	log  string // file

	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	err    error         // how it ended; set before exited is closed
}

func (p *process) running() bool {
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// start starts it and waits for its line.
func (p *process) start(ctx context.Context) (line string, err error) {
	if err := os.MkdirAll(filepath.Dir(p.log), 0o700); err != nil {
		return "", fmt.Errorf("start %s: %w", p.name, err)
	}
	log, err := os.OpenFile(p.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", fmt.Errorf("start %s: %w", p.name, err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.path, p.args...)
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = append(os.Environ(), p.env...), log, orphans()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start %s: %w", p.name, err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", p.name, err)
	}
	p.cmd, p.exited = cmd, make(chan struct{})
	first := make(chan string, 1)
	go p.follow(out, first)
	select {
	case line = <-first:
		return line, nil
	case <-p.exited:
		return "", fmt.Errorf("start %s: it ended (%w): %s", p.name, p.err, lastLine(p.log))
	case <-time.After(startWait):
		return "", errors.Join(fmt.Errorf("start %s: it says nothing", p.name), p.kill())
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), p.kill())
	}
}

// follow hands the first line over, drops the others, and waits for the end.
func (p *process) follow(out io.Reader, first chan<- string) {
	lines := bufio.NewScanner(out)
	if lines.Scan() {
		first <- lines.Text()
	}
	_, _ = io.Copy(io.Discard, out)
	p.err = p.cmd.Wait()
	close(p.exited)
}

// kill ends it by SIGKILL; that it then ends by a signal is no error.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.exited
	return nil
}

// stop ends it by SIGTERM, and gives an error unless it ends in time and by itself.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopWait):
		return errors.Join(fmt.Errorf("stop %s: it does not end", p.name), p.kill())
	}
	if p.err != nil {
		return fmt.Errorf("stop %s: %w: %s", p.name, p.err, lastLine(p.log))
	}
	return nil
}

// lastLine is the end of a log, for an error.
func lastLine(file string) (last string) {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		last = lines.Text()
	}
	return last
}
