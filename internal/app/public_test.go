package app

import (
	"bytes"
	"log/slog"
	"testing"
)

func TestAPublicURLWithoutTLSIsWarnedOf(t *testing.T) {
	for public, warned := range map[string]bool{
		"http://notify.example.test": true, "http://192.0.2.7:8080": true, "https://notify.example.test": false,
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost:8080": false,
	} {
		var log bytes.Buffer
		tellPlain(slog.New(slog.NewTextHandler(&log, nil)), public)
		if got := log.Len() > 0; got != warned {
			t.Errorf("%s: warned %t, want %t", public, got, warned)
		}
	}
}
