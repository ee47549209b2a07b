package simulator

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// httpServer is a server whose requests can be cut, and end when the simulator closes.
func (d *desk) httpServer(h http.Handler) http.Server {
	return http.Server{
		Handler: h, ConnContext: withConn,
		BaseContext: func(net.Listener) context.Context { return d.sim.receipts.ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // of connections that are cut on purpose
	}
}

type connKey struct{}

// withConn keeps the connection of a request, so that it can be cut. It is wiring between a
// server and its own handlers, which is what net/http offers it for.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// A fate is what becomes of a request before it is looked at.
type fate int

const (
	serve   fate = iota // it is answered
	cutOff              // its connection is to be cut
	givenUp             // the client no longer waits
)

// await waits as the verdict says, and tells the fate of the request.
func (v verdict) await(ctx context.Context) fate {
	if v.Delay > 0 && !wait(ctx, time.Duration(v.Delay)) {
		return givenUp
	}
	if v.Reset == "after" {
		return serve
	}
	if v.Hang > 0 && !wait(ctx, time.Duration(v.Hang)) {
		return givenUp
	}
	if v.Hang > 0 || v.Reset == "before" {
		return cutOff
	}
	return serve
}

// awaitAfter waits as the verdict says once the request is accepted.
func (v verdict) awaitAfter(ctx context.Context) fate {
	if v.Reset != "after" {
		return serve
	}
	if v.Hang > 0 && !wait(ctx, time.Duration(v.Hang)) {
		return givenUp
	}
	return cutOff
}

// waits reports whether the verdict asks for any of that.
func (v verdict) waits() bool { return v.Delay > 0 || v.Hang > 0 || v.Reset != "" }

// stall is await for net/http: it returns when the request is to be served.
func (v verdict) stall(r *http.Request) { meet(r, v.await(r.Context())) }

// cutAfter is awaitAfter for net/http: it returns when the request is to be answered.
func (v verdict) cutAfter(r *http.Request) { meet(r, v.awaitAfter(r.Context())) }

// meet ends the handler of a request that is not to be served.
func meet(r *http.Request, f fate) {
	switch f {
	case cutOff:
		cut(r)
	case givenUp:
		panic(http.ErrAbortHandler)
	}
}

// prepare sets the headers that the verdict adds to an answer.
func (v verdict) prepare(w http.ResponseWriter) {
	for name, value := range v.Headers {
		w.Header().Set(name, value)
	}
}

// body is the answer's body with the verdict's in it: members of an object are merged into
// those of usual, anything else replaces it.
func (v verdict) body(usual map[string]any) []byte {
	if v.Body != nil && v.Body.Kind() != jsontext.KindBeginObject {
		return v.Body
	}
	all := maps.Clone(usual)
	if v.Body != nil {
		var more map[string]any
		if err := json.Unmarshal(v.Body, &more); err == nil {
			maps.Copy(all, more)
		}
	}
	b, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		panic(err) // decoded from JSON a moment ago
	}
	return b
}

// cut resets the connection of a request and ends its handler.
func cut(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		reset(c)
	}
	panic(http.ErrAbortHandler)
}

// reset closes a connection without a farewell.
func reset(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
