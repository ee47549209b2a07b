package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxSpan is how long a transaction takes further jobs along before it commits.
	maxSpan = 3 * time.Millisecond
	// maxWaiting is how many jobs of one class may wait for the writer.
	maxWaiting = 10_000
	// floorEvery is how often the lowest class goes first, counted in transactions.
	floorEvery = 8
	// maxBusy is how long the writer waits for another process before it gives up.
	maxBusy = 30 * time.Second
)

// A writer is the one goroutine that writes a SQLite file. Jobs wait in a queue for each class;
// those that fit share a transaction and are answered together after its commit.
type writer struct {
	session *session
	wake    chan struct{} // holds one token when there is something to look at
	done    chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex
	queues [Background + 1][]*job // guarded by mu
	closed bool                   // guarded by mu
	turn   int                    // transactions begun; guarded by mu
}

// A job is one verb that waits for, or runs in, the writer's transaction.
type job struct {
	fn    func(t *tx) error
	taken atomic.Bool // by the writer, or by the caller who gave up: the first one wins
	done  chan error  // has room for the one answer
}

func startWriter(s *session) *writer {
	w := &writer{session: s, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run()
	return w
}

// do queues fn and waits until the transaction that it ran in has committed. When ctx ends while
// fn still waits, nothing of it is written; once it runs, its end is awaited.
func (w *writer) do(ctx context.Context, c Class, fn func(t *tx) error) error {
	j := &job{fn: fn, done: make(chan error, 1)}
	if err := w.enqueue(c, j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("wait for the writer: %w", ctx.Err())
		}
		return <-j.done
	}
}

func (w *writer) enqueue(c Class, j *job) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return fmt.Errorf("%w: it is closed", ErrUnavailable)
	case len(w.queues[c]) >= maxWaiting:
		return fmt.Errorf("%w: too many writes wait", ErrUnavailable)
	}
	w.queues[c] = append(w.queues[c], j)
	w.poke()
	return nil
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets the jobs that wait run, then ends the writer.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.poke()
	w.mu.Unlock()
	<-w.done
}

func (w *writer) run() {
	defer close(w.done)
	for {
		j, c, closed := w.first()
		switch {
		case j != nil:
			w.transaction(j, c)
		case closed:
			return
		default:
			<-w.wake
		}
	}
}

// first takes the job that the next transaction begins with.
func (w *writer) first() (j *job, c Class, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	order := [...]Class{Urgent, Normal, Background}
	if w.turn%floorEvery == floorEvery-1 {
		order = [...]Class{Background, Urgent, Normal}
	}
	for _, c := range order {
		if j := w.pop(c); j != nil {
			w.turn++
			return j, c, w.closed
		}
	}
	return nil, 0, w.closed
}

// next takes a job along in a transaction of class c: urgent ones only beside urgent ones,
// and none while an urgent one waits for a transaction of its own.
func (w *writer) next(c Class) *job {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c == Urgent {
		return w.pop(Urgent)
	}
	if len(w.queues[Urgent]) > 0 {
		return nil
	}
	if j := w.pop(Normal); j != nil {
		return j
	}
	return w.pop(Background)
}

// pop takes the oldest job of a class whose caller still waits; mu is held.
func (w *writer) pop(c Class) *job {
	for len(w.queues[c]) > 0 {
		j := w.queues[c][0]
		w.queues[c][0] = nil
		w.queues[c] = w.queues[c][1:]
		if j.taken.CompareAndSwap(false, true) {
			return j
		}
	}
	return nil
}

// transaction runs the first job and those that fit beside it, commits, and answers all. The
// first needs no savepoint: when it fails, it is still alone.
func (w *writer) transaction(first *job, c Class) {
	ctx, begun := context.Background(), time.Now()
	if err := begin(ctx, w.session); err != nil {
		first.done <- w.session.dialect.explain(err)
		return
	}
	t := &tx{session: w.session, ctx: ctx}
	if err := first.run(t); err != nil {
		_ = w.session.control(ctx, "ROLLBACK") // fails when SQLite has rolled back already
		first.done <- w.session.dialect.explain(err)
		return
	}
	ran, broken := []*job{first}, error(nil)
	for broken == nil && time.Since(begun) < maxSpan {
		j := w.next(c)
		if j == nil {
			break
		}
		var err error
		if err, broken = w.beside(t, j); err != nil {
			j.done <- w.session.dialect.explain(err)
			continue
		}
		ran = append(ran, j)
	}
	w.commit(ctx, ran, broken)
}

// beside runs a job in a savepoint, so that it fails alone. broken is set when the transaction
// as a whole is lost.
func (w *writer) beside(t *tx, j *job) (err, broken error) {
	if err := w.session.control(t.ctx, "SAVEPOINT job"); err != nil {
		return err, err
	}
	if err = j.run(t); err != nil {
		if broken = w.session.control(t.ctx, "ROLLBACK TO job"); broken != nil {
			return err, fmt.Errorf("%w: the transaction was lost: %w", ErrUnavailable, err)
		}
	}
	if e := w.session.control(t.ctx, "RELEASE job"); e != nil {
		return e, e
	}
	return err, nil
}

func (w *writer) commit(ctx context.Context, ran []*job, err error) {
	if err == nil {
		err = w.session.control(ctx, "COMMIT")
	}
	if err != nil {
		_ = w.session.control(ctx, "ROLLBACK")
		err = w.session.dialect.explain(err)
	}
	for _, j := range ran {
		j.done <- err
	}
}

// run runs the job; the writer outlives its panic.
func (j *job) run(t *tx) error { return unharmed(t, j.fn) }

// begin opens a write transaction, waiting for other processes as long as maxBusy.
func begin(ctx context.Context, s *session) error {
	for start := time.Now(); ; time.Sleep(busyPause) { // it may be refused at once, and again
		err := s.control(ctx, "BEGIN IMMEDIATE")
		if err == nil || s.dialect.class(err) != retryError || time.Since(start) > maxBusy {
			return err
		}
	}
}
