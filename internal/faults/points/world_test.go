package points

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tidings/api/client"
	"tidings/channels"
	"tidings/channels/all"
	"tidings/channels/simulator"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/faults"
	"tidings/internal/playground"
	"tidings/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.PrepareBubbles()
	os.Exit(m.Run())
}

const serviceAddress = "service:80"

// restartPause is how long a process that could not start is left alone.
const restartPause = time.Second

// A world is the service with simulated providers on an in-memory network, and somebody who starts
// it again whenever it dies. The whole of it lives in one bubble.
type world struct {
	t      *testing.T
	net    *testkit.Network
	sim    *simulator.Simulator
	tape   simulator.Tape
	dir    string
	config string
	setup  setup
	judge  faults.Judge
	api    *client.Client
	told   told

	stop chan struct{} // closed to end the keeping
	kept sync.WaitGroup

	mu      sync.Mutex
	life    *faults.Life // guarded by mu
	running *app.App     // guarded by mu; nil: it could not start
	data    string       // the folder of the life that runs or starts next; guarded by mu
	deaths  []time.Time  // guarded by mu
}

// A setup is what one run has otherwise than the next.
type setup struct {
	keys     string // the folder of the simulators' keys, which take long to make
	database string // URL; empty: SQLite
	loseLane bool   // the broker's files go with the process
	edit     func(*config.Config)
}

// newWorld starts the simulators and the service, and sees to it that it runs.
func newWorld(t *testing.T, s setup, judge faults.Judge) *world {
	t.Helper()
	w := &world{t: t, net: testkit.NewNetwork(), dir: t.TempDir(), setup: s, judge: judge, stop: make(chan struct{})}
	var err error
	w.sim, err = simulator.Start(simulator.Settings{
		Listen: func(vendor string) (net.Listener, error) { return w.net.Listen(vendor + ":443") },
		Dial:   w.net.Dial, Ledger: &w.tape, HooksURL: "http://" + serviceAddress, Dir: s.keys,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.config, w.data = filepath.Join(w.dir, "tidings.yaml"), filepath.Join(w.dir, "life-0")
	err = playground.WriteConfig(playground.Setup{File: w.config, Listen: serviceAddress, Providers: w.sim.Providers()})
	if err != nil {
		t.Fatal(err)
	}
	w.begin()
	w.kept.Go(w.keep)
	w.key()
	return w
}

// begin begins a life on the files of the one before.
func (w *world) begin() {
	life := faults.NewLife(w.judge, w.leave)
	w.mu.Lock()
	w.life, w.running = life, nil
	w.mu.Unlock()
	cfg, err := config.Load(w.config, nil, all.Vendors())
	if err != nil {
		w.t.Errorf("load the configuration: %v", err)
		return
	}
	cfg.DataDir, cfg.DatabaseURL = w.data, channels.Secret(w.setup.database)
	if w.setup.edit != nil {
		w.setup.edit(&cfg)
	}
	running, err := app.New(context.Background(), cfg, app.Settings{
		Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors(),
		Listen: life.Listen(w.net.Listen), Dial: life.Dial(w.net.Dial),
		Transport: life.Transport, Connector: life.Connector, Broker: life.Broker,
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.running = running
		return
	}
	select {
	case <-life.Over():
	default: // it cannot start: whoever watches over it tries again
		time.AfterFunc(restartPause, life.Die)
	}
}

// leave takes the files to where the next life finds them, as they are at the death.
func (w *world) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaths = append(w.deaths, time.Now())
	next := filepath.Join(w.dir, fmt.Sprint("life-", len(w.deaths)))
	if err := faults.Picture(w.data, next); err != nil {
		w.t.Error(err)
	}
	if w.setup.loseLane {
		if err := os.RemoveAll(filepath.Join(next, "jetstream")); err != nil {
			w.t.Error(err)
		}
	}
	w.data = next
}

// keep starts the service again whenever it dies.
func (w *world) keep() {
	for {
		life, _ := w.now()
		select {
		case <-w.stop:
			return
		case <-life.Over():
		}
		w.bury()
		w.begin()
	}
}

func (w *world) now() (*faults.Life, *app.App) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life, w.running
}

// bury ends the goroutines of a process that is gone; none of them reaches anything any more.
func (w *world) bury() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, gone := w.now(); gone != nil {
		_ = gone.Shutdown(ctx) // of course it complains
	}
}

// close ends everything; in a bubble, nothing may outlive it.
func (w *world) close() {
	w.t.Helper()
	close(w.stop)
	w.kept.Wait()
	if w.api != nil {
		w.api.CloseIdleConnections()
	}
	if _, running := w.now(); running != nil {
		if err := running.Shutdown(context.Background()); err != nil {
			w.t.Error(err)
		}
	}
	if err := w.sim.Close(); err != nil {
		w.t.Error(err)
	}
}

// key makes a key in the log, as the command does, as soon as the service runs.
func (w *world) key() {
	w.t.Helper()
	for ; ; time.Sleep(restartPause) {
		key, secret, err := app.NewKey("shop", []string{"all"}, false, time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		if _, running := w.now(); running != nil && running.Store.CreateKey(context.Background(), key) == nil {
			w.api = client.New("http://"+serviceAddress, key.ID, secret, client.WithDial(w.net.Dial))
			return
		}
	}
}
