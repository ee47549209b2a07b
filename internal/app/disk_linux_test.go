package app_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tidings/api/client"
	"tidings/internal/config"
	"tidings/internal/testkit"
)

func TestAFullDiskRefusesNewWorkLosesNothingAndHealsByItself(t *testing.T) {
	for why, open := range map[string]func(testing.TB) *testkit.Disk{
		"a small disk":              func(t testing.TB) *testkit.Disk { return testkit.SmallDisk(t, "24m") },
		"a disk that takes nothing": testkit.Folder,
	} {
		t.Run(why, func(t *testing.T) {
			testkit.Alone(t, func(t *testing.T) { fullDisk(t, open(t)) })
		})
	}
}

func fullDisk(t *testing.T, disk *testkit.Disk) {
	onDisk := func(c *config.Config) { c.DataDir = filepath.Join(disk.Dir, "data") }
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "", onDisk)
		defer w.close()
		defer disk.Free()
		w.device("u_1", 1)
		w.faults(`[{"provider":"apns","do":{"delay":"3s"}}]`) // so that some are in flight, and some in the lane
		var ids []string
		for range 200 {
			ids = append(ids, w.post(shipped("u_1", nil)))
		}
		time.Sleep(time.Second)

		disk.Fill()
		for range 12 {
			w.refused(http.MethodPost, "/v1/events", shipped("u_1", nil))
			w.refused(http.MethodPut, "/v1/users/u_2", map[string]any{"locale": "de"})
			if about := w.refused(http.MethodGet, "/readyz", nil); disk.Mounted() && !strings.Contains(about, "disk") || about == "" {
				t.Errorf("readiness says %q", about)
			}
			w.trail(ids[0]) // support still reads
			time.Sleep(10 * time.Second)
		}

		disk.Free()
		time.Sleep(15 * time.Second)
		w.do(http.MethodGet, "/readyz", nil, nil)
		ids = append(ids, w.post(shipped("u_1", nil)))
		for _, id := range ids {
			w.until(id, "sent", 2*time.Minute)
		}
		w.onceEach(len(ids))
	})
}

func TestWhatWasAcceptedIsSentWhileThereIsNoRoomForMore(t *testing.T) {
	testkit.Alone(t, func(t *testing.T) {
		disk := testkit.SmallDisk(t, "24m")
		onDisk := func(c *config.Config) { c.DataDir = filepath.Join(disk.Dir, "data") }
		testkit.Bubble(t, func(t *testing.T) {
			w := newWorld(t, "", onDisk)
			defer w.close()
			defer disk.Free()
			w.device("u_1", 1)
			w.faults(`[{"provider":"apns","do":{"delay":"1s"}}]`)
			long := shipped("u_1", nil)
			long["data"] = map[string]any{"order": "4711", "carrier": "UPS", "more": strings.Repeat("x", 60_000)}
			var ids []string
			for range 2000 {
				var a struct{ ID string }
				if err := w.api.Do(context.Background(), http.MethodPost, "/v1/events", long, &a); err != nil {
					break
				}
				ids = append(ids, a.ID)
				if !disk.Mounted() && len(ids) == 200 {
					disk.Fill()
				}
			}
			w.refused(http.MethodPost, "/v1/events", long)
			if len(ids) < 100 {
				t.Fatalf("%d events were accepted", len(ids))
			}
			if !disk.Mounted() { // such a disk leaves no room to send from
				disk.Free()
			}
			for _, id := range ids {
				w.until(id, "sent", 2*time.Minute)
			}
			w.onceEach(len(ids))
		})
	})
}

// refused checks that something is refused for now, and gives the reason.
func (w *world) refused(method, path string, body any) (about string) {
	w.t.Helper()
	err := w.api.Do(context.Background(), method, path, body, nil)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.Problem.Code != "not_ready" {
		w.t.Errorf("%s %s: %v, want 503 not_ready", method, path, err)
		return ""
	}
	return refused.Problem.Detail
}
