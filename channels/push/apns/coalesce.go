package apns

import (
	"net"
	"sync"
	"time"
)

const (
	// maxPending bounds what is written but not yet on its way, in bytes; writers wait above it.
	maxPending = 256 << 10
	// writeStall ends a connection whose peer takes nothing for so long.
	writeStall = 10 * time.Second
	// closeGrace is how long a closing connection may still write.
	closeGrace = 250 * time.Millisecond
)

// A coalescer gathers the small writes of HTTP/2, two for each push, and hands them on in as
// few large ones as the connection takes, which saves processor time at both ends.
//
// A write that fails shows in the next one, and in the reader, since it closes the connection:
// whoever waits for an answer learns at once that none will come. What was written counts as
// possibly sent, which is what it is.
type coalescer struct {
	net.Conn
	done chan struct{} // closed when the writer has ended

	mu      sync.Mutex
	change  *sync.Cond // of anything below
	pending []byte     // guarded by mu
	closing bool       // guarded by mu
	err     error      // guarded by mu; why nothing is written any more
}

func coalesce(c net.Conn) *coalescer {
	co := &coalescer{Conn: c, done: make(chan struct{})}
	co.change = sync.NewCond(&co.mu)
	go co.drain()
	return co
}

// Write takes p, to be written soon.
func (c *coalescer) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) >= maxPending && c.err == nil && !c.closing {
		c.change.Wait()
	}
	if c.err != nil {
		return 0, c.err
	}
	if c.closing {
		return 0, net.ErrClosed
	}
	if len(c.pending) == 0 {
		c.change.Broadcast()
	}
	c.pending = append(c.pending, p...)
	return len(p), nil
}

// drain writes what is pending until the connection closes.
func (c *coalescer) drain() {
	defer close(c.done)
	var batch []byte
	for {
		batch = c.next(batch[:0])
		if len(batch) == 0 {
			return
		}
		if _, err := c.Conn.Write(batch); err != nil {
			c.fail(err)
			return
		}
	}
}

// next waits for bytes to write, and leaves spare to be filled meanwhile; none: the end.
func (c *coalescer) next(spare []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) == 0 && !c.closing {
		c.change.Wait()
	}
	batch := c.pending
	c.pending = spare
	c.allow(writeStall)
	c.change.Broadcast()
	return batch
}

// allow sets how long a write may take; c.mu is held.
func (c *coalescer) allow(span time.Duration) {
	if c.closing {
		span = closeGrace
	}
	_ = c.Conn.SetWriteDeadline(time.Now().Add(span))
}

func (c *coalescer) fail(err error) {
	c.mu.Lock()
	c.err = err
	c.change.Broadcast()
	c.mu.Unlock()
	_ = c.Conn.Close()
}

// Close writes what is pending, if the peer takes it soon, and closes the connection.
func (c *coalescer) Close() error {
	c.mu.Lock()
	c.closing = true
	c.allow(closeGrace)
	c.change.Broadcast()
	c.mu.Unlock()
	<-c.done
	return c.Conn.Close()
}

// SetDeadline sets that of reading: writes have their own.
func (c *coalescer) SetDeadline(t time.Time) error { return c.Conn.SetReadDeadline(t) }

// SetWriteDeadline does nothing: a write of the connection is not one of the caller's.
func (c *coalescer) SetWriteDeadline(time.Time) error { return nil }
