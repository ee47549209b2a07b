package lanes

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The oldest server whose work queues and batches are known to behave.
var oldest = [3]int{2, 12, 1}

const (
	connectWait   = 5 * time.Second
	reconnectWait = 250 * time.Millisecond
	flushWait     = time.Second
)

// connect reaches the broker. It reconnects for ever, and buffers nothing while it is away: a
// publish that was reported as failed must not arrive later.
func (l *Lanes) connect(s Settings) (*nats.Conn, error) {
	options := []nats.Option{
		nats.Name("tidings"),
		nats.Timeout(connectWait),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // none: we closed the connection ourselves
				l.log.Warn("broker is away", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { l.log.Info("broker is back") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			l.log.Warn("broker reports trouble", "error", err)
		}),
	}
	switch {
	case l.server != nil:
		options = append(options, nats.InProcessServer(inProcess{l.server, s.Conn}))
	case s.Conn != nil:
		options = append(options, nats.SetCustomDialer(dialer{s.Conn}))
	}
	conn, err := nats.Connect(s.URL, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: connect: %w", ErrUnavailable, err)
	}
	if err := checkVersion(conn.ConnectedServerVersion()); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// inProcess connects to whichever instance of the embedded server runs.
type inProcess struct {
	server *server
	wrap   func(net.Conn) net.Conn // nil: not at all
}

// InProcessConn is called by the client, also to reconnect.
func (p inProcess) InProcessConn() (net.Conn, error) {
	conn, err := p.server.current().InProcessConn()
	if err != nil || p.wrap == nil {
		return conn, err
	}
	return p.wrap(conn), nil
}

// A dialer wraps connections to an external broker.
type dialer struct{ wrap func(net.Conn) net.Conn }

// Dial is called by the client, also to reconnect.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, connectWait)
	if err != nil {
		return nil, err
	}
	return d.wrap(conn), nil
}

// checkVersion refuses a server that is too old; a version that cannot be read is taken as new.
func checkVersion(version string) error {
	var v [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n < len(v) {
		return nil
	}
	for i, least := range oldest {
		if v[i] > least {
			return nil
		}
		if v[i] < least {
			return fmt.Errorf("nats-server %s is too old: use %d.%d.%d or newer", version, oldest[0], oldest[1], oldest[2])
		}
	}
	return nil
}

// gone says that a stream or its consumer is missing, as when its files were lost.
func gone(err error) bool {
	for _, e := range []error{jetstream.ErrNoStreamResponse, jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound,
		jetstream.ErrConsumerDoesNotExist, jetstream.ErrConsumerDeleted, nats.ErrNoResponders} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
