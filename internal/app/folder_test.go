package app_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/testkit"
)

func TestASecondServiceOnOneDataDirIsRefused(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "", nil)
		defer w.close()
		cfg, err := config.Load(w.config, nil, all.Vendors())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Listen = "127.0.0.1:8081"
		second, err := app.New(context.Background(), cfg, app.Settings{
			Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors(), Listen: w.net.Listen, Dial: w.net.Dial,
		})
		if err == nil {
			_ = second.Shutdown(context.Background())
			t.Fatal("two services run on one data_dir")
		}
		if !strings.Contains(err.Error(), cfg.DataDir+" is in use by another tidings process") {
			t.Errorf("refused with %v", err)
		}
		w.stop()
		w.start()
	})
}
