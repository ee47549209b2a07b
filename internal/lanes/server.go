package lanes

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

const (
	startWait = 10 * time.Second

	notStarted  = "failed to be ready for connections" // how the broker says it
	startedAsks = 10

	quietPoll  = time.Millisecond
	quietPolls = 2000 // a broker that is busy for longer is stopped all the same

	maxMemory = 64 << 20 // lanes are files; this is for the broker's own
	spare     = 64 << 20 // disk beyond what the lanes may fill
)

// A server is an embedded broker that can be restarted under its clients.
type server struct {
	options natsserver.Options
	log     *slog.Logger

	mu   sync.Mutex
	now  *natsserver.Server // guarded by mu
	shut bool               // guarded by mu: it takes no new connection
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
	e.now, e.shut = s, false
	return nil
}

// connect makes a connection to the instance that runs.
func (e *server) connect() (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now == nil || e.shut {
		return nil, fmt.Errorf("%w: it is being stopped", ErrUnavailable)
	}
	conn, err := e.now.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return conn, nil
}

func (e *server) current() *natsserver.Server {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *server) stop() {
	e.mu.Lock()
	e.shut = true
	s := e.now
	e.mu.Unlock()
	if s != nil {
		stop(s)
	}
}

// stop lets the broker finish what it was asked for, since it would go on making a stream after
// its end, in the files of the instance that comes next. Then it ends JetStream first: a shutdown
// beside open fetches would wait for 50 ms with a lock of JetStream held, and whoever wants that
// lock would stand still with it.
func stop(s *natsserver.Server) {
	for range quietPolls {
		idle := disconnect(s)
		time.Sleep(quietPoll) // what had been read is then being answered, or answered
		if idle && answered(s) {
			break
		}
	}
	if err := s.ShutdownJetStream(); err != nil {
		s.Errorf("shut JetStream down: %v", err)
	}
	s.Shutdown()
	s.WaitForShutdown()
}

// disconnect ends the connections there are, and reports whether there were none.
func disconnect(s *natsserver.Server) bool {
	clients, err := s.Connz(nil)
	if err != nil {
		return true
	}
	for _, c := range clients.Conns {
		_ = s.DisconnectClientByID(c.Cid) // an error: it is gone by itself
	}
	return len(clients.Conns) == 0
}

// answered reports whether no request to JetStream is being worked on.
func answered(s *natsserver.Server) bool {
	js, err := s.Jsz(nil)
	return err != nil || js.API.Inflight == 0
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
