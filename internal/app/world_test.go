package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings/api/client"
	"tidings/channels"
	"tidings/channels/all"
	"tidings/channels/simulator"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/playground"
	"tidings/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.PrepareBubbles()
	os.Exit(m.Run())
}

// A world is the service with simulated providers on an in-memory network.
type world struct {
	t      *testing.T
	net    *testkit.Network
	sim    *simulator.Simulator
	ledger *safeBuffer
	config string
	edit   func(*config.Config)
	broker *testkit.Broker // nil: embedded
	sqlite bool            // the log is in SQLite, whose clock is that of the bubble

	app *app.App
	api *client.Client
}

// onEachDatabase runs a scenario in virtual time, on SQLite and on PostgreSQL.
func onEachDatabase(t *testing.T, edit func(*config.Config), scenario func(t *testing.T, w *world)) {
	for _, database := range []struct{ name, url string }{{"sqlite", ""}, {"postgres", testkit.Postgres(t)}} {
		t.Run(database.name, func(t *testing.T) {
			testkit.Bubble(t, func(t *testing.T) {
				w := newWorld(t, database.url, edit)
				defer w.close()
				scenario(t, w)
			})
		})
	}
}

const serviceAddress = "service:80"

// newWorld starts the simulators and the service; databaseURL empty is SQLite.
func newWorld(t *testing.T, databaseURL string, edit func(*config.Config)) *world {
	t.Helper()
	return newWorldBeside(t, nil, databaseURL, edit)
}

// newWorldBeside has an external broker, which edit must name.
func newWorldBeside(t *testing.T, broker *testkit.Broker, databaseURL string, edit func(*config.Config)) *world {
	t.Helper()
	w := &world{t: t, broker: broker, sqlite: databaseURL == "", net: testkit.NewNetwork(), ledger: &safeBuffer{}, edit: edit}
	dir := t.TempDir()
	var err error
	w.sim, err = simulator.Start(simulator.Settings{
		Listen: func(vendor string) (net.Listener, error) { return w.net.Listen(vendor + ":443") },
		Dial:   w.net.Dial, Ledger: w.ledger, HooksURL: "http://" + serviceAddress, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.config = filepath.Join(dir, "tidings.yaml")
	err = playground.WriteConfig(playground.Setup{File: w.config, Listen: serviceAddress, Providers: w.sim.Providers()})
	if err != nil {
		t.Fatal(err)
	}
	if databaseURL != "" {
		w.edit = func(c *config.Config) {
			c.DatabaseURL = channels.Secret(databaseURL)
			if edit != nil {
				edit(c)
			}
		}
	}
	w.start()
	w.key()
	return w
}

// start starts the service, or starts it again on its files.
func (w *world) start() {
	w.t.Helper()
	cfg, err := config.Load(w.config, nil, all.Vendors())
	if err != nil {
		w.t.Fatal(err)
	}
	if w.edit != nil {
		w.edit(&cfg)
	}
	w.app, err = app.New(context.Background(), cfg, app.Settings{
		Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors(), Listen: w.net.Listen, Dial: w.net.Dial,
		DialBroker: func(network, address string) (net.Conn, error) { return w.broker.Dial(network, address) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stop() {
	w.t.Helper()
	if err := w.app.Shutdown(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// close ends everything; in a bubble, nothing may outlive it.
func (w *world) close() {
	w.t.Helper()
	w.api.CloseIdleConnections()
	w.stop()
	if err := w.sim.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) key() {
	w.t.Helper()
	key, secret, err := app.NewKey("shop", []string{"all"}, false, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.app.Store.CreateKey(context.Background(), key); err != nil {
		w.t.Fatal(err)
	}
	w.api = client.New("http://"+serviceAddress, key.ID, secret, client.WithDial(w.net.Dial))
}

func (w *world) do(method, path string, in, out any) {
	w.t.Helper()
	if err := w.api.Do(context.Background(), method, path, in, out); err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// device registers an APNs token of a user.
func (w *world) device(user string, n int) string {
	w.t.Helper()
	token := fmt.Sprintf("a%063x", n)
	w.do(http.MethodPost, "/v1/users/"+user+"/addresses", map[string]any{"channel": "push", "provider": "apns", "token": token}, nil)
	return token
}

// post posts an event and gives the notification's id.
func (w *world) post(event map[string]any) string {
	w.t.Helper()
	var a struct{ ID string }
	w.do(http.MethodPost, "/v1/events", event, &a)
	return a.ID
}

func (w *world) faults(rules string) {
	w.t.Helper()
	var list []simulator.Rule
	if err := json.Unmarshal([]byte(rules), &list); err != nil {
		w.t.Fatal(err)
	}
	if err := w.sim.SetFaults(list); err != nil {
		w.t.Fatal(err)
	}
}

// shown is what the scenarios look at of a trail.
type shown struct {
	ID, Status, Summary, Digest string
	Deliveries                  []struct {
		ID, Status, Reason string
		Final              bool
		Attempts           []struct {
			Provider, Outcome string
		}
	}
	Timeline []struct{ Kind, Text string }
}

func (s shown) outcomes() string {
	var all []string
	for _, d := range s.Deliveries {
		for _, a := range d.Attempts {
			all = append(all, a.Outcome)
		}
	}
	return strings.Join(all, " ")
}

func (w *world) trail(id string) shown {
	w.t.Helper()
	var s shown
	w.do(http.MethodGet, "/v1/notifications/"+id, nil, &s)
	return s
}

// until waits in virtual time for a notification to have a status; it looks ever less often.
func (w *world) until(id, status string, atMost time.Duration) shown {
	w.t.Helper()
	end, pause := time.Now().Add(atMost), 20*time.Millisecond
	for ; ; time.Sleep(pause) {
		synctest.Wait()
		pause = min(pause*3/2, atMost/10)
		s := w.trail(id)
		if s.Status == status {
			return s
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s is %s after %v, want %s: %+v", id, s.Status, atMost, status, s)
		}
	}
}

// accepts counts by delivery what the providers accepted.
func (w *world) accepts() map[string]int {
	w.t.Helper()
	counts := map[string]int{}
	for line := range bytes.Lines(w.ledger.bytes()) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		counts[e.DeliveryID]++
	}
	return counts
}

// safeBuffer is a ledger in memory.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}
