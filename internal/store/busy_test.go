package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"
	"testing/synctest"
)

// busyAtFirst is a database that is busy the first times that somebody connects.
type busyAtFirst struct {
	driver.Connector
	err  error
	left int
}

func (b *busyAtFirst) Connect(ctx context.Context) (driver.Conn, error) {
	if b.left > 0 {
		b.left--
		return nil, b.err
	}
	return b.Connector.Connect(ctx)
}

// busy is what SQLite says to the second of two writers that does not wait.
func busy(t *testing.T) error {
	t.Helper()
	dir := t.TempDir()
	var err error
	for range 2 {
		db, e := sql.Open("sqlite", "file:"+dir+"/busy.db")
		if e != nil {
			t.Fatal(e)
		}
		defer func() { _ = db.Close() }()
		conn, e := db.Conn(t.Context())
		if e != nil {
			t.Fatal(e)
		}
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if sqliteClass(err) != retryError {
		t.Fatalf("the second writer heard %v", err)
	}
	return err
}

func TestAStarterWaitsForAnotherOneThatHasTheFile(t *testing.T) {
	err := busy(t)
	for _, c := range []struct {
		times int
		fails bool
	}{{3, false}, {1_000_000, true}} {
		synctest.Test(t, func(t *testing.T) {
			wrap := func(c2 driver.Connector) driver.Connector { return &busyAtFirst{c2, err, c.times} }
			s, err := Open(t.Context(), Settings{Dir: t.TempDir(), Connector: wrap})
			if (err != nil) != c.fails {
				t.Errorf("busy %d times: %v", c.times, err)
			}
			if err == nil {
				_ = s.Close()
			}
		})
	}
}
