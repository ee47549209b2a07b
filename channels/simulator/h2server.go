package simulator

import (
	"crypto/tls"
	"net"
	"sync"
)

// An h2server serves HTTP/2 over TLS: as much of RFC 9113 as a push service needs, and what
// net/http does not let one do, such as to refuse streams or to say go away at a given request.
// It is lean, since the measured thing is the client beside it.
type h2server struct {
	tls     *tls.Config
	streams func() int        // how many at once a new connection allows; 0: h2Streams
	serve   func(*h2exchange) // called by the connection's reader, so it must not wait

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
			if c.Handshake() == nil && c.ConnectionState().NegotiatedProtocol == "h2" {
				newH2conn(c, s).run()
			}
		})
	}
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
