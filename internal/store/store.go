// Package store is the log: the SQL database that is the truth about every notification.
//
// It promises one transaction per verb, on SQLite and on PostgreSQL alike, and that a verb
// that returned without error is durable. It must never decide: what may follow what is the
// table of package tidings, what a user may get is preferences, what a fault means is channels.
package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"tidings"
)

// The errors that callers tell apart.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("version conflict")
	ErrUnavailable = errors.New("store is not writable")
	ErrNothing     = errors.New("nothing to cancel")
	ErrChanged     = errors.New("the user has changed since it was read")
)

// Class is the place of a write in the queue for the one SQLite writer; PostgreSQL has no queue.
type Class int

// The classes, first served first. The lowest keeps a floor.
const (
	Urgent     Class = iota // anything of a priority lane
	Normal                  // claims, records and receipts of bulk lanes
	Background              // bulk accepts and sweeps
)

// Settings say where the log is.
type Settings struct {
	URL    string // postgres://…; empty: SQLite in Dir
	Dir    string
	Secret [32]byte // seals sensitive data and keys the hashes of address values
	Log    *slog.Logger
	// Category finds a category of the catalogue, of which the log must know how far its opt-out
	// reaches when somebody complains; nil, or not found: the category.
	Category func(name string) (tidings.Category, bool)
	// Ended is told of each delivery that a verb of this process brought to an end, or from one end
	// to another, once that is durable: by which provider's answer or report, empty where by none.
	// It must be quick, and is called by many at once; nil: nobody is told.
	Ended     func(channel tidings.Channel, provider string, status tidings.Status, reason tidings.Reason)
	Connector Wrap // nil: nothing stands between the log and its database
}

// A Wrap wraps the driver's connector, to put faults between the log and its database. A wrapped
// PostgreSQL connection must keep the method Conn() *pgx.Conn.
type Wrap func(driver.Connector) driver.Connector

// A Store is an open log. It is safe for concurrent use.
type Store struct {
	engine engine
	seal   *seal
	log    *slog.Logger

	category func(name string) (tidings.Category, bool)
	ended    func(channel tidings.Channel, provider string, status tidings.Status, reason tidings.Reason)
	counted  counted
}

// An engine is a database that runs transactions: sqlite or postgres.
type engine interface {
	// write runs fn in one transaction that is durable when write returns nil. fn may run more
	// than once, so it begins by forgetting what an earlier run gathered. The end of ctx gives
	// up a transaction that has not begun; one that has begun runs to its end.
	write(ctx context.Context, c Class, fn func(t *tx) error) error
	// read runs fn on one snapshot.
	read(ctx context.Context, fn func(t *tx) error) error
	// skew is how far this process's clock is ahead of the database's.
	skew(ctx context.Context) (time.Duration, error)
	close() error
}

// Open opens the log and brings its schema up to this binary's; a newer schema is refused.
func Open(ctx context.Context, s Settings) (*Store, error) {
	seal, err := newSeal(s.Secret)
	if err != nil {
		return nil, err
	}
	st := &Store{seal: seal, log: s.Log, ended: s.Ended}
	if st.log == nil {
		st.log = slog.New(slog.DiscardHandler)
	}
	if st.category = s.Category; st.category == nil {
		st.category = func(string) (tidings.Category, bool) { return tidings.Category{}, false }
	}
	if s.Connector == nil {
		s.Connector = func(c driver.Connector) driver.Connector { return c }
	}
	switch {
	case s.URL == "":
		st.engine, err = openSQLite(ctx, s.Dir, s.Connector)
	case strings.HasPrefix(s.URL, "postgres://"), strings.HasPrefix(s.URL, "postgresql://"):
		st.engine, err = openPostgres(ctx, s.URL, s.Connector)
	default:
		err = errors.New("the URL must begin with postgres://, or be empty for SQLite")
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return st, nil
}

// Close waits for running transactions and closes the log.
func (s *Store) Close() error { return s.engine.close() }

// Ping reports whether the log can be read and written now.
func (s *Store) Ping(ctx context.Context) error {
	err := s.write(ctx, Urgent, func(t *tx) error {
		_, err := t.exec("pulse", time.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("ping store: %w", err)
	}
	return nil
}

// Skew is how far this process's clock is ahead of the database's; 0 on SQLite.
func (s *Store) Skew(ctx context.Context) (time.Duration, error) {
	d, err := s.engine.skew(ctx)
	if err != nil {
		return 0, fmt.Errorf("compare clocks: %w", err)
	}
	return d, nil
}

// read runs fn on one snapshot.
func (s *Store) read(ctx context.Context, fn func(t *tx) error) error {
	return s.engine.read(ctx, fn)
}
