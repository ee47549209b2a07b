package simulator

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An h2exchange is one request and its answer.
type h2exchange struct {
	conn   *h2conn
	stream uint32
	fields []hpack.HeaderField
	body   []byte
	served bool               // the reader's
	cancel context.CancelFunc // guarded by conn.mu; of one that is served outside the reader
}

// get is the value of a header, or of a pseudo header such as ":path".
func (x *h2exchange) get(name string) string {
	for i := range x.fields {
		if x.fields[i].Name == name {
			return x.fields[i].Value
		}
	}
	return ""
}

// outside serves the exchange outside the reader; ctx ends when the client gives up.
func (x *h2exchange) outside(serve func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(x.conn.ctx)
	x.conn.mu.Lock()
	x.cancel = cancel
	x.conn.mu.Unlock()
	x.conn.waiting.Go(func() {
		defer cancel()
		serve(ctx)
	})
}

// An h2answer is what an exchange ends with. Answers are small enough for any window.
type h2answer struct {
	status int
	id     string            // apns-id
	more   map[string]string // headers, in any case
	body   []byte            // JSON
	goAway bool              // the client is to go away after this
}

// answer sends the answer, unless the client gave up.
func (x *h2exchange) answer(a h2answer) {
	h := x.conn
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[x.stream] != x {
		return
	}
	delete(h.open, x.stream)
	h.writeHeaders(x.stream, a)
	for body := a.body; len(body) > 0; {
		part := body[:min(len(body), h2MaxFrame)]
		body = body[len(part):]
		_ = h.frames.WriteData(x.stream, len(body) == 0, part)
	}
	if a.goAway && !h.leaving {
		h.leaving = true
		_ = h.frames.WriteGoAway(h.last, http2.ErrCodeNo, nil)
	}
	h.change.Signal()
}

// writeHeaders writes the head of an answer; h.mu is held.
func (h *h2conn) writeHeaders(stream uint32, a h2answer) {
	h.block = h.block[:0]
	put := func(name, value string) {
		// Sensitive keeps it out of the table of what is repeated.
		_ = h.encoder.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: name != ":status"})
	}
	put(":status", strconv.Itoa(a.status))
	put("apns-id", a.id)
	if len(a.body) > 0 {
		put("content-type", "application/json")
	}
	for name, value := range a.more {
		put(strings.ToLower(name), value)
	}
	_ = h.frames.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: h.block, EndHeaders: true, EndStream: len(a.body) == 0,
	})
}

// cut cuts the whole connection without an answer.
func (x *h2exchange) cut() { x.conn.end() }
