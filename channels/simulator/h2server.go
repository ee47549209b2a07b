package simulator

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"golang.org/x/net/http2"
)

// An h2server serves HTTP/2 over TLS, each connection with the number of streams that the
// rules ask for when it opens.
type h2server struct {
	tls     *tls.Config
	handler http.Handler
	streams func() int

	mu      sync.Mutex
	closed  bool                  // guarded by mu
	conns   map[net.Conn]struct{} // guarded by mu
	serving sync.WaitGroup
}

// Serve answers on l until it is closed.
func (s *h2server) Serve(l net.Listener) error {
	defer s.serving.Wait()
	for {
		raw, err := l.Accept()
		if err != nil {
			return err
		}
		c := tls.Server(raw, s.tls)
		if !s.add(c) {
			return raw.Close()
		}
		s.serving.Go(func() {
			defer s.remove(c)
			s.serve(c)
		})
	}
}

func (s *h2server) serve(c *tls.Conn) {
	if c.Handshake() != nil || c.ConnectionState().NegotiatedProtocol != http2.NextProtoTLS {
		return
	}
	base := &http.Server{ErrorLog: silent()}
	h2 := &http2.Server{MaxConcurrentStreams: uint32(s.streams())}
	if http2.ConfigureServer(base, h2) != nil { // also gives it channels of its own
		return
	}
	h2.ServeConn(c, &http2.ServeConnOpts{Context: withConn(context.Background(), c), Handler: s.handler, BaseConfig: base})
}

// Close cuts all connections.
func (s *h2server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		reset(c)
	}
	return nil
}

func (s *h2server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.conns == nil {
		s.conns = map[net.Conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *h2server) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	reset(c)
}

// silent drops what net/http would say of connections that are cut on purpose.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }
