// Package store is the log: the SQL database that is the truth about every notification.
//
// It promises one transaction per verb, on SQLite and on PostgreSQL alike, and that a verb
// that returned without error is durable. It must never decide: what may follow what is the
// table of package tidings, what a user may get is preferences, what a fault means is channels.
package store

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// The errors that callers tell apart.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("version conflict")
	ErrUnavailable = errors.New("store is not writable")
	ErrNothing     = errors.New("nothing to cancel")
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
}

// A Store is an open log. It is safe for concurrent use.
type Store struct{}

// Open opens the log and brings its schema up to this binary's; a newer schema is refused.
func Open(ctx context.Context, s Settings) (*Store, error) { panic("not built") }

// Close waits for running transactions and closes the log.
func (s *Store) Close() error { panic("not built") }

// Ping reports whether the log can be read and written now.
func (s *Store) Ping(ctx context.Context) error { panic("not built") }

// Skew is how far this process's clock is ahead of the database's; 0 on SQLite.
func (s *Store) Skew(ctx context.Context) (time.Duration, error) { panic("not built") }
