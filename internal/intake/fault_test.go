package intake_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

var errDisk = errors.New("the disk is on fire")

// A disk breaks when it is told to: from then on every statement fails.
type disk struct{ broken atomic.Bool }

func (d *disk) fault() error {
	if d.broken.Load() {
		return errDisk
	}
	return nil
}

func (d *disk) under(c driver.Connector) driver.Connector { return &connector{c, d} }

type connector struct {
	driver.Connector
	disk *disk
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	return &connection{conn, c.disk}, errors.Join(err, c.disk.fault())
}

type connection struct {
	driver.Conn
	disk *disk
}

func (c *connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &statement{s, c.disk}, errors.Join(err, c.disk.fault())
}

func (c *connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.disk.fault(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.disk.fault(); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args)
}

type statement struct {
	driver.Stmt
	disk *disk
}

func (s *statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.disk.fault(); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.disk.fault(); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func TestAnEventThatCannotBeStoredIsAnError(t *testing.T) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			var d disk
			s := settings(t)
			s.Connector = d.under
			r := newRig(t, storetest.Open(t, s))
			d.broken.Store(true)
			if res, err := r.Post(t.Context(), shipped("u_1", "")); !errors.Is(err, errDisk) {
				t.Errorf("Post = %+v, %v; want %v", res, err, errDisk)
			}
			if res, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_1", "k")}); !errors.Is(err, errDisk) {
				t.Errorf("PostBatch = %+v, %v; want %v", res, err, errDisk)
			}
			if got := r.counted(t, "tidings_events_total", "failed"); got != 2 {
				t.Errorf("failed events counted %v, want 2", got)
			}
			d.broken.Store(false)
			r.accept(t, shipped("u_1", "k")) // nothing was remembered
		})
	}
}
