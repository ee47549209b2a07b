package lanes

import (
	"crypto/tls"
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

	// pingEvery and pingsMissed find a broker out that is silent: the client's own would take four minutes.
	pingEvery   = 10 * time.Second
	pingsMissed = 2
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
		nats.IgnoreAuthErrorAbort(), // a broker that starts may not know its accounts yet
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsMissed),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			l.away.Store(true)
			if err != nil { // none: we closed the connection ourselves
				l.log.Warn("broker is away", "error", err)
			}
		}),
		nats.ReconnectHandler(func(conn *nats.Conn) {
			l.away.Store(false)
			l.log.Info("broker is back")
			if err := checkVersion(conn.ConnectedServerVersion()); err != nil {
				l.log.Error("broker is not one to rely on", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			l.log.Warn("broker reports trouble", "error", err)
		}),
	}
	if l.server != nil {
		options = append(options, nats.InProcessServer(inProcess{l.server, s.Conn}))
	} else {
		options = append(options, external(s)...)
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

// external says how a broker is reached that is not ours, and who we are there.
func external(s Settings) []nats.Option {
	options := []nats.Option{nats.SetCustomDialer(dialer{s.Dial, s.Conn})}
	if s.Roots != nil {
		options = append(options, nats.Secure(&tls.Config{RootCAs: s.Roots, MinVersion: tls.VersionTLS12}))
	}
	if s.Credentials != "" {
		options = append(options, nats.UserCredentialBytes([]byte(s.Credentials)))
	}
	return options
}

// inProcess connects to whichever instance of the embedded server runs.
type inProcess struct {
	server *server
	wrap   func(net.Conn) net.Conn // nil: not at all
}

// InProcessConn is called by the client, also to reconnect.
func (p inProcess) InProcessConn() (net.Conn, error) {
	conn, err := p.server.connect()
	if err != nil || p.wrap == nil {
		return conn, err
	}
	return p.wrap(conn), nil
}

// A dialer connects to an external broker.
type dialer struct {
	dial func(network, address string) (net.Conn, error) // nil: the network
	wrap func(net.Conn) net.Conn                         // nil: not at all
}

// Dial is called by the client, also to reconnect.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	dial := d.dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectWait}).Dial
	}
	conn, err := dial(network, address)
	if err != nil || d.wrap == nil {
		return conn, err
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
			return fmt.Errorf("nats-server %s is too old: upgrade it to %d.%d.%d or newer", version, oldest[0], oldest[1], oldest[2])
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

// The mends for what an external broker may refuse, by JetStream error code (nats-server server/errors.json).
var mends = map[jetstream.ErrorCode]string{
	10023: "give the account more JetStream storage, or its servers more disk", // JSInsufficientResourcesErr
	10039: "enable JetStream for the account",                                  // JSNotEnabledForAccountErr
	10047: "give the account more JetStream storage",                           // JSStorageResourcesExceededErr
	10074: "set nats_replicas to 1, or use a cluster",                          // JSStreamReplicasNotSupportedErr
	10076: "enable JetStream on the server",                                    // JSNotEnabledErr
	10005: "set nats_replicas to no more than there are servers",               // JSClusterNoPeersErrF
}

// advised adds the mend to an error of the broker that an operator must deal with.
func advised(err error) error {
	var api *jetstream.APIError
	if errors.As(err, &api) && mends[api.ErrorCode] != "" {
		return fmt.Errorf("%w: %s", err, mends[api.ErrorCode])
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: if the server is up, enable JetStream on it", err)
	}
	return err
}
