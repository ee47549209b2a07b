package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"tidings"
	"tidings/internal/testkit"
)

func TestAFullDiskIsUnavailableUntilThereIsRoom(t *testing.T) {
	s := openSQLiteStore(t)
	limit := func(pages string) {
		err := s.write(t.Context(), Urgent, func(tx *tx) error {
			_, err := tx.conn.ExecContext(tx.ctx, "PRAGMA max_page_count = "+pages)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // less than there are: not one more
	var err error
	for i := 0; i < 50 && err == nil; i++ {
		_, err = s.Accept(t.Context(), Background, []Acceptance{filler()})
	}
	if !errors.Is(err, ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	limit("1000000")
	if _, err := s.Accept(t.Context(), Background, []Acceptance{filler()}); err != nil {
		t.Fatalf("with room again: %v", err)
	}
}

// filler is a notification of two pages.
func filler() Acceptance {
	now := time.Now()
	return Acceptance{Notification: tidings.Notification{ID: tidings.NewNotificationID(now), App: "shop", UserID: "u_1",
		Data: json.RawMessage(`"` + strings.Repeat("x", 8000) + `"`), AcceptedAt: now, ExpiresAt: now.Add(time.Hour)}}
}

// A cutter is a connector whose connections are cut around one COMMIT.
type cutter struct {
	driver.Connector
	after   bool // cut after the commit took place, not before
	armed   atomic.Bool
	commits atomic.Int32
}

func (c *cutter) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn.(*stdlib.Conn), cutter: c}, nil
}

type cutConn struct {
	*stdlib.Conn
	cutter *cutter
}

func (c *cutConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if query != "COMMIT" || !c.cutter.armed.CompareAndSwap(true, false) {
		return c.Conn.ExecContext(ctx, query, args)
	}
	c.cutter.commits.Add(1)
	if c.cutter.after {
		if _, err := c.Conn.ExecContext(ctx, query, args); err != nil {
			return nil, err
		}
	}
	_ = c.Close()
	return nil, driver.ErrBadConn
}

func TestALostAnswerToACommitIsLookedUp(t *testing.T) {
	for why, after := range map[string]bool{"it took place": true, "it did not": false} {
		t.Run(why, func(t *testing.T) {
			cut := &cutter{after: after}
			s, err := Open(t.Context(), Settings{URL: testkit.Postgres(t), Connector: func(c driver.Connector) driver.Connector {
				cut.Connector = c
				return cut
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			cut.armed.Store(true)
			a := filler()
			got, err := s.Accept(t.Context(), Background, []Acceptance{a})
			if after && (err != nil || got[0].ID != a.Notification.ID) {
				t.Fatalf("committed, but answered %v", err)
			}
			if !after && !errors.Is(err, ErrUnavailable) {
				t.Fatalf("not committed, but answered %v", err)
			}
			if cut.commits.Load() != 1 {
				t.Fatal("nothing was cut")
			}
			if _, err := s.Accept(t.Context(), Background, []Acceptance{filler()}); err != nil {
				t.Fatalf("afterwards: %v", err)
			}
		})
	}
}

func TestAConnectionThatIsGoneIsNoMistakeOfOurs(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), testkit.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, closed := conn.Exec(t.Context(), "SELECT 1") // as when it dies between the pool's check and its use
	for _, err := range []error{closed, fmt.Errorf("begin: %w", pgconn.ErrConnClosed), sql.ErrConnDone, driver.ErrBadConn} {
		if got := postgresClass(err); got != goneError {
			t.Errorf("%v is of class %d", err, got)
		}
	}
}

func TestAVerbThatLostToAnotherTransactionRunsAgain(t *testing.T) {
	s, err := Open(t.Context(), Settings{URL: testkit.Postgres(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for why, code := range map[string]string{"a deadlock": "40P01", "a serialization failure": "40001"} {
		t.Run(why, func(t *testing.T) {
			runs := 0
			err := s.write(t.Context(), Normal, func(tx *tx) error {
				runs++
				if runs > 2 {
					return nil
				}
				_, err := tx.conn.ExecContext(tx.ctx, "DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '"+code+"'; END $$")
				return err
			})
			if err != nil || runs != 3 {
				t.Errorf("%d runs, %v", runs, err)
			}
		})
	}
}

// A claim that took place must be used: nobody else could send what it holds, and were it left to
// its lease, what must not be repeated would never be sent.
func TestAClaimWhoseCommitWasNotAnsweredIsLookedUp(t *testing.T) {
	for why, after := range map[string]bool{"it took place": true, "it did not": false} {
		t.Run(why, func(t *testing.T) {
			cut := &cutter{after: after}
			s, err := Open(t.Context(), Settings{URL: testkit.Postgres(t), Connector: func(c driver.Connector) driver.Connector {
				cut.Connector = c
				return cut
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			a := filler()
			a.Deliveries = []NewDelivery{{Lane: "push.bulk", Status: tidings.Queued, DueAt: a.Notification.AcceptedAt}}
			accepted, err := s.Accept(t.Context(), Background, []Acceptance{a})
			if err != nil {
				t.Fatal(err)
			}
			cut.armed.Store(true)
			request := ClaimRequest{Lane: "push.bulk", IDs: accepted[0].Deliveries, Now: a.Notification.AcceptedAt, Lease: time.Minute}
			got, err := s.Claim(t.Context(), Normal, request)
			if after && (err != nil || len(got) != 1 || got[0].Delivery.ClaimNo != 1) {
				t.Fatalf("claimed, but got %+v, %v", got, err)
			}
			if !after && !errors.Is(err, ErrUnavailable) {
				t.Fatalf("not claimed, but got %+v, %v", got, err)
			}
			again, err := s.Claim(t.Context(), Normal, request)
			if err != nil || len(again) != 1-len(got) {
				t.Errorf("claimed again: %+v, %v", again, err)
			}
		})
	}
}

func TestTheLogRunsInVirtualTime(t *testing.T) {
	dir, url := t.TempDir(), testkit.Postgres(t)
	for name, set := range map[string]Settings{"sqlite": {Dir: dir}, "postgres": {URL: url}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(t.Context(), set)
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					if _, err := s.Accept(t.Context(), Urgent, []Acceptance{filler()}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			})
		})
	}
}
