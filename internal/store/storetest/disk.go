package storetest

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"tidings/internal/store"
)

// ErrBroken is what every statement fails with on a broken Disk.
var ErrBroken = errors.New("the disk is broken")

// A Disk breaks and mends when it is told to; while it is broken every statement fails.
type Disk struct{ broken atomic.Bool }

// Break breaks the disk, or mends it.
func (d *Disk) Break(broken bool) { d.broken.Store(broken) }

// Under puts the disk under a database: give it to store.Settings.
func (d *Disk) Under(c driver.Connector) driver.Connector { return &connector{c, d} }

func (d *Disk) fault() error {
	if d.broken.Load() {
		return ErrBroken
	}
	return nil
}

type connector struct {
	driver.Connector
	disk *Disk
}

// Connect opens a connection on the disk.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return &connection{conn, c.disk}, errors.Join(err, c.disk.fault())
}

type connection struct {
	driver.Conn
	disk *Disk
}

// PrepareContext fails while the disk is broken.
func (c *connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &statement{s, c.disk}, errors.Join(err, c.disk.fault())
}

// ExecContext fails while the disk is broken.
func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.disk.fault(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

// QueryContext fails while the disk is broken.
func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.disk.fault(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

type statement struct {
	driver.Stmt
	disk *Disk
}

// ExecContext fails while the disk is broken.
func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.disk.fault(); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

// QueryContext fails while the disk is broken.
func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.disk.fault(); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// Hasty is a SQLite log that does not wait for the disk: for histories that are too many to, and
// that end no process.
func Hasty(t testing.TB) store.Settings {
	set := SQLite(t)
	set.Connector = func(c driver.Connector) driver.Connector { return hasty{c} }
	return set
}

type hasty struct{ driver.Connector }

// Connect opens a connection that trusts the operating system to write.
func (h hasty) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := h.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	_, err = conn.(driver.ExecerContext).ExecContext(ctx, "PRAGMA synchronous = OFF", nil)
	return conn, err
}
