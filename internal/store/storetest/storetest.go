// Package storetest runs a test on every engine that the log supports.
//
// It promises a real, empty database for each test. Product code must never import it.
package storetest

import (
	"log/slog"
	"testing"

	"tidings/internal/store"
	"tidings/internal/testkit"
)

// Each runs test on SQLite and on PostgreSQL, each time with an empty log that is closed afterwards.
func Each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, Open(t, SQLite(t))) })
	t.Run("postgres", func(t *testing.T) { test(t, Open(t, Postgres(t))) })
}

// SQLite are the settings of an empty log in a file of its own.
func SQLite(t testing.TB) store.Settings {
	return store.Settings{Dir: t.TempDir(), Secret: Secret(), Log: slog.New(slog.DiscardHandler)}
}

// Postgres are the settings of an empty log in a schema of its own. Call it outside of a synctest bubble.
func Postgres(t testing.TB) store.Settings {
	t.Helper()
	return store.Settings{URL: testkit.Postgres(t), Secret: Secret(), Log: slog.New(slog.DiscardHandler)}
}

// Open opens a log and closes it after the test.
func Open(t testing.TB, settings store.Settings) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), settings)
	if err != nil {
		t.Fatalf("open the log: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the log: %v", err)
		}
	})
	return s
}

// Secret is the secret that tests seal with.
func Secret() [32]byte { return [32]byte{1, 2, 3} }
