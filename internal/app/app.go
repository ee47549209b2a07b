// Package app puts the parts together: one straight function that makes each part from the
// configuration, and one that ends them in reverse.
//
// It promises that whatever was started is ended, also when a later part fails to start. It
// must never hold rules of its own.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/api"
	"tidings/channels"
	"tidings/internal/admission"
	"tidings/internal/config"
	"tidings/internal/intake"
	"tidings/internal/lanes"
	"tidings/internal/links"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/workers"
)

// Settings are a developer's wiring; but for Vendors, the zero value is what production runs with.
type Settings struct {
	Version   string
	Log       *slog.Logger
	Vendors   []channels.Vendor
	Listen    func(address string) (net.Listener, error)                           // nil: TCP
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // how providers are reached; nil: the network
	Transport func(http.RoundTripper) http.RoundTripper                            // wraps every provider's transport; nil: not at all
	Connector store.Wrap                                                           // wraps the database's connections; nil: not at all
	Broker    func(net.Conn) net.Conn                                              // wraps connections to the broker; nil: not at all
	// DialBroker is how an external broker is reached; nil: the network.
	DialBroker func(network, address string) (net.Conn, error)
}

// An App is the running service.
type App struct {
	cfg      config.Config
	listener net.Listener
	draining atomic.Bool
	cleanups []cleanup
	served   chan error
	usurped  chan error // says that the log is worked with another process's broker
	door     *admission.Door

	// The parts, for programs that drive the service from within. Workers is nil without that role.
	Store   *store.Store
	Lanes   *lanes.Lanes
	Intake  *intake.Intake
	Workers *workers.Workers
}

type cleanup struct {
	what string
	run  func(ctx context.Context) error
}

// New starts the service and listens. It is long because it is the one list of what there is,
// in the order in which parts need each other; the clean-ups run in reverse.
func New(ctx context.Context, cfg config.Config, s Settings) (_ *App, err error) {
	s = s.withDefaults()
	a := &App{cfg: cfg, served: make(chan error, 1), usurped: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.cleanUp(context.WithoutCancel(ctx)))
		}
	}()

	if a.listener, err = s.Listen(cfg.Listen); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", cfg.Listen, err)
	}
	a.push("listener", func(context.Context) error { return ignoreClosed(a.listener.Close()) })
	public := publicURL(cfg, a.listener)
	tellPlain(s.Log, public)

	release, err := takeFolder(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if release != nil {
		a.push("data_dir", release)
	}

	secret, err := LoadSecret(cfg.SecretFile)
	if err != nil {
		return nil, err
	}
	signer, err := links.New(secret, public)
	if err != nil {
		return nil, err
	}
	var books *catalogues        // of which the log asks nothing before there are any
	var metrics *observe.Metrics // to which it tells nothing before they are there
	a.Store, err = store.Open(ctx, store.Settings{
		URL: string(cfg.DatabaseURL), Dir: cfg.DataDir, Secret: secret, Log: s.Log, Connector: s.Connector,
		Category: func(name string) (tidings.Category, bool) { return books.category(name) },
		Ended: func(c tidings.Channel, provider string, status tidings.Status, reason tidings.Reason) {
			metrics.Ended(c, provider, status, reason)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	a.push("store", func(context.Context) error { return a.Store.Close() })
	if err := a.takeBroker(ctx, s.Log); err != nil {
		return nil, err
	}

	books, err = openCatalogues(ctx, a.Store, cfg, s.Log)
	if err != nil {
		return nil, err
	}
	a.push("catalogue", books.close)

	providers, err := buildProviders(cfg, s, public)
	if err != nil {
		return nil, err
	}
	a.push("providers", func(context.Context) error { return closeProviders(providers) })
	carriers, each, err := workers.Carriers(providers, routes(cfg))
	if err != nil {
		return nil, err
	}

	broker, err := laneSettings(cfg, s)
	if err != nil {
		return nil, err
	}
	a.Lanes, err = lanes.Open(ctx, broker)
	if err != nil {
		return nil, fmt.Errorf("open the lanes: %w", errors.Join(err, cfg.Disk.Full(watched(cfg))))
	}
	a.push("lanes", func(context.Context) error { return a.Lanes.Close() })

	a.door, err = admission.Open(ctx, admission.Settings{
		Store: a.Store, Bounds: bounds(cfg), Disk: cfg.Disk, Dir: watched(cfg), Gauge: gauge(cfg, a.Lanes), Log: s.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("count what waits: %w", err)
	}
	a.push("door", func(context.Context) error { a.door.Close(); return nil })

	metrics = newMetrics(s.Version, providers)
	zones, err := preferences.NewZones(cfg.Defaults.Timezone)
	if err != nil {
		return nil, err
	}
	defaults := intake.Defaults{
		ExpiresIn: cfg.Workers.Delivery.ExpiresIn, DedupeWindow: cfg.Workers.Delivery.DedupeWindow, Retention: cfg.Workers.Retention,
		Brake: tidings.Cap{Count: cfg.Brake.Events, Per: cfg.Brake.Per},
	}
	a.Intake = intake.New(intake.Settings{
		Store: a.Store, Lanes: a.Lanes, Door: a.door, Catalogue: books.current, Version: books.version,
		Providers: carriers, Zones: zones, Defaults: defaults, PublicURL: public,
		Spread: cfg.Workers.Delivery.ReleaseSpread,
		Quota:  newQuotas(cfg.Apps).take, Metrics: metrics, Log: s.Log,
	})
	a.push("intake", func(context.Context) error { a.Intake.Close(); return nil })

	if cfg.HasRole("worker") {
		a.Workers, err = workers.Start(ctx, workers.Settings{
			Config: cfg.Workers, Store: a.Store, Lanes: a.Lanes, Catalogue: books.version, Current: books.current, Providers: providers,
			Routes: routes(cfg), Zones: zones, Links: signer, Release: a.Intake.Release, Digests: a.Intake.FlushDigests, Metrics: metrics, Log: s.Log,
		})
		if err != nil {
			return nil, fmt.Errorf("start the workers: %w", err)
		}
	}

	server := &http.Server{
		Handler: api.New(api.Settings{
			Store: a.Store, Intake: a.Intake, Catalogue: books.current, Publish: books.publish,
			Providers: apiProviders(providers, each), Lanes: laneNames(), Limits: laneLimits(cfg), Lease: cfg.Workers.Delivery.Lease, LanesChanged: lanesChanged(a.Workers),
			RebuildLane: a.Lanes.Rebuild,
			Wake:        wake(a.Workers), Ready: a.ready, Broker: a.Lanes.Healthy, Draining: a.draining.Load, Full: a.door.Full, PublicURL: public, Links: signer,
			ProbesOnly: !cfg.HasRole("api"),
			Version:    s.Version, Metrics: metrics, Log: s.Log,
		}),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	a.push("http", endHTTP(server, s.Log))
	if a.Workers != nil { // they stop first: meanwhile probes and posts are told why, and receipts are taken
		a.push("workers", endWorkers(a.Workers, s.Log))
	}
	go func() { a.served <- server.Serve(a.listener) }()
	return a, nil
}

func (s Settings) withDefaults() Settings {
	if s.Log == nil {
		s.Log = slog.Default()
	}
	if s.Listen == nil {
		s.Listen = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	}
	if s.Dial == nil {
		s.Dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	if s.Transport == nil {
		s.Transport = func(rt http.RoundTripper) http.RoundTripper { return rt }
	}
	return s
}

// URL is where this process is reached on its machine.
func (a *App) URL() string { return BaseURL(a.listener.Addr().String()) }

// Run serves until ctx ends, the listener fails, or the log is worked with another process's broker,
// then shuts down.
func (a *App) Run(ctx context.Context) error {
	var failed error
	select {
	case <-ctx.Done():
	case err := <-a.served:
		failed = fmt.Errorf("serve http: %w", err)
	case failed = <-a.usurped:
	}
	return errors.Join(failed, a.Shutdown(context.WithoutCancel(ctx)))
}

// Shutdown ends the service within the configured time: readiness turns red and new posts are
// refused at once, what is in flight ends or is given back, then the parts close in order.
func (a *App) Shutdown(ctx context.Context) error {
	a.draining.Store(true)
	ctx, cancel := context.WithTimeout(ctx, a.cfg.ShutdownTimeout)
	defer cancel()
	return a.cleanUp(ctx)
}

func (a *App) push(what string, run func(ctx context.Context) error) {
	a.cleanups = append(a.cleanups, cleanup{what, run})
}

func (a *App) cleanUp(ctx context.Context) error {
	var failed error
	for len(a.cleanups) > 0 {
		last := a.cleanups[len(a.cleanups)-1]
		a.cleanups = a.cleanups[:len(a.cleanups)-1]
		if err := last.run(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("end %s: %w", last.what, err))
		}
	}
	return failed
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func newMetrics(version string, providers []workers.Provider) *observe.Metrics {
	var known []observe.Provider
	for _, p := range providers {
		known = append(known, observe.Provider{Name: p.Name, Channel: string(p.Channel)})
	}
	var names []string
	for _, l := range laneNames() {
		names = append(names, string(l))
	}
	return observe.NewMetrics(version, known, names)
}

func lanesChanged(w *workers.Workers) func(context.Context) {
	if w == nil {
		return nil
	}
	return w.LanesChanged
}

func wake(w *workers.Workers) func(time.Time) {
	if w == nil {
		return nil
	}
	return w.Wake
}
