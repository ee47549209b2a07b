package simulator

import (
	"context"
	"crypto/rand"
	"net"
	"sync"
)

// smtpUser is who may log in; the password is the file smtp.password among the credentials.
const smtpUser = "tidings"

// smtpMaxSize bounds a mail, in bytes.
const smtpMaxSize = 10 << 20

// smtpServer is a mail relay. Logging in and STARTTLS are offered, but not asked for.
type smtpServer struct {
	desk     *desk
	password string
	ctx      context.Context // ends with the server
	cancel   context.CancelFunc
	serving  sync.WaitGroup

	mu     sync.Mutex
	closed bool                  // guarded by mu
	conns  map[net.Conn]struct{} // guarded by mu
}

func openSMTP(d *desk) (service, error) {
	password, _, err := d.keep("smtp.password", func() ([]byte, error) { return []byte(rand.Text()), nil })
	if err != nil {
		return nil, err
	}
	s := &smtpServer{desk: d, password: string(password), conns: map[net.Conn]struct{}{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *smtpServer) config() []Line {
	host, port, err := net.SplitHostPort(s.desk.address)
	if err != nil {
		host = s.desk.address
	}
	return []Line{
		{"name", "smtp"}, {"type", s.desk.typ},
		{"host", host}, {"port", port}, {"tls", "none"}, {"from", "Shop <no-reply@example.test>"},
	}
}

func (s *smtpServer) report(context.Context, Report) error { return errNoReceipts }

// Serve answers on l until it is closed.
func (s *smtpServer) Serve(l net.Listener) error {
	defer s.serving.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		if !s.add(c) {
			return c.Close()
		}
		s.serving.Go(func() {
			defer s.remove(c)
			newSMTPSession(s, c).run()
		})
	}
}

// Close cuts all connections.
func (s *smtpServer) Close() error {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
	return nil
}

func (s *smtpServer) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.conns[c] = struct{}{}
	}
	return !s.closed
}

func (s *smtpServer) remove(c net.Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	_ = c.Close()
}
