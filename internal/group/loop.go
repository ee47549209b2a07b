package group

import (
	"fmt"
	"time"
)

// run flushes until the group is closed and nothing waits any more.
func (g *Group[T, R]) run() {
	defer close(g.done)
	var b batch[T, R]
	for {
		if !g.first(&b) {
			return
		}
		g.fill(&b)
		g.settle(&b)
	}
}

// A batch is the flush being collected, and what is remembered of the last one.
type batch[T, R any] struct {
	submissions []*submission[T, R]
	count       int               // items in submissions
	carried     *submission[T, R] // did not fit, so it opens the next flush
	expected    int               // items of the last flush, whose callers may come back, and of those who came meanwhile
	ended       time.Time         // when the last flush ended
}

func (b *batch[T, R]) add(s *submission[T, R]) {
	b.submissions = append(b.submissions, s)
	b.count += len(s.items)
}

// first waits for the submission that opens a flush; false: the group is closed and drained.
func (g *Group[T, R]) first(b *batch[T, R]) bool {
	if b.carried != nil {
		b.add(b.carried)
		b.carried = nil
		return true
	}
	select {
	case s := <-g.queue:
		b.add(s)
		return true
	case <-g.closing:
	}
	select {
	case s := <-g.queue:
		b.add(s)
		return true
	default:
		return false
	}
}

// fill adds what waits already and, while the group is busy, what comes within Config.Wait, until
// as many are there as are expected.
func (g *Group[T, R]) fill(b *batch[T, R]) {
	if !g.take(b) || b.count >= b.expected || time.Since(b.ended) >= g.config.Wait {
		return
	}
	timer := time.NewTimer(g.config.Wait)
	defer timer.Stop()
	for b.count < b.expected {
		select {
		case s := <-g.queue:
			if !g.fits(b, s) {
				return
			}
		case <-timer.C:
			return
		case <-g.closing:
			return
		}
	}
	g.take(b)
}

// take adds what waits already; false: the flush is full.
func (g *Group[T, R]) take(b *batch[T, R]) bool {
	for b.count < g.config.Max {
		select {
		case s := <-g.queue:
			if !g.fits(b, s) {
				return false
			}
		default:
			return true
		}
	}
	return false
}

// fits adds s, or carries it over to the next flush.
func (g *Group[T, R]) fits(b *batch[T, R], s *submission[T, R]) bool {
	if b.count+len(s.items) > g.config.Max {
		b.carried = s
		return false
	}
	b.add(s)
	return true
}

// settle flushes the batch and answers its callers.
func (g *Group[T, R]) settle(b *batch[T, R]) {
	items := make([]T, 0, b.count)
	for _, s := range b.submissions {
		items = append(items, s.items...)
	}
	results, err := g.flush(items)
	if err == nil && len(results) != len(items) {
		err = fmt.Errorf("flush gave %d results for %d items", len(results), len(items))
	}
	b.expected, b.ended = min(b.count+len(g.queue), g.config.Max), time.Now()
	for _, s := range b.submissions {
		a := answer[R]{err: err}
		if err == nil {
			a.results, results = results[:len(s.items):len(s.items)], results[len(s.items):]
		}
		s.answer <- a
	}
	clear(b.submissions)
	b.submissions, b.count = b.submissions[:0], 0
}
