package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

const (
	sqliteFile    = "tidings.db"
	sqliteReaders = 4
	// readerPages is what a reader keeps of the file, in KiB. It is little, since every commit makes
	// all of it worthless: a reader that has counted a million rows would free thousands of pages, one
	// by one, at the next read, and keep everybody from their memory meanwhile.
	readerPages = 4 << 10
	// busyTimeout is how long SQLite waits for another process's write, such as the keys command's.
	busyTimeout = 5 * time.Second
	// busyPause is between two attempts to connect or to write while somebody else has the file.
	busyPause = 20 * time.Millisecond
)

// sqliteEngine is one file with one writer and a few readers.
type sqliteEngine struct {
	db      *sql.DB
	dialect *dialect
	writer  *writer
	readers chan *session // a reader is in here while nobody uses it
}

func openSQLite(ctx context.Context, dir string, wrap Wrap) (_ *sqliteEngine, err error) {
	d := sqliteDialect()
	q, err := loadQueries(queryFiles, d)
	if err != nil {
		return nil, err
	}
	connector, err := sqliteConnector(dir)
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{db: sql.OpenDB(wrap(connector)), dialect: d, readers: make(chan *session, sqliteReaders)}
	defer func() {
		if err != nil {
			_ = e.db.Close()
		}
	}()
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", sqliteFile, err)
	}
	writing := newSession(conn, q, d)
	if err := e.migrate(ctx, writing); err != nil {
		return nil, err
	}
	for range sqliteReaders {
		conn, err := e.connect(ctx)
		if err != nil {
			return nil, fmt.Errorf("open a reader: %w", err)
		}
		for _, pragma := range []string{"PRAGMA query_only = 1", fmt.Sprintf("PRAGMA cache_size = -%d", readerPages)} {
			if _, err := conn.ExecContext(ctx, pragma); err != nil {
				return nil, fmt.Errorf("open a reader: %w", err)
			}
		}
		e.readers <- newSession(conn, q, d)
	}
	e.writer = startWriter(writing)
	return e, nil
}

// connect opens a connection. SQLite does not wait by itself for another starter that turns the
// journal of a new file into a WAL, or that is the last to close one: it says busy at once.
func (e *sqliteEngine) connect(ctx context.Context) (*sql.Conn, error) {
	for began := time.Now(); ; {
		conn, err := e.db.Conn(ctx)
		if err == nil || e.dialect.class(err) != retryError || time.Since(began) > busyTimeout {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(busyPause):
		}
	}
}

// sqliteConnector makes the file, readable by its owner only, and says how to open it.
func sqliteConnector(dir string) (driver.Connector, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make data directory: %w", err)
	}
	path, err := filepath.Abs(filepath.Join(dir, sqliteFile))
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make database file: %w", err)
	}
	_ = f.Close()
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(0)", "cache_size(-32768)",
		"secure_delete(1)", // what is erased is overwritten, not only forgotten
	}}.Encode()}
	return sqlite.NewConnector(dsn.String())
}

func (e *sqliteEngine) migrate(ctx context.Context, s *session) error {
	steps, err := loadMigrations(migrationFiles, e.dialect)
	if err != nil {
		return err
	}
	if err := begin(ctx, s); err != nil {
		return err
	}
	if err := migrate(ctx, s, steps, time.Now()); err != nil {
		_ = s.control(ctx, "ROLLBACK")
		return err
	}
	return s.control(ctx, "COMMIT")
}

func (e *sqliteEngine) write(ctx context.Context, c Class, fn func(t *tx) error) error {
	return e.writer.do(ctx, c, fn)
}

func (e *sqliteEngine) read(ctx context.Context, fn func(t *tx) error) error {
	var s *session
	select {
	case s = <-e.readers:
	case <-ctx.Done():
		return fmt.Errorf("wait for a reader: %w", ctx.Err())
	}
	defer func() { e.readers <- s }()
	ctx = context.WithoutCancel(ctx) // a context that can end costs a goroutine for every statement
	if err := s.control(ctx, "BEGIN"); err != nil {
		return e.dialect.explain(err)
	}
	err := fn(&tx{session: s, ctx: ctx})
	if end := s.control(ctx, "ROLLBACK"); err == nil {
		err = end
	}
	return e.dialect.explain(err)
}

func (e *sqliteEngine) skew(context.Context) (time.Duration, error) { return 0, nil }

func (e *sqliteEngine) close() error {
	e.writer.close()
	var errs []error
	for range sqliteReaders {
		errs = append(errs, (<-e.readers).close())
	}
	errs = append(errs, e.writer.session.close(), e.db.Close())
	return errors.Join(errs...)
}
