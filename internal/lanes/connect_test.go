package lanes

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

func TestABrokerThatCannotStartIsAnErrorAndNotTheEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Settings{Dir: file, Lanes: specs(), Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "start broker") {
		t.Errorf("opened on a file: %v", err)
	}
}

func TestAnExternalBrokerServesTheSameLanes(t *testing.T) {
	s, err := natsserver.NewServer(&natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer stop(s)
	if !s.ReadyForConnections(startWait) {
		t.Fatal("server does not start")
	}
	l := open(t, Settings{URL: s.ClientURL()})
	defer closeLanes(t, l)
	all := ids(70)
	publish(t, l, bulk, time.Now(), all)
	if got := fetch(t, l, bulk, 10); len(got) != 2 || len(got[0].IDs) != 50 || len(got[1].IDs) != 20 {
		t.Errorf("fetched %d entries", len(got))
	}
	if err := l.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnAbsentBrokerIsUnavailable(t *testing.T) {
	_, err := Open(t.Context(), Settings{URL: "nats://127.0.0.1:1", Lanes: specs(), Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestOldServersAreRefused(t *testing.T) {
	tests := []struct {
		version string
		ok      bool
		why     string
	}{
		{"2.12.1", true, "the oldest that will do"},
		{"2.15.2", true, "newer minor"},
		{"3.0.0", true, "newer major"},
		{"2.14.0-RC.1", true, "release candidates read like releases"},
		{"2.12.0", false, "one patch short"},
		{"2.9.25", false, "an old minor with a high patch"},
		{"1.99.99", false, "an old major"},
		{"dev", true, "what cannot be read is somebody's own build"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if err := checkVersion(tt.version); (err == nil) != tt.ok {
				t.Errorf("%s: %v", tt.version, err)
			}
		})
	}
}
