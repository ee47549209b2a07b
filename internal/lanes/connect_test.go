package lanes

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
