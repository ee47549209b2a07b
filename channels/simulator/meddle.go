package simulator

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type connKey struct{}

// withConn keeps the connection of a request, so that it can be cut; for http.Server.ConnContext.
// It is wiring between a server and its own handlers, which is what net/http offers it for.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// stall waits as the verdict says, and cuts the connection where nothing is to be accepted. It
// returns when the request is to be served, and does not return otherwise.
func (v verdict) stall(r *http.Request) {
	if !wait(r.Context(), time.Duration(v.Delay)) {
		panic(http.ErrAbortHandler)
	}
	if v.Reset == "after" {
		return
	}
	if v.Hang > 0 {
		wait(r.Context(), time.Duration(v.Hang))
	}
	if v.Hang > 0 || v.Reset == "before" {
		cut(r)
	}
}

// cutAfter cuts the connection of an accepted request where the verdict says so.
func (v verdict) cutAfter(r *http.Request) {
	if v.Reset != "after" {
		return
	}
	if v.Hang > 0 {
		wait(r.Context(), time.Duration(v.Hang))
	}
	cut(r)
}

// prepare sets the headers that the verdict adds to an answer.
func (v verdict) prepare(w http.ResponseWriter) {
	for name, value := range v.Headers {
		w.Header().Set(name, value)
	}
	if v.goAway {
		w.Header().Set("Connection", "close") // net/http makes it a GOAWAY on HTTP/2
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
