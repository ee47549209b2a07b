package testkit

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// postgresStart is how long a server may take until it answers.
const postgresStart = 60 * time.Second

// postgresScript makes a server in $2 with the binaries in $1 and runs it until standard input
// ends, which is when the test process is gone, however it went. Then it removes the folder.
const postgresScript = `set -e
"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$2/log" 2>&1
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \
  -c max_connections=200 -c shared_buffers=64MB -c log_lock_waits=on </dev/null >>"$2/log" 2>&1 &
cat >/dev/null || true
kill -INT $! || true
wait $! || true
rm -rf "$2"`

// postgresBin is the newest folder with a server's binaries; empty: none.
func postgresBin() string {
	if p, err := exec.LookPath("initdb"); err == nil {
		if _, err := os.Stat(filepath.Join(filepath.Dir(p), "postgres")); err == nil {
			return filepath.Dir(p)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // Debian's place; the pattern is right
	slices.SortFunc(found, func(a, b string) int { return majorOf(b) - majorOf(a) })
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[0])
}

func majorOf(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(bin)))) // no number sorts last
	return n
}

// startPostgres runs the script with a server on a socket in a temporary folder, as an unprivileged
// user: it refuses to be root. The server ends when stop is called, or with this process.
func startPostgres(bin, script string) (base, dir string, stop func() error, err error) {
	dir, err = os.MkdirTemp("", "tidings-pg-") // short: the path of a socket has 107 bytes at most
	if err != nil {
		return "", "", nil, fmt.Errorf("make its folder: %w", err)
	}
	cmd := exec.Command("/bin/sh", "-c", script, "sh", bin, dir)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that an interrupt at the terminal reaches us alone
	if os.Geteuid() == 0 {
		if cmd.SysProcAttr.Credential, err = unprivileged(dir); err != nil {
			return "", "", nil, err
		}
	}
	lifeline, err := cmd.StdinPipe() // the kernel closes it when this process ends
	if err != nil {
		return "", "", nil, fmt.Errorf("start it: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", "", nil, fmt.Errorf("start it: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // told by ended
		close(ended)
	}()
	stop = func() error {
		err := lifeline.Close()
		<-ended
		return err
	}
	base = "postgres:///postgres?" + url.Values{"host": {dir}, "user": {"postgres"}}.Encode()
	return base, dir, stop, awaitPostgres(base, dir, ended)
}

func awaitPostgres(base, dir string, ended <-chan struct{}) error {
	for deadline := time.Now().Add(postgresStart); ; {
		err := postgresExec(base, "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(dir, "log")) // whatever there is
			return fmt.Errorf("the server did not start: %s", log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server did not answer: %w", err)
		}
	}
}

// unprivileged is a user to run as in place of root, who is given the folder.
func unprivileged(dir string) (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
	}
	return nil, errors.New("it refuses to be root and there is no user postgres or nobody: run the tests as another user")
}
