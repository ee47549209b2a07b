package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"tidings/internal/testkit"
)

// onBoth runs a test of the inside on both engines; tests of verbs use storetest.Each.
func onBoth(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	settings := map[string]Settings{"sqlite": {Dir: t.TempDir()}, "postgres": {URL: testkit.Postgres(t)}}
	for name, set := range settings {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), set)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			test(t, s)
		})
	}
}

func TestEveryNamedStatementPreparesOnBothEngines(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		err := s.read(t.Context(), func(tx *tx) error {
			for name, text := range tx.queries {
				if strings.Contains(text, ";") || strings.Contains(text, "--") {
					return fmt.Errorf("%s has a tail, so that SQLite would prepare it at every run", name)
				}
				st, err := tx.conn.PrepareContext(tx.ctx, text)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				_ = st.Close()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestPingWritesOnBothEngines(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if skew, err := s.Skew(t.Context()); err != nil || skew.Abs() > time.Second {
			t.Fatalf("skew %v, %v", skew, err)
		}
	})
}

func TestAFailedVerbLeavesNothingBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		wrong := errors.New("wrong")
		err := s.write(t.Context(), Normal, func(tx *tx) error {
			if _, err := tx.exec("pulse", 7); err != nil {
				return err
			}
			return wrong
		})
		if !errors.Is(err, wrong) {
			t.Fatalf("got %v", err)
		}
		if n := countPulse(t, s); n != 0 {
			t.Fatalf("%d rows stayed", n)
		}
	})
}

func TestOneBadJobDoesNotSpoilThoseBesideIt(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		var wg sync.WaitGroup
		results := make([]error, 200)
		for i := range results {
			wg.Go(func() {
				results[i] = s.write(t.Context(), Class(i%3), func(tx *tx) error {
					if _, err := tx.exec("pulse", i); err != nil {
						return err
					}
					switch i % 10 {
					case 4:
						return errors.New("wrong")
					case 5:
						_, err := tx.exec("no such statement")
						return err
					}
					return nil
				})
			})
		}
		wg.Wait()
		for i, err := range results {
			if bad := i%10 == 4 || i%10 == 5; bad != (err != nil) {
				t.Fatalf("job %d: %v", i, err)
			}
		}
	})
}

func TestAPanicInAJobIsItsError(t *testing.T) {
	s := openSQLiteStore(t)
	err := s.write(t.Context(), Normal, func(*tx) error { panic("oh") })
	if err == nil || !strings.Contains(err.Error(), "oh") {
		t.Fatalf("got %v", err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Fatalf("the writer is dead: %v", err)
	}
}

func TestACallerWhoGivesUpBeforeItsTurnWritesNothing(t *testing.T) {
	s := openSQLiteStore(t)
	busy, running := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		first <- s.write(context.Background(), Urgent, func(*tx) error { close(running); <-busy; return nil })
	}()
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.write(ctx, Urgent, func(tx *tx) error { _, err := tx.exec("pulse", 1); return err })
	close(busy)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if n := countPulse(t, s); n != 0 {
		t.Fatal("the write of a caller who gave up took place")
	}
}

func TestACallerWhoGivesUpInItsTurnLeavesAWholeTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.write(ctx, Normal, func(tx *tx) error {
			if _, err := tx.exec("pulse", 1); err != nil {
				return err
			}
			cancel()
			_, err := tx.exec("pulse", 2)
			return err
		})
		if err != nil || countPulse(t, s) != 1 {
			t.Fatalf("%v, and %d rows", err, countPulse(t, s))
		}
	})
}

func TestTwoProcessesOnOneFileNeverSeeALock(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		s, err := Open(t.Context(), Settings{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		for range 4 {
			wg.Go(func() {
				for range 50 {
					if err := s.Ping(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestANewerSchemaIsRefused(t *testing.T) {
	for name, set := range map[string]Settings{"sqlite": {Dir: t.TempDir()}, "postgres": {URL: testkit.Postgres(t)}} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), set)
			if err != nil {
				t.Fatal(err)
			}
			err = s.write(t.Context(), Normal, func(tx *tx) error {
				_, err := tx.conn.ExecContext(tx.ctx, "INSERT INTO schema_versions (version, applied_at) VALUES (9999, 0)")
				return err
			})
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), set); err == nil || !strings.Contains(err.Error(), "run a newer tidings") {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestConcurrentStartersMigrateOnce(t *testing.T) {
	for name, set := range map[string]Settings{"sqlite": {Dir: t.TempDir()}, "postgres": {URL: testkit.Postgres(t)}} {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					s, err := Open(t.Context(), set)
					if err != nil {
						t.Error(err)
						return
					}
					_ = s.Close()
				})
			}
			wg.Wait()
		})
	}
}

func TestAMigrationOutOfOrderIsRefused(t *testing.T) {
	files := fstest.MapFS{"migrations/0001_a.sql": {}, "migrations/0003_b.sql": {}}
	if _, err := loadMigrations(files, sqliteDialect()); err == nil {
		t.Fatal("a gap was taken")
	}
}

func openSQLiteStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Settings{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func countPulse(t *testing.T, s *Store) (n int) {
	t.Helper()
	err := s.read(t.Context(), func(tx *tx) error {
		return tx.conn.QueryRowContext(tx.ctx, "SELECT count(*) FROM pulse").Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
