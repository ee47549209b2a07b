package lanes

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

const (
	startWait   = 10 * time.Second
	superviseAt = 5 * time.Second

	reconnectPoll = 20 * time.Millisecond

	// A frozen file store still looks enabled and answers no publish.
	missesBeforeRestart = 3

	maxMemory = 64 << 20 // lanes are files; this is for the broker's own
	spare     = 64 << 20 // disk beyond what the lanes may fill
)

// A server is an embedded broker that can be restarted under its clients.
type server struct {
	options natsserver.Options
	log     *slog.Logger

	mu  sync.Mutex
	now *natsserver.Server // guarded by mu
}

func startServer(s Settings) (*server, error) {
	store := int64(spare)
	for _, spec := range s.Lanes {
		store += int64(spec.MaxIDs) * bytesAnID
	}
	e := &server{log: s.Log, options: natsserver.Options{
		ServerName:         "tidings",
		DontListen:         true,
		NoSigs:             true,
		NoLog:              true,
		JetStream:          true,
		StoreDir:           s.Dir,
		JetStreamMaxStore:  store,
		JetStreamMaxMemory: maxMemory,
	}}
	return e, e.start()
}

func (e *server) start() error {
	options := e.options
	s, err := natsserver.NewServer(&options)
	if err != nil {
		return fmt.Errorf("start broker: %w", err)
	}
	log := &serverLog{log: e.log}
	s.SetLogger(log, false, false)
	s.Start() // returns, since it does not listen
	if err := log.fatal(); err != nil || !s.ReadyForConnections(startWait) {
		stop(s)
		return fmt.Errorf("start broker in %s: %w", options.StoreDir, errors.Join(err, ErrUnavailable))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = s
	return nil
}

func (e *server) current() *natsserver.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *server) stop() { stop(e.current()) }

func stop(s *natsserver.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// restart is the mend for a file store that is frozen or whose files are gone.
func (e *server) restart() error {
	e.stop()
	return e.start()
}

// trouble says what is wrong with the files of a lane; nil: nothing.
func (e *server) trouble(l *lane) error {
	h := e.current().Healthz(&natsserver.HealthzOptions{
		Account: natsserver.DEFAULT_GLOBAL_ACCOUNT, Stream: l.streamName(), Consumer: consumerName,
	})
	if h.Error != "" {
		return fmt.Errorf("%w: %s", ErrUnavailable, h.Error)
	}
	return nil
}

// supervise restarts the embedded server when it no longer stores, and makes the lanes that
// are missing after that.
func (l *Lanes) supervise(ctx context.Context) {
	tick := time.NewTicker(superviseAt)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := l.trouble()
		if err == nil {
			continue
		}
		l.log.Error("broker does not store: restarting it", "error", err)
		if err := l.revive(ctx); err != nil {
			l.log.Error("broker is not back yet", "error", err)
		}
	}
}

func (l *Lanes) trouble() error {
	if n := l.misses.Load(); n >= missesBeforeRestart {
		return fmt.Errorf("%w: %d publishes in a row were not answered", ErrUnavailable, n)
	}
	for _, lane := range l.lanes {
		if err := l.server.trouble(lane); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lanes) revive(ctx context.Context) error {
	if err := l.server.restart(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	if err := l.reconnect(ctx); err != nil {
		return err
	}
	l.misses.Store(0)
	for _, lane := range l.lanes {
		if err := l.mend(ctx, lane); err != nil {
			return err
		}
	}
	return nil
}

// reconnect does not wait for the client to notice that the server is another one.
func (l *Lanes) reconnect(ctx context.Context) error {
	if err := l.conn.ForceReconnect(); err != nil {
		return fmt.Errorf("reconnect: %w", err)
	}
	for !l.conn.IsConnected() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("reconnect: %w", ctx.Err())
		case <-time.After(reconnectPoll):
		}
	}
	return nil
}
