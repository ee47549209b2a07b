package workers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tidings"
	"tidings/internal/lanes"
)

// Hands hold the entries that were fetched and are not settled. An entry is settled when all
// its ids are: recorded, given back, or found to need nothing.
type hands struct {
	log  *slog.Logger
	mu   sync.Mutex
	held map[*held]struct{} // guarded by mu
}

// A held entry counts the ids that are not settled.
type held struct {
	entry *lanes.Entry
	since time.Time
	left  int // guarded by hands.mu
}

// A ticket is one id of a held entry.
type ticket struct {
	id   tidings.DeliveryID
	from *held
}

// take takes entries in hand, as tickets.
func (h *hands) take(entries []*lanes.Entry, now time.Time) []ticket {
	h.mu.Lock()
	defer h.mu.Unlock()
	var tickets []ticket
	for _, e := range entries {
		from := &held{entry: e, since: now, left: len(e.IDs)}
		h.held[from] = struct{}{}
		for _, id := range e.IDs {
			tickets = append(tickets, ticket{id, from})
		}
	}
	return tickets
}

// settle counts ids of an entry as settled; the last one acknowledges it.
func (h *hands) settle(from *held, n int) {
	h.mu.Lock()
	from.left -= n
	_, known := h.held[from]
	over := known && from.left <= 0
	if over {
		delete(h.held, from)
	}
	h.mu.Unlock()
	if !over {
		return
	}
	if err := from.entry.Ack(); err != nil { // it comes again and finds nothing to do
		h.log.Debug("entry is not acknowledged", "lane", from.entry.Lane, "error", err)
	}
}

// letGo forgets the entries of tickets: they come again when their ack wait is over.
func (h *hands) letGo(batch []ticket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range batch {
		delete(h.held, t.from)
	}
}

// holds reports whether an entry is still in hand.
func (h *hands) holds(from *held) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.held[from]
	return ok
}

// beat tells the broker at every interval that the entries in hand are worked on, for as long as
// a lease: a worker that hangs for longer must not hide them.
func (h *hands) beat(ctx context.Context, every, lease time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for _, e := range h.alive(now, lease) {
				if err := e.Working(); err != nil {
					h.log.Debug("entry is not kept", "lane", e.Lane, "error", err)
				}
			}
		}
	}
}

// alive lists the entries that are held for less than a lease, and lets the others go.
func (h *hands) alive(now time.Time, lease time.Duration) []*lanes.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	var entries []*lanes.Entry
	for from := range h.held {
		if now.Sub(from.since) >= lease {
			delete(h.held, from)
			continue
		}
		entries = append(entries, from.entry)
	}
	return entries
}

// giveBack returns all entries in hand to their lane.
func (h *hands) giveBack() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for from := range h.held {
		if err := from.entry.Return(); err != nil {
			h.log.Debug("entry is not returned", "lane", from.entry.Lane, "error", err)
		}
	}
	clear(h.held)
}
