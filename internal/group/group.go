// Package group lets many callers share one commit: what they submit is collected and flushed
// together by a single loop.
//
// It promises that items are flushed in the order of their arrival, one flush at a time, and that
// every caller is answered. A caller that stops waiting never stops a flush. It must never know
// what is flushed.
package group

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrClosed says that the item came after Close and was not flushed.
var ErrClosed = errors.New("group is closed")

// Config bounds a Group.
type Config struct {
	Max   int           // items of one flush, at least 1
	Wait  time.Duration // longest time that the first item of a flush waits for others, while the group is busy
	Queue int           // submissions that may wait for their flush; further callers block
}

// A Group collects items of type T and flushes them together, each giving an R. It is safe for
// concurrent use.
//
// An item that finds the group idle is flushed at once; what arrives during a flush makes up the
// next. Only while the group is busy does a flush wait, until as many have come as the last time
// and since, or Config.Wait is over: so callers in step share each commit, and a lone caller never waits.
type Group[T, R any] struct {
	config  Config
	flush   func([]T) ([]R, error)
	queue   chan *submission[T, R]
	closing chan struct{} // closed by Close, once
	done    chan struct{} // closed by the loop when all is flushed
	once    sync.Once
}

// A submission is up to Config.Max items of one caller.
type submission[T, R any] struct {
	items  []T
	answer chan answer[R] // holds one, so that the loop never waits for a caller
}

type answer[R any] struct {
	results []R
	err     error
}

// New starts a Group; Close ends it. flush gets at most c.Max items, must not keep the slice, and
// gives one result an item, in order, or an error for all of them.
func New[T, R any](c Config, flush func(items []T) ([]R, error)) *Group[T, R] {
	g := &Group[T, R]{
		config:  c,
		flush:   flush,
		queue:   make(chan *submission[T, R], c.Queue),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go g.run()
	return g
}

// Waiting is how many submissions wait for their flush.
func (g *Group[T, R]) Waiting() int { return len(g.queue) }

// Do submits one item and waits for its flush. When ctx ends first the item may still be flushed;
// after ErrClosed it is not.
func (g *Group[T, R]) Do(ctx context.Context, item T) (R, error) {
	results, err := g.DoAll(ctx, []T{item})
	if err != nil {
		var none R
		return none, err
	}
	return results[0], nil
}

// DoAll submits items and waits for them; more than Config.Max are flushed in several groups. An
// error means that some of them may not be flushed.
func (g *Group[T, R]) DoAll(ctx context.Context, items []T) ([]R, error) {
	var waiting []*submission[T, R]
	for rest := items; len(rest) > 0; {
		n := min(len(rest), g.config.Max)
		s := &submission[T, R]{items: rest[:n:n], answer: make(chan answer[R], 1)}
		if err := g.submit(ctx, s); err != nil {
			return nil, err
		}
		waiting, rest = append(waiting, s), rest[n:]
	}
	if len(waiting) == 1 {
		return g.wait(ctx, waiting[0])
	}
	results := make([]R, 0, len(items))
	for _, s := range waiting {
		r, err := g.wait(ctx, s)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// Close refuses further items, flushes those that wait and returns when all are answered.
func (g *Group[T, R]) Close() {
	g.once.Do(func() { close(g.closing) })
	<-g.done
}

func (g *Group[T, R]) submit(ctx context.Context, s *submission[T, R]) error {
	select {
	case <-g.closing:
		return ErrClosed
	default:
	}
	select {
	case g.queue <- s:
		return nil
	case <-g.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *Group[T, R]) wait(ctx context.Context, s *submission[T, R]) ([]R, error) {
	select {
	case a := <-s.answer:
		return a.results, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-g.done:
	}
	// The loop answers before it ends; what it did not answer came too late for it.
	select {
	case a := <-s.answer:
		return a.results, a.err
	default:
		return nil, ErrClosed
	}
}
