package channeltest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// A line is the way to the services, which can be cut.
type line struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	down atomic.Bool
}

// Dial connects, or is refused while the line is down.
func (l *line) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.down.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return l.dial(ctx, network, address)
}

// eavesdrop notes the credentials that go over the wire, so that they can be looked for elsewhere.
func (b *Bench) eavesdrop(next http.RoundTripper) http.RoundTripper {
	return &listener{RoundTripper: next, heard: &b.log.heard}
}

type listener struct {
	http.RoundTripper
	heard *words
}

func (l *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, credential, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		l.heard.add(credential)
	}
	return l.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections passes the wish on, as http.Client expects.
func (l *listener) CloseIdleConnections() {
	if c, ok := l.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// A journal is what the provider logs, and the credentials it used.
type journal struct {
	mu    sync.Mutex
	buf   bytes.Buffer // guarded by mu
	heard words
}

// Write takes a line of the log.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

// String is the log so far.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

type words struct {
	mu   sync.Mutex
	list []string // guarded by mu
}

func (w *words) add(word string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, word)
}

func (w *words) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.list...)
}
