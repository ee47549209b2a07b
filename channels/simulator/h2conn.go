package simulator

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	h2Streams   = 1000             // at once on a connection, as Apple allows
	h2MaxBody   = 8 << 10          // what is read of a request's body, in bytes
	h2Window    = 1 << 30          // what a client may send on a connection before it is told to go on, in bytes
	h2MaxFrame  = 16 << 10         // the largest frame that every peer takes (RFC 9113, section 4.2)
	h2WriteWait = 30 * time.Second // how long a peer may take nothing
)

// An h2conn is one connection: a reader, which serves, and a writer, which sends in one write
// whatever has gathered.
type h2conn struct {
	net    net.Conn
	server *h2server
	limit  int // of streams at once

	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	waiting sync.WaitGroup // exchanges that are served outside the reader
	read    int            // bytes of bodies since the client was last told to go on; the reader's

	mu      sync.Mutex
	change  *sync.Cond             // of what follows
	out     outbuf                 // guarded by mu
	frames  *http2.Framer          // guarded by mu; writes to out
	encoder *hpack.Encoder         // guarded by mu; writes to block
	block   outbuf                 // guarded by mu
	open    map[uint32]*h2exchange // guarded by mu; what is not answered yet
	last    uint32                 // guarded by mu; the highest stream that is served
	leaving bool                   // guarded by mu; told the client to go away
	ended   bool                   // guarded by mu
}

// outbuf is a buffer of which nothing can fail.
type outbuf []byte

// Write appends p.
func (b *outbuf) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func newH2conn(c net.Conn, s *h2server) *h2conn {
	h := &h2conn{net: c, server: s, limit: s.streams(), open: map[uint32]*h2exchange{}}
	if h.limit == 0 {
		h.limit = h2Streams
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.change = sync.NewCond(&h.mu)
	h.frames = http2.NewFramer(&h.out, nil)
	h.encoder = hpack.NewEncoder(&h.block)
	return h
}

// run serves until the connection ends.
func (h *h2conn) run() {
	var writer sync.WaitGroup
	writer.Go(h.write)
	h.greet()
	h.readAll()
	h.end()
	writer.Wait()
	h.waiting.Wait()
}

func (h *h2conn) greet() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.frames.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(h.limit)})
	_ = h.frames.WriteWindowUpdate(0, h2Window)
	h.change.Signal()
}

// write sends what has gathered until the connection ends.
func (h *h2conn) write() {
	var batch outbuf
	for {
		h.mu.Lock()
		for len(h.out) == 0 && !h.ended {
			h.change.Wait()
		}
		batch, h.out = h.out, batch[:0]
		h.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		_ = h.net.SetWriteDeadline(time.Now().Add(h2WriteWait))
		if _, err := h.net.Write(batch); err != nil {
			h.end()
			return
		}
	}
}

// end ends the connection and whatever waits on it.
func (h *h2conn) end() {
	h.mu.Lock()
	h.ended = true
	h.change.Signal()
	h.mu.Unlock()
	h.cancel()
	reset(h.net)
}

// readAll takes frames until the connection ends.
func (h *h2conn) readAll() {
	in := bufio.NewReaderSize(h.net, 64<<10)
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(in, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	frames := http2.NewFramer(io.Discard, in)
	frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	frames.SetReuseFrames()
	for {
		f, err := frames.ReadFrame()
		if err != nil || !h.take(f) {
			return
		}
	}
}

// take handles one frame; false ends the connection.
func (h *h2conn) take(f http2.Frame) bool {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		if x := h.begin(f); x != nil && f.StreamEnded() {
			h.server.serve(x)
		}
	case *http2.DataFrame:
		h.data(f)
	case *http2.RSTStreamFrame:
		h.forget(f.StreamID)
	case *http2.SettingsFrame:
		if !f.IsAck() {
			h.send(func(w *http2.Framer) error { return w.WriteSettingsAck() })
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			h.send(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
		}
	case *http2.GoAwayFrame:
		return h.busy()
	}
	return true
}

// send writes a frame.
func (h *h2conn) send(frame func(*http2.Framer) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = frame(h.frames)
	h.change.Signal()
}

// begin opens an exchange, unless the client has been told to go away or has too many.
func (h *h2conn) begin(f *http2.MetaHeadersFrame) *h2exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leaving || h.open[f.StreamID] != nil {
		return nil // above the last stream of the farewell, so the client repeats it elsewhere; or trailers
	}
	if len(h.open) >= h.limit {
		_ = h.frames.WriteRSTStream(f.StreamID, http2.ErrCodeRefusedStream)
		h.change.Signal()
		return nil
	}
	x := &h2exchange{conn: h, stream: f.StreamID, fields: f.Fields}
	h.open[f.StreamID], h.last = x, f.StreamID
	return x
}

// data gathers the body of an exchange, and serves it when the body is whole or too long.
func (h *h2conn) data(f *http2.DataFrame) {
	if h.read += int(f.Length); h.read > h2Window/2 {
		more := uint32(h.read)
		h.read = 0
		h.send(func(w *http2.Framer) error { return w.WriteWindowUpdate(0, more) })
	}
	h.mu.Lock()
	x := h.open[f.StreamID]
	h.mu.Unlock()
	if x == nil || x.served {
		return
	}
	x.body = append(x.body, f.Data()...)
	if f.StreamEnded() || len(x.body) > h2MaxBody {
		x.served = true
		h.server.serve(x)
	}
}

// forget ends an exchange that the client gave up.
func (h *h2conn) forget(stream uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if x := h.open[stream]; x != nil {
		delete(h.open, stream)
		if x.cancel != nil {
			x.cancel()
		}
	}
}

// busy reports whether exchanges are still open.
func (h *h2conn) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}
