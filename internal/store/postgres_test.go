package store_test

import (
	"log/slog"
	"strings"
	"testing"

	"tidings/internal/store"
)

func TestADatabaseThatCannotBeReachedIsToldInOneLine(t *testing.T) {
	for _, url := range []string{
		"postgres://ann:canary@127.0.0.1:1/tidings",                 // two ways, with TLS and without
		"postgres://ann:canary@127.0.0.1:1/tidings?sslmode=disable", // one
	} {
		_, err := store.Open(t.Context(), store.Settings{URL: url, Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			t.Fatal("it is open")
		}
		text := err.Error()
		if strings.ContainsAny(text, "\n\t") || strings.Count(text, "refused") != 1 || strings.Contains(text, "canary") {
			t.Errorf("%s: %q", url, text)
		}
		for _, want := range []string{"127.0.0.1:1", "check database_url", "user ann", "database tidings"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", url, text, want)
			}
		}
	}
}
