// Package lanes is the transport between the log and the workers: one bounded JetStream work
// queue per channel and priority, in an embedded server or on an external one.
//
// It promises that an entry carries ids and a stamp only, and that every lane can be deleted
// and filled again from the log. It must never hold anything that is not in the log.
package lanes

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tidings"
)

// The errors that callers tell apart.
var (
	ErrUnavailable = errors.New("broker is not available") // the broker does not answer
	ErrFull        = errors.New("lane is full")            // the lane holds as much as it may
)

// Settings say where the broker is and which lanes there are.
type Settings struct {
	URL   string // nats://…, several with commas between; empty: an embedded server that keeps its files in Dir
	Dir   string
	Lanes []Spec
	Log   *slog.Logger

	// What follows is for an external broker only.
	Credentials string                                          // the content of a credentials file; empty: none, or as the URL says
	Roots       *x509.CertPool                                  // whom to trust; nil: whom the system trusts
	Replicas    int                                             // of each stream; 0: one
	Dial        func(network, address string) (net.Conn, error) // how it is reached; nil: the network

	// Conn wraps every connection to the broker, to put faults between; nil: nothing between.
	Conn func(net.Conn) net.Conn
}

// A Spec describes one lane.
type Spec struct {
	Lane      tidings.Lane
	MaxIDs    int           // how many deliveries the lane may hold: about ten seconds of drain
	AckWait   time.Duration // how long the broker waits for an acknowledgement or a heartbeat
	MaxInHand int           // how many entries may be fetched and unacknowledged at once
}

// Lanes is a connection to the broker. It is safe for concurrent use.
type Lanes struct {
	log      *slog.Logger
	settings Settings
	server   *server // nil: the broker is external
	conn     *nats.Conn
	js       jetstream.JetStream
	lanes    map[tidings.Lane]*lane
	// away is true while there is no connection. The client's own answer waits for its lock, which
	// it holds all through a handshake with a server that is silent.
	away   atomic.Bool
	misses atomic.Int32 // publishes in a row that the broker did not answer, or could not store
	// reviving is true while the embedded broker is restarted.
	reviving atomic.Bool
	alarmed  chan struct{} // holds a token while somebody wants the supervisor to look

	stop context.CancelFunc // ends the supervisor
	done sync.WaitGroup     // waits for it
}

// A lane is one stream with its one consumer.
type lane struct {
	Spec
	stream   jetstream.Stream
	consumer jetstream.Consumer
	bound    atomic.Int64 // deliveries it is filled with now, MaxIDs at most
	room     atomic.Int64
	closed   atomic.Bool

	mending chan struct{} // holds a token while a caller makes what is missing
}

func (l *lane) streamName() string { return "tidings-" + strings.ReplaceAll(string(l.Lane), ".", "-") }
func (l *lane) subject() string    { return "tidings.lane." + string(l.Lane) }

// The consumer has the same name for ever: a work queue hands over what is unacknowledged only
// to the consumer that it was handed out by.
const consumerName = "workers"

// Open starts or reaches the broker and makes the streams and consumers that are missing.
func Open(ctx context.Context, s Settings) (*Lanes, error) {
	l := &Lanes{log: s.Log, settings: s, lanes: make(map[tidings.Lane]*lane, len(s.Lanes)), alarmed: make(chan struct{}, 1)}
	for _, spec := range s.Lanes {
		l.lanes[spec.Lane] = &lane{Spec: spec, mending: make(chan struct{}, 1)}
	}
	if s.URL == "" {
		l.server = newServer(s)
	}
	if err := l.open(ctx); err != nil {
		l.shutdown()
		return nil, err
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.done.Go(func() { l.supervise(ctx) })
	return l, nil
}

func (l *Lanes) open(ctx context.Context) error {
	for _, lane := range l.lanes {
		lane.bound.Store(int64(lane.MaxIDs))
		lane.room.Store(int64(lane.MaxIDs))
	}
	err := l.up(ctx)
	if err == nil || l.server == nil || ctx.Err() != nil {
		return err
	}
	return l.server.withoutFiles(err, func() error { return l.up(ctx) })
}

// up brings broker, connection and lanes up, at first and again.
func (l *Lanes) up(ctx context.Context) error {
	if l.server != nil {
		if err := l.server.start(); err != nil {
			return err
		}
	}
	if err := l.reach(ctx); err != nil {
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

// reach connects, or lets the connection there is find the new server.
func (l *Lanes) reach(ctx context.Context) (err error) {
	if l.conn != nil {
		return l.reconnect(ctx)
	}
	if l.conn, err = l.connect(l.settings); err != nil {
		return err
	}
	l.js, err = jetstream.New(l.conn, jetstream.WithPublishAsyncTimeout(publishWait), jetstream.WithPublishAsyncMaxPending(maxPending))
	if err != nil {
		return fmt.Errorf("open lanes: %w", err)
	}
	return nil
}

// Close ends the connection and stops an embedded server. Entries in hand stay with the
// broker, which hands them out again.
func (l *Lanes) Close() error {
	l.stop()
	l.done.Wait()
	l.shutdown()
	return nil
}

func (l *Lanes) shutdown() {
	if l.conn != nil {
		_ = l.conn.FlushTimeout(flushWait) // acknowledgements on their way; without them entries come again and find nothing to do
		if l.js != nil {
			l.js.CleanupPublisher()
		}
		l.conn.Close()
	}
	if l.server != nil {
		l.server.stop()
	}
}

// Names are the lanes there are, in order.
func (l *Lanes) Names() []tidings.Lane { return slices.Sorted(maps.Keys(l.lanes)) }

func (l *Lanes) lane(name tidings.Lane) (*lane, error) {
	if lane := l.lanes[name]; lane != nil {
		return lane, nil
	}
	return nil, fmt.Errorf("there is no lane %q", name)
}
