package faults

import (
	"context"
	"net"
	"slices"
	"strings"
)

// Listen is listen for this process: at its death the listener and all its connections are cut.
func (l *Life) Listen(listen func(address string) (net.Listener, error)) func(address string) (net.Listener, error) {
	return func(address string) (net.Listener, error) {
		inner, err := listen(address)
		if err != nil {
			return nil, err
		}
		made := &listener{inner, l}
		l.holds(made)
		return made, nil
	}
}

// Dial is dial for this process: at its death all its connections are cut.
func (l *Life) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.gone() {
			return nil, errGone
		}
		inner, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		made := l.socket(inner)
		if strings.HasPrefix(address, mailHost) {
			return &mailConn{made, l}, nil
		}
		return made, nil
	}
}

type listener struct {
	net.Listener
	life *Life
}

// Accept takes a connection that dies with the process.
func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.life.socket(inner), nil
}

// Close closes the listener.
func (l *listener) Close() error {
	l.life.forgets(l)
	return l.Listener.Close()
}

func (l *Life) socket(inner net.Conn) net.Conn {
	s := &socket{inner, l}
	l.holds(s)
	return s
}

type socket struct {
	net.Conn
	life *Life
}

// Read takes nothing more once the process is gone.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if s.life.gone() {
		return 0, errGone
	}
	return n, err
}

// Write sends nothing more once the process is gone.
func (s *socket) Write(b []byte) (int, error) {
	if s.life.gone() {
		return 0, errGone
	}
	return s.Conn.Write(b)
}

// Close closes the connection.
func (s *socket) Close() error {
	s.life.forgets(s)
	return s.Conn.Close()
}

// mailHost is how the name of a host begins that is spoken to in SMTP, which has no transport to wrap.
const mailHost = "smtp"

// A mailConn is a seam around a connection to a relay: each command, the content, each answer.
type mailConn struct {
	net.Conn
	life *Life
}

// Write sends a command or content.
func (c *mailConn) Write(b []byte) (int, error) {
	fate := c.life.judge(Call{Seam: Providers, What: "smtp " + mailVerb(b)})
	switch fate.Deed {
	case DieBefore:
		c.life.Die()
	case FailBefore:
		_ = c.Close()
	case HangBefore:
		return len(b), nil // it is lost on the way
	case Late:
		c.life.wait(fate.For)
	}
	n, err := c.Conn.Write(b)
	switch fate.Deed {
	case DieAfter:
		c.life.Die()
	case FailAfter:
		_ = c.Close()
	}
	return n, err
}

// Read takes an answer.
func (c *mailConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		return n, err
	}
	switch c.life.judge(Call{Seam: Providers, What: "smtp answer " + string(b[:min(n, 3)]), Inward: true}).Deed {
	case DieBefore, DieAfter:
		c.life.Die()
		return 0, errGone
	case FailBefore, FailAfter:
		_ = c.Close()
		return 0, errCut
	}
	return n, nil
}

// mailVerb is the command, or "content", which is nobody's business.
func mailVerb(b []byte) string {
	word, _, _ := strings.Cut(strings.TrimRight(string(b), "\r\n"), " ")
	if slices.Contains([]string{"EHLO", "HELO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA", "RSET", "NOOP", "QUIT"}, word) {
		return word
	}
	return "content"
}
