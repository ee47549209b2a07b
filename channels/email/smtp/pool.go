package smtp

import (
	"sync"
	"time"
)

const (
	maxKept  = 16               // connections kept at once
	keepFor  = 30 * time.Second // well below the five minutes of RFC 5321 section 4.5.3.2.7
	maxMails = 100              // on one connection; many relays close it soon after
	farewell = time.Second      // for saying goodbye on all of them
)

// A pool keeps connections between mails. The zero pool is empty.
type pool struct {
	mu     sync.Mutex
	kept   []*conn // guarded by mu; the last used is the last
	closed bool    // guarded by mu
}

// take is the connection that was used last, or nil. When even that one is too old, all are.
func (p *pool) take(now time.Time) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == 0 {
		return nil
	}
	last := len(p.kept) - 1
	c := p.kept[last]
	if now.Sub(c.used) <= keepFor {
		p.kept = p.kept[:last]
		return c
	}
	for _, old := range p.kept {
		old.drop()
	}
	p.kept = nil
	return nil
}

// put keeps a connection, or drops what is too much.
func (p *pool) put(c *conn, now time.Time) {
	c.used, c.reused = now, true
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.kept) >= maxKept || c.mails >= maxMails {
		c.drop()
		return
	}
	p.kept = append(p.kept, c)
}

// close says goodbye; connections in use are dropped when they come back.
func (p *pool) close() {
	p.mu.Lock()
	kept := p.kept
	p.kept, p.closed = nil, true
	p.mu.Unlock()
	until := time.Now().Add(farewell)
	for _, c := range kept {
		_ = c.wire.SetDeadline(until)
		_ = c.client.Quit()
		c.drop()
	}
}
