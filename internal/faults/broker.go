package faults

import (
	"net"
	"time"
)

// Broker is a seam around a connection to the broker.
func (l *Life) Broker(inner net.Conn) net.Conn {
	b := &brokerConn{Conn: inner, life: l, sending: make(chan struct{}, 1)}
	l.holds(b)
	return b
}

// A brokerConn lets whole frames through, one after the other.
type brokerConn struct {
	net.Conn
	life *Life

	in    frames // only Read touches these
	ready []byte

	sending chan struct{} // holds a token while a frame is sent, which may take as long as the broker likes
	out     frames        // only Write touches it, which the client calls from one goroutine at a time
}

// Write sends what the client wrote, frame by frame.
func (c *brokerConn) Write(b []byte) (int, error) {
	for _, f := range c.out.add(b) {
		if err := c.send(f); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (c *brokerConn) send(f frame) error {
	if c.life.gone() {
		return errGone
	}
	fate := c.fate(f)
	switch fate.Deed {
	case DieBefore:
		c.life.Die()
		return errGone
	case FailBefore:
		_ = c.Close()
		return errCut
	case HangBefore:
		return nil // it is lost on the way
	case Late:
		time.AfterFunc(fate.For, func() { _ = c.pass(f.raw) }) // the client may not be held up: it holds a lock
		return nil
	case Twice:
		if err := c.pass(f.raw); err != nil {
			return err
		}
	}
	if err := c.pass(f.raw); err != nil {
		return err
	}
	switch fate.Deed {
	case DieAfter:
		c.life.Die()
		return errGone
	case FailAfter:
		_ = c.Close()
		return errCut
	}
	return nil
}

func (c *brokerConn) fate(f frame) Fate {
	call := f.call()
	if call.What == "" {
		return Fate{}
	}
	return c.life.judge(call)
}

func (c *brokerConn) pass(raw []byte) error {
	c.sending <- struct{}{}
	defer func() { <-c.sending }()
	_, err := c.Conn.Write(raw)
	return err
}

// Read gives the client what the broker sent, as soon as a frame is whole.
func (c *brokerConn) Read(b []byte) (int, error) {
	for len(c.ready) == 0 {
		n, err := c.Conn.Read(b)
		if err != nil {
			return 0, err
		}
		for _, f := range c.in.add(b[:n]) {
			if err := c.receive(f); err != nil {
				return 0, err
			}
		}
	}
	n := copy(b, c.ready)
	c.ready = c.ready[n:]
	return n, nil
}

func (c *brokerConn) receive(f frame) error {
	if c.life.gone() {
		return errGone
	}
	fate := c.fate(f)
	switch fate.Deed {
	case DieBefore, DieAfter:
		c.life.Die()
		return errGone
	case FailBefore, FailAfter:
		_ = c.Close()
		return errCut
	case HangBefore, HangAfter:
		return nil
	case Late:
		c.life.wait(fate.For)
	case Twice:
		c.ready = append(c.ready, f.raw...)
	}
	c.ready = append(c.ready, f.raw...)
	return nil
}

// Close closes the connection.
func (c *brokerConn) Close() error {
	c.life.forgets(c)
	return c.Conn.Close()
}
