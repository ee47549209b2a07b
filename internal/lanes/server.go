package lanes

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

const (
	startWait = 10 * time.Second

	notStarted  = "failed to be ready for connections" // how the broker says it
	startedAsks = 10

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

func newServer(s Settings) *server {
	store := int64(spare)
	for _, spec := range s.Lanes {
		store += int64(spec.MaxIDs) * bytesAnID
	}
	return &server{log: s.Log, options: natsserver.Options{
		ServerName:         "tidings",
		DontListen:         true,
		NoSigs:             true,
		NoLog:              true,
		JetStream:          true,
		StoreDir:           s.Dir,
		JetStreamMaxStore:  store,
		JetStreamMaxMemory: maxMemory,
	}}
}

// start starts an instance, in place of the one that runs: a restart is the mend for a file
// store that is frozen or whose files are gone.
func (e *server) start() error {
	e.stop()
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

func (e *server) stop() {
	if s := e.current(); s != nil {
		stop(s)
	}
}

// stop ends JetStream first: a shutdown beside open fetches would wait for 50 ms with a lock of
// JetStream held, and whoever wants that lock would stand still with it.
func stop(s *natsserver.Server) {
	if err := s.ShutdownJetStream(); err != nil {
		s.Errorf("shut JetStream down: %v", err)
	}
	s.Shutdown()
	s.WaitForShutdown()
}

// trouble says what is wrong with the files of a lane; nil: nothing. The broker gives itself one
// millisecond to see that it has started, which a busy machine may not have: so it is asked again
// where it says no more than that it has not.
func (e *server) trouble(l *lane) error {
	ask := &natsserver.HealthzOptions{
		Account: natsserver.DEFAULT_GLOBAL_ACCOUNT, Stream: l.streamName(), Consumer: consumerName,
	}
	h := e.current().Healthz(ask)
	for again := 0; again < startedAsks && strings.Contains(h.Error, notStarted); again++ {
		h = e.current().Healthz(ask)
	}
	if h.Error != "" {
		return fmt.Errorf("%w: %s", ErrUnavailable, h.Error)
	}
	return nil
}
