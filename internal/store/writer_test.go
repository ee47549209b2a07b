package store

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// A queue holds the writer back with a job of its own while jobs of other callers gather.
type queue struct {
	*testing.T
	s       *Store
	release chan struct{}
	wg      sync.WaitGroup

	mu    sync.Mutex
	order []Class // in which the jobs ran; guarded by mu
}

func holdBack(t *testing.T) *queue {
	q := &queue{T: t, s: openSQLiteStore(t), release: make(chan struct{})}
	running := make(chan struct{})
	q.wg.Go(func() {
		_ = q.s.write(context.Background(), Background, func(*tx) error { close(running); <-q.release; return nil })
	})
	<-running
	return q
}

// add queues n jobs of a class and waits until they are in the queue.
func (q *queue) add(c Class, n int) {
	w := q.s.engine.(*sqliteEngine).writer
	waiting := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.queues[c])
	}
	want := waiting() + n
	for range n {
		q.wg.Go(func() {
			err := q.s.write(context.Background(), c, func(*tx) error {
				q.mu.Lock()
				defer q.mu.Unlock()
				q.order = append(q.order, c)
				return nil
			})
			if err != nil {
				q.Error(err)
			}
		})
	}
	for waiting() < want {
	}
}

func (q *queue) run() []Class {
	close(q.release)
	q.wg.Wait()
	return q.order
}

func TestUrgentWritesOvertakeTheOthers(t *testing.T) {
	q := holdBack(t)
	q.add(Background, 2)
	q.add(Normal, 2)
	q.add(Urgent, 3)
	if got := q.run(); !slices.Equal(got, []Class{Urgent, Urgent, Urgent, Normal, Normal, Background, Background}) {
		t.Fatalf("ran in the order %v", got)
	}
}

func TestTheLowestClassKeepsAFloor(t *testing.T) {
	q := holdBack(t)
	w := q.s.engine.(*sqliteEngine).writer
	w.mu.Lock()
	w.turn = floorEvery - 1 // the next transaction is the floor's
	w.mu.Unlock()
	q.add(Background, 1)
	q.add(Urgent, 2)
	if got := q.run(); !slices.Equal(got, []Class{Background, Urgent, Urgent}) {
		t.Fatalf("ran in the order %v", got)
	}
}
