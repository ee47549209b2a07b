package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
	"tidings/internal/faults/fleet"
	"tidings/internal/testkit"
)

// build builds the service's binary for the first test that asks.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tidings-fleet-")
	if err != nil {
		return "", err
	}
	return fleet.Build(context.Background(), dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // it is of no more use
	}
	os.Exit(code)
}

func built(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// soon is how long what one process is told may take to count in the others, on a machine that
// does much else at once; on a quiet one it is a second.
const soon = 20 * time.Second

// A deployment is two processes that accept and two that deliver.
type deployment struct {
	*fleet.Fleet
	t    *testing.T
	apis []*fleet.Service
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	broker, err := fleet.NewBroker(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	f, err := fleet.New(t.Context(), fleet.Settings{Dir: t.TempDir(), Binary: built(t), Database: testkit.Postgres(t), Broker: broker.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	d := &deployment{Fleet: f, t: t}
	for _, name := range []string{"api-0", "api-1", "worker-0", "worker-1"} {
		role, _, _ := strings.Cut(name, "-")
		s, err := f.Service(name, role)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	d.apis = f.Services()[:2]
	return d
}

// do calls one of the processes that accept.
func (d *deployment) do(t *testing.T, api int, method, path string, in, out any) {
	t.Helper()
	if err := d.apis[api].Client.Do(t.Context(), method, path, in, out); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

// until asks again and again until it holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	within(t, soon, what, holds)
}

func within(t *testing.T, span time.Duration, what string, holds func() bool) {
	t.Helper()
	tick, end := time.NewTicker(50*time.Millisecond), time.After(span)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within %v", what, span)
		}
	}
}

// post posts an order for a user with a mailbox, and gives the notification's id.
func (d *deployment) post(t *testing.T, api int, event, user string) string {
	t.Helper()
	data := map[string]any{"order": "4711", "carrier": "UPS"}
	if event == "offer.weekly" {
		data = map[string]any{"headline": "Ten percent off"}
	}
	var posted wire.Posted
	d.do(t, api, http.MethodPost, "/v1/events", map[string]any{
		"type": event, "user": map[string]any{"id": user, "email": user + "@example.test"}, "data": data, "channels": []string{"email"},
	}, &posted)
	return posted.ID.String()
}

func (d *deployment) status(t *testing.T, id string) tidings.Status {
	t.Helper()
	var trail wire.Trail
	d.do(t, 1, http.MethodGet, "/v1/notifications/"+id, nil, &trail)
	if len(trail.Deliveries) != 1 {
		t.Fatalf("%d deliveries", len(trail.Deliveries))
	}
	return trail.Deliveries[0].Status
}

func TestProcessesWithRolesAreOneService(t *testing.T) {
	d := deploy(t)
	t.Run("each answers what its role has", func(t *testing.T) {
		for _, s := range d.Services() {
			for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
				if status, err := s.Get(t.Context(), path); status != http.StatusOK {
					t.Errorf("%s%s: %d, %v", s.Name, path, status, err)
				}
			}
			want := http.StatusOK
			if strings.HasPrefix(s.Name, "worker") {
				want = http.StatusNotFound
			}
			if status, err := s.Get(t.Context(), "/openapi.json"); status != want {
				t.Errorf("%s/openapi.json: %d, %v", s.Name, status, err)
			}
		}
	})
	t.Run("what one accepts others deliver", func(t *testing.T) {
		for api := range d.apis {
			id := d.post(t, api, "order.shipped", "u_1")
			until(t, "it is sent", func() bool { return d.status(t, id) == tidings.Sent })
		}
	})
	t.Run("a key counts everywhere, and so does its end", d.keys)
	t.Run("a catalogue that one publishes holds for the others", d.catalogue)
	t.Run("a lane that one pauses stands still in all", d.pause)
}

func (d *deployment) keys(t *testing.T) {
	out, err := d.Run(t.Context(), "keys", "create", "--app", "second", "--json")
	if err != nil {
		t.Fatal(err)
	}
	id, secret, found := strings.Cut(strings.NewReplacer(`{"key_id":"`, "", `","secret":"`, " ", `"}`, "", "\n", "").Replace(out), " ")
	if !found {
		t.Fatalf("the key is %q", out)
	}
	for _, s := range d.apis {
		c := client.New(s.URL, id, secret)
		defer c.CloseIdleConnections()
		until(t, "the key counts", func() bool { return c.Do(t.Context(), http.MethodGet, "/v1/lanes", nil, nil) == nil })
	}
	if _, err := d.Run(t.Context(), "keys", "revoke", id); err != nil {
		t.Fatal(err)
	}
	for _, s := range d.apis {
		c := client.New(s.URL, id, secret)
		defer c.CloseIdleConnections()
		until(t, "the key has ended", func() bool {
			refused := (*client.Error)(nil)
			return errors.As(c.Do(t.Context(), http.MethodGet, "/v1/lanes", nil, nil), &refused) && refused.Status == http.StatusUnauthorized
		})
	}
}

func (d *deployment) catalogue(t *testing.T) {
	var now, next wire.Catalog
	d.do(t, 0, http.MethodGet, "/v1/catalog", nil, &now)
	now.Files["templates/order.shipped/email.en.txt"] = "Order {{.data.order}} is on its way, says the new catalogue.\n"
	d.do(t, 0, http.MethodPut, "/v1/catalog", map[string]any{"files": now.Files}, &next)
	until(t, "the version holds", func() bool {
		var other wire.Catalog
		d.do(t, 1, http.MethodGet, "/v1/catalog", nil, &other)
		return other.Version == next.Version
	})
	id := d.post(t, 1, "order.shipped", "u_2")
	until(t, "it is sent by the new one", func() bool { return d.status(t, id) == tidings.Sent })
	ledger, err := d.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	if last := ledger[len(ledger)-1]; !strings.Contains(last.Text, "says the new catalogue") {
		t.Errorf("the provider got %q", last.Text)
	}
}

// pause also opts somebody out meanwhile: that counts at once, for what waits as well.
func (d *deployment) pause(t *testing.T) {
	d.do(t, 0, http.MethodPost, "/v1/lanes/email.bulk/pause", nil, nil)
	for _, worker := range d.Services()[2:] {
		until(t, worker.Name+" knows of it", func() bool { return d.metric(t, worker, `tidings_lane_paused{lane="email.bulk"}`) == "1" })
	}
	stays, leaves := d.post(t, 1, "offer.weekly", "u_3"), d.post(t, 0, "offer.weekly", "u_4")
	d.do(t, 1, http.MethodPatch, "/v1/users/u_4/preferences", map[string]any{"categories": map[string]any{"offers": false}}, nil)
	for _, id := range []string{stays, leaves} {
		if s := d.status(t, id); s != tidings.Queued {
			t.Errorf("%s in a paused lane", s)
		}
	}
	d.do(t, 1, http.MethodPost, "/v1/lanes/email.bulk/resume", nil, nil)
	until(t, "the one is sent", func() bool { return d.status(t, stays) == tidings.Sent })
	until(t, "the other is not", func() bool { return d.status(t, leaves) == tidings.Suppressed })
}

// metric is the value of one line of a process's metrics.
func (d *deployment) metric(t *testing.T, s *fleet.Service, name string) string {
	t.Helper()
	res, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return value
		}
	}
	return ""
}

func TestSQLiteIsForOneProcess(t *testing.T) {
	binary, err := fleet.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, err := fleet.New(t.Context(), fleet.Settings{Dir: t.TempDir(), Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s, err := f.Service("api", "api")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "SQLite serves api and worker in one process; set database_url to split them") {
		t.Errorf("started with %v", err)
	}
	second, err := f.Service("both")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if matches, _ := filepath.Glob(filepath.Join(f.LanesDir(), "*")); len(matches) == 0 {
		t.Error("the embedded broker keeps its files elsewhere")
	}
}
