package playground

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tidings/api/client"
	"tidings/channels/all"
	"tidings/channels/simulator"
	"tidings/internal/app"
	"tidings/internal/config"
)

// Options say how the demo runs.
type Options struct {
	Dir     string // empty: a fresh temporary folder, removed at the end
	Listen  string // empty: a free port
	Once    bool   // end after the story
	JSON    bool   // one line of JSON when ready, and with Once one for each step
	Version string
	Out     io.Writer
	Log     *slog.Logger
}

// ErrStory says that a scene did not come out as it should.
var ErrStory = errors.New("the story did not come out as it should; see the steps marked with a cross")

// demo is a running playground.
type demo struct {
	opts Options
	sim  *simulator.Simulator
	app  *app.App
	api  *client.Client

	dir, config, ledger string
	keyID, secret       string
}

// Run starts the simulators and the service, plays the story, and unless it is to run once,
// goes on with a little traffic until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	d := &demo{opts: o}
	defer func() { err = errors.Join(err, d.close(context.WithoutCancel(ctx))) }()
	if err := d.open(ctx); err != nil {
		return err
	}
	if o.JSON && !o.Once {
		if err := d.printReady(); err != nil {
			return err
		}
	}
	s := story{api: d.api, sim: d.sim, ledger: d.ledger, tell: d.tell}
	ok, err := s.run(ctx)
	if err != nil {
		return err
	}
	if o.Once {
		if !ok {
			return ErrStory
		}
		return nil
	}
	if !o.JSON {
		d.invite()
	}
	return d.traffic(ctx)
}

func (d *demo) open(ctx context.Context) error {
	if err := d.makeDir(); err != nil {
		return err
	}
	ledger, err := os.OpenFile(d.ledger, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the ledger: %w", err)
	}
	setup := Setup{File: d.config, Listen: d.opts.Listen, RetryBase: "200ms", Force: true}
	credentials, err := setup.Credentials()
	if err != nil {
		return err
	}
	d.sim, err = simulator.Start(simulator.Settings{Listen: simulator.OnPorts(0), Ledger: ledger, Dir: credentials, Log: d.opts.Log})
	if err != nil {
		return err
	}
	setup.Providers = d.sim.Providers()
	if err := WriteConfig(setup); err != nil {
		return err
	}
	cfg, err := config.Load(d.config, nil, all.Vendors())
	if err != nil {
		return err
	}
	d.app, err = app.New(ctx, cfg, app.Settings{Version: d.opts.Version, Log: d.opts.Log, Vendors: all.Vendors()})
	if err != nil {
		return err
	}
	key, secret, err := app.NewKey("shop", []string{"all"}, false, time.Now())
	if err != nil {
		return err
	}
	if err := d.app.Store.CreateKey(ctx, key); err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	d.keyID, d.secret = key.ID, secret
	d.api = client.New(d.app.URL(), d.keyID, d.secret)
	return nil
}

func (d *demo) makeDir() error {
	d.dir = d.opts.Dir
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "tidings-demo-")
		if err != nil {
			return fmt.Errorf("make a folder for the demo: %w", err)
		}
		d.dir = dir
	}
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return err
	}
	d.dir, d.config, d.ledger = dir, filepath.Join(dir, "tidings.yaml"), filepath.Join(dir, "ledger.jsonl")
	return os.MkdirAll(d.dir, 0o755)
}

func (d *demo) close(ctx context.Context) error {
	var failed error
	if d.app != nil {
		failed = d.app.Shutdown(ctx)
	}
	if d.sim != nil {
		failed = errors.Join(failed, d.sim.Close())
	}
	if d.opts.Dir == "" && d.dir != "" {
		failed = errors.Join(failed, os.RemoveAll(d.dir))
	}
	return failed
}

func (d *demo) tell(s Step) {
	if d.opts.JSON {
		if d.opts.Once {
			_ = json.NewEncoder(d.opts.Out).Encode(s)
		}
		return
	}
	mark := "✓"
	if !s.OK {
		mark = "✗"
	}
	fmt.Fprintf(d.opts.Out, "%s %-10s %s\n  %-10s %s\n", mark, s.Step, s.Text, "", s.Notification)
}

func (d *demo) printReady() error {
	return json.NewEncoder(d.opts.Out).Encode(map[string]string{
		"url": d.app.URL(), "key_id": d.keyID, "secret": d.secret, "ledger": d.ledger,
		"control": "http://" + d.sim.Address(simulator.Control), "config": d.config,
	})
}

// invite says how to go on by hand.
func (d *demo) invite() {
	fmt.Fprintf(d.opts.Out, `
The service runs at %[1]s until you press Ctrl-C. Try it:

  export TIDINGS_URL=%[1]s TIDINGS_KEY=%[2]s.%[3]s
  curl -u %[2]s:%[3]s $TIDINGS_URL/v1/events \
    -H 'Content-Type: application/json' \
    -d '{"type":"login.code","user":"%[4]s","data":{"code":"482913"}}'
  curl -u %[2]s:%[3]s $TIDINGS_URL/v1/notifications/ID

What the simulated providers accepted is in %[5]s; the API is described at %[1]s/docs.
`, d.app.URL(), d.keyID, d.secret, annID, d.ledger)
}

// trafficEvery is the pause between two events of the demo's own traffic.
const trafficEvery = 3 * time.Second

// traffic posts an event now and then, so that there is something to look at.
func (d *demo) traffic(ctx context.Context) error {
	tick := time.NewTicker(trafficEvery)
	defer tick.Stop()
	for n := 5000; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		event := post{Type: "order.shipped", User: annID, Data: map[string]any{"order": strconv.Itoa(n), "carrier": "UPS"}}
		if err := d.api.Do(ctx, http.MethodPost, "/v1/events", event, nil); err != nil && ctx.Err() == nil {
			d.opts.Log.Warn("demo traffic", "error", err)
		}
	}
}
