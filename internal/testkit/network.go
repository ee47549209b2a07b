// Package testkit is what tests of several packages share: an in-memory network for virtual
// time, and a PostgreSQL server.
//
// It promises to work inside a testing/synctest bubble. Product code must never import it.
package testkit

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A Network joins listeners and dialers in memory, by address, without sockets, so that what
// waits on it is durably blocked in a synctest bubble.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener // guarded by mu
}

// NewNetwork is an empty network.
func NewNetwork() *Network { return &Network{listeners: map[string]*listener{}} }

// Listen opens the address, such as "apns:443".
func (n *Network) Listen(address string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[address] != nil {
		return nil, errors.New("listen: address in use: " + address)
	}
	l := &listener{net: n, addr: address, conns: make(chan net.Conn), done: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// Dial connects to an address that is listened on; else it is refused.
func (n *Network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: errors.New("connection refused")}
	}
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	net   *Network
	addr  string
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.net.mu.Lock()
		delete(l.net.listeners, l.addr)
		l.net.mu.Unlock()
		close(l.done)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return memoryAddr(l.addr) }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }
