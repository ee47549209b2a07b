package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// limited is one that counts under a limit of the user, and for one device.
func (w *world) limited(now time.Time) store.Acceptance {
	a := w.acceptance(now, 1)
	a.Count = &store.Count{
		Scopes: []store.CountScope{{Scope: "user", Keep: 1000, Per: time.Hour}, {Scope: "category:orders", Keep: 1000, Per: time.Hour}},
		Decide: func(*store.Acceptance, map[string][]time.Time) *store.Decided { return nil },
	}
	return a
}

// told is how often limits have counted the user.
func (w *world) told() int {
	w.Helper()
	key := store.CounterKey{User: w.user, Scope: "user"}
	told, err := w.s.Told(w.Context(), []store.CounterKey{key})
	w.must(err)
	return len(told[key])
}

// deadlocks is how many the database has ended since it was made, once all of what others did is counted.
func deadlocks(t *testing.T, url string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	others := 1
	for tries := 0; others > 0; tries++ {
		if tries == 2000 {
			t.Fatal("others are connected, so not all is counted")
		}
		const ask = `SELECT (SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()),
			(SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) FROM pg_sleep(0.005)`
		if err := conn.QueryRow(t.Context(), ask).Scan(&others, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// Of two people, each transaction counts one and takes back what was counted of the other.
func TestCountingAndTakingBackNeverWaitInACircle(t *testing.T) {
	const rounds = 20
	for _, c := range []struct {
		why string
		// before counts a notification of the user; what it gives, once accepted, takes that back.
		before func(w *world, round int) store.Acceptance
	}{
		{"a newer event supersedes it", func(w *world, round int) store.Acceptance {
			a, newer := w.limited(start()), w.acceptance(start().Add(time.Minute), 1)
			a.Notification.CollapseKey = fmt.Sprint("thread-", round)
			newer.Notification.CollapseKey = a.Notification.CollapseKey
			w.accept(a)
			return newer
		}},
		{"nothing is left of it when its hold is released", func(w *world, _ int) store.Acceptance {
			a := w.limited(start())
			a.Holds = []tidings.Hold{{ID: tidings.NewHoldID(start()), Notification: a.Notification.ID, Channel: tidings.Email, Reason: tidings.ReasonScheduled, Until: start().Add(time.Hour)}}
			a.Notification.ExpiresAt = start().Add(time.Second)
			w.accept(a)
			w.must(errOf(w.s.Expire(w.Context(), start().Add(time.Minute), 10))) // the push, which nobody took
			left := store.Acceptance{Notification: a.Notification, Release: &a.Holds[0]}
			left.Notification.Decisions = []tidings.Decision{{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired}}
			return left
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			settings := storetest.Postgres(t)
			s, err := store.Open(t.Context(), settings)
			if err != nil {
				t.Fatal(err)
			}
			people, takes := []*world{newWorld(t, s), newWorld(t, s)}, [2][]store.Acceptance{}
			for i, w := range people {
				for round := range rounds {
					takes[i] = append(takes[i], c.before(w, round))
				}
			}
			var both sync.WaitGroup
			for i, w := range people {
				both.Go(func() {
					for _, back := range takes[1-i] {
						w.accept(w.limited(start().Add(time.Minute)), back)
					}
				})
			}
			both.Wait()
			for _, w := range people {
				if n := w.told(); n != rounds {
					t.Errorf("%d are counted, want %d", n, rounds)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if n := deadlocks(t, settings.URL); n != 0 {
				t.Errorf("%d deadlocks", n)
			}
		})
	}
}
