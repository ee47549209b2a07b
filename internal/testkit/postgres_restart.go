package testkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// A PostgresServer is a server of one's own, which can be ended hard and comes back by itself.
type PostgresServer struct {
	URL string

	dir  string
	stop func() error
}

// postgresAgain is postgresScript with a server that is started again until the folder "$2/run" is gone.
const postgresAgain = `set -e
"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$2/log" 2>&1
mkdir "$2/run"
while [ -e "$2/run" ]; do
  "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \
    -c max_connections=200 -c shared_buffers=64MB </dev/null >>"$2/log" 2>&1 || true
  sleep 0.05
done &
cat >/dev/null || true
rmdir "$2/run"
kill -INT "$(head -1 "$2/data/postmaster.pid")" || true
wait $! || true
rm -rf "$2"`

// NewPostgres starts a server of its own; Close ends it, as does the end of this process.
func NewPostgres() (*PostgresServer, error) {
	bin := postgresBin()
	if bin == "" {
		return nil, errors.New("there is no PostgreSQL server to start: install the postgresql package")
	}
	url, dir, stop, err := startPostgres(bin, postgresAgain)
	if err != nil {
		return nil, err
	}
	return &PostgresServer{URL: url, dir: dir, stop: stop}, nil
}

// Close ends the server and removes its files.
func (s *PostgresServer) Close() error { return s.stop() }

// Crash ends the server without any clean-up, as a fault of the machine would, and waits until it
// answers again. What was committed is there; what was about to be may be or not.
func (s *PostgresServer) Crash(ctx context.Context) error {
	file := filepath.Join(s.dir, "data", "postmaster.pid")
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("crash PostgreSQL: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(string(line))
	if err != nil {
		return fmt.Errorf("crash PostgreSQL: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil { // its immediate shutdown
		return fmt.Errorf("crash PostgreSQL: %w", err)
	}
	return s.back(ctx, pid)
}

// back waits for a server with another process id.
func (s *PostgresServer) back(ctx context.Context, old int) error {
	ctx, cancel := context.WithTimeout(ctx, postgresStart)
	defer cancel()
	for {
		if text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid")); err == nil {
			line, _, _ := bytes.Cut(text, []byte("\n"))
			if pid, err := strconv.Atoi(string(line)); err == nil && pid != old && s.answers(ctx) {
				return nil
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL is not back: %w", ctx.Err())
		}
	}
}

func (s *PostgresServer) answers(ctx context.Context) bool {
	conn, err := pgx.Connect(ctx, s.URL)
	if err != nil {
		return false
	}
	return conn.Close(ctx) == nil
}
