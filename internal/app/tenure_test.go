package app_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tidings/channels"
	"tidings/channels/all"
	"tidings/internal/app"
	"tidings/internal/config"
	"tidings/internal/faults"
	"tidings/internal/testkit"
)

// beside starts a service beside that of the world, on the same database, and gives how long it took.
func (w *world) beside(dataDir, listen string, life *faults.Life, edit func(*config.Config)) (*app.App, time.Duration, error) {
	w.t.Helper()
	cfg, err := config.Load(w.config, nil, all.Vendors())
	if err != nil {
		w.t.Fatal(err)
	}
	w.edit(&cfg)
	cfg.DataDir, cfg.Listen, cfg.NATSURL = filepath.Join(filepath.Dir(w.config), dataDir), listen, ""
	if edit != nil {
		edit(&cfg)
	}
	begin := time.Now()
	a, err := app.New(context.Background(), cfg, app.Settings{
		Version: "test", Log: slog.New(slog.DiscardHandler), Vendors: all.Vendors(),
		Listen: life.Listen(w.net.Listen), Dial: life.Dial(w.net.Dial), Connector: life.Connector, Broker: life.Broker,
	})
	return a, time.Since(begin), err
}

// alive is a life in which nothing goes wrong.
func alive() *faults.Life {
	return faults.NewLife(func(faults.Call) faults.Fate { return faults.Fate{} }, nil)
}

func onPostgres(t *testing.T, scenario func(t *testing.T, w *world)) {
	t.Helper()
	url := testkit.Postgres(t)
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, url, nil)
		defer w.close()
		scenario(t, w)
	})
}

const otherAddress = "other:80"

func TestASecondEmbeddedBrokerOnOneDatabaseIsRefusedUntilTheFirstHasEnded(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		second, took, err := w.beside("second", otherAddress, alive(), func(c *config.Config) { c.ShutdownTimeout = time.Second })
		if err == nil {
			_ = second.Shutdown(context.Background())
			t.Fatal("two embedded brokers serve one database")
		}
		for _, part := range []string{"in use by another tidings process with an embedded broker", "process ", "nats_url"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("refused with %v, which does not say %q", err, part)
			}
		}
		if took < 9*time.Second || took > 11*time.Second {
			t.Errorf("refused after %v: a process that ends may take its shutdown_timeout of 1 s, and one that died is forgotten after 8 s", took)
		}
		w.device("u_1", 1)
		w.until(w.post(shipped("u_1", nil)), "sent", 10*time.Second)

		ends := time.AfterFunc(3*time.Second, w.stop)
		defer ends.Stop()
		second, took, err = w.beside("second", otherAddress, alive(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if took < 3*time.Second || took > 4*time.Second {
			t.Errorf("took over after %v, want it as soon as the first has ended, after 3 s", took)
		}
		if err := second.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		begin := time.Now()
		w.start()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("started %v after the second had left", took)
		}
	})
}

func TestAProcessThatDiedComesBackAtOnceAndAnotherOnceItWasSilent(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		w.stop()
		dies := func(dataDir string) (took time.Duration) {
			t.Helper()
			life := alive()
			a, took, err := w.beside(dataDir, otherAddress, life, nil)
			if err != nil {
				t.Fatalf("on %s: %v", dataDir, err)
			}
			time.Sleep(3 * time.Second)
			life.Die()
			gone, cancel := context.WithCancel(context.Background())
			cancel()
			_ = a.Shutdown(gone) // of course it complains
			return took
		}
		for _, life := range []struct {
			why, dataDir string
			least, most  time.Duration
		}{
			{"the first", "one", 0, time.Second},
			{"again on its folder", "one", 0, time.Second},
			{"another, when the first was silent for 8 s, of which one had passed", "two", 6 * time.Second, 9 * time.Second},
		} {
			if took := dies(life.dataDir); took < life.least || took > life.most {
				t.Errorf("%s: started after %v, want %v to %v", life.why, took, life.least, life.most)
			}
		}
		w.start() // for the clean-up
	})
}

func TestAProcessWhosePlaceWasTakenWhileItWasNotHeardOfEnds(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		w.stop()
		var away atomic.Bool // nothing is heard of this process
		first, _, err := w.beside("one", otherAddress, faults.NewLife(func(c faults.Call) faults.Fate {
			if strings.Contains(c.What, "broker") && away.Load() {
				return faults.Fate{Deed: faults.FailBefore}
			}
			return faults.Fate{}
		}, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- first.Run(t.Context()) }()
		away.Store(true)
		w.start()
		away.Store(false)
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "in use by another tidings process") {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(brokerBeat + time.Second):
			t.Fatal("it goes on beside the other one")
		}
		w.device("u_1", 1)
		w.until(w.post(shipped("u_1", nil)), "sent", 10*time.Second)
	})
}

// brokerBeat is how often a process tells the log which broker it works with.
const brokerBeat = 2 * time.Second

func TestAnEmbeddedBrokerAndAnExternalOneDoNotServeOneDatabase(t *testing.T) {
	url := testkit.Postgres(t)
	testkit.Bubble(t, func(t *testing.T) {
		broker := testkit.NewBroker(t)
		defer broker.Stop()
		external := func(c *config.Config) { c.NATSURL = channels.Secret(broker.URL()) }
		w := newWorldBeside(t, broker, url, external)
		defer w.close()
		if a, _, err := w.beside("second", otherAddress, alive(), nil); err == nil || !strings.Contains(err.Error(), "with an external broker") {
			t.Errorf("an embedded one beside it: %v, %v", a, err)
		}
	})
}
