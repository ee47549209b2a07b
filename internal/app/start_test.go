package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
)

// The broker says of a full disk only that it cannot make a file.
func TestAStartThatFailsOnAFullDiskNamesTheDisk(t *testing.T) {
	cfg := config.Default(t.TempDir())
	cfg.Listen = "127.0.0.1:0"
	cfg.Disk.AllPercent, cfg.Disk.BulkPercent, cfg.Disk.AllMiB, cfg.Disk.BulkMiB = 100, 100, 1<<40, 1<<40 // whatever is free is too little
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.DataDir, "jetstream"), nil, 0o600); err != nil { // where its folder would be
		t.Fatal(err)
	}
	_, err := app.New(t.Context(), cfg, app.Settings{Vendors: all.Vendors(), Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "are free on the disk of data_dir") {
		t.Errorf("the start failed with %v", err)
	}
}
