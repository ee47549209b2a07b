package apns

//lint:file-ignore SA1019 apns2 wants a transport of its own with a dialer and pings; net/http has no dialer for HTTP/2 alone.

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"tidings/channels"
)

const (
	// bulkLinks is how many connections share the bulk of the work: on few cores more of them
	// only make smaller batches.
	bulkLinks = 2
	// callersPerLink keeps each connection well below the 1000 streams that Apple allows at once.
	callersPerLink = 500

	idleTimeout = 10 * time.Minute // Apple wants connections kept, but not for ever
	pingAfter   = 15 * time.Second // of silence
	pingTimeout = 5 * time.Second
)

// A pool spreads calls over a few connections, and keeps one for what is urgent.
type pool struct {
	bulk   [bulkLinks]*link
	urgent *link
	turn   atomic.Uint64
}

// A link is one connection in the ordinary case; the transport opens another beside it where
// the peer allows fewer streams than there are callers.
type link struct {
	client    *http.Client
	transport *http2.Transport
	places    chan struct{} // one in it for each caller
}

func newPool(s channels.Settings) *pool {
	p := &pool{urgent: newLink(s)}
	for i := range p.bulk {
		p.bulk[i] = newLink(s)
	}
	return p
}

func newLink(s channels.Settings) *link {
	transport := &http2.Transport{
		TLSClientConfig: s.TLS,
		DialTLSContext: func(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
			if s.Connect > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, s.Connect)
				defer cancel()
			}
			return dialTLS(ctx, s.Dial, network, address, config)
		},
		IdleConnTimeout: idleTimeout,
		ReadIdleTimeout: pingAfter,
		PingTimeout:     pingTimeout,
		// Never StrictMaxConcurrentStreams: with more callers than streams calls have been seen to stall.
	}
	return &link{
		client:    &http.Client{Transport: channels.Record(s.Transport(transport))},
		transport: transport,
		places:    make(chan struct{}, callersPerLink),
	}
}

// take waits for a place on a connection; release gives it back.
func (p *pool) take(ctx context.Context, urgent bool) (*link, error) {
	l := p.urgent
	if !urgent {
		l = p.bulk[p.turn.Add(1)%bulkLinks]
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.places <- struct{}{}:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *link) release() { <-l.places }

func (p *pool) close() {
	for _, l := range append(p.bulk[:], p.urgent) {
		l.transport.CloseIdleConnections()
	}
}

// dialTLS connects and insists on HTTP/2.
func dialTLS(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error), network, address string, config *tls.Config) (net.Conn, error) {
	raw, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("greet: %w", err)
	}
	if got := c.ConnectionState().NegotiatedProtocol; got != http2.NextProtoTLS {
		_ = raw.Close()
		return nil, fmt.Errorf("the peer speaks %q, not HTTP/2", got)
	}
	return coalesce(c), nil
}
