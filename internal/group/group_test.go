package group_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings/internal/group"
)

// A recorder is a flush that takes a while and remembers what it was given.
type recorder struct {
	takes   time.Duration
	err     error
	flushes [][]int // written by the group's loop alone; read after Close
}

func (r *recorder) flush(items []int) ([]int, error) {
	time.Sleep(r.takes)
	r.flushes = append(r.flushes, slices.Clone(items))
	doubled := make([]int, len(items))
	for i, n := range items {
		doubled[i] = 2 * n
	}
	return doubled, r.err
}

func (r *recorder) sizes() []int {
	var sizes []int
	for _, f := range r.flushes {
		sizes = append(sizes, len(f))
	}
	return sizes
}

func start(r *recorder, max, queue int) *group.Group[int, int] {
	return group.New(group.Config{Max: max, Wait: 2 * time.Millisecond, Queue: queue}, r.flush)
}

func TestLoneCallerIsFlushedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Millisecond}
		g := start(r, 500, 10)
		began := time.Now()
		for i := range 10 {
			if got, err := g.Do(t.Context(), i); err != nil || got != 2*i {
				t.Fatalf("Do(%d) = %d, %v; want %d", i, got, err, 2*i)
			}
		}
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("10 posts one after another took %v, want only their flushes: 10ms", took)
		}
		g.Close()
	})
}

func TestItemsThatArriveDuringAFlushShareTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: 10 * time.Millisecond}
		g := start(r, 500, 100)
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Microsecond)
				if got, err := g.Do(t.Context(), i); err != nil || got != 2*i {
					t.Errorf("Do(%d) = %d, %v; want %d", i, got, err, 2*i)
				}
			})
		}
		callers.Wait()
		g.Close()
		if want := []int{1, 49}; !slices.Equal(r.sizes(), want) {
			t.Errorf("flushes of %v items, want %v", r.sizes(), want)
		}
		if !slices.IsSorted(r.flushes[1]) {
			t.Errorf("flushed %v, want the order of arrival", r.flushes[1])
		}
	})
}

func TestCallersInStepShareEachFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: 3 * time.Millisecond}
		g := start(r, 500, 100)
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() {
				for range 10 {
					_, _ = g.Do(t.Context(), i)
					time.Sleep(time.Duration(i) * 50 * time.Microsecond) // they come back one after another
				}
			})
		}
		callers.Wait()
		g.Close()
		// Without waiting, the first to come back is flushed alone each time: 20 flushes.
		if n := len(r.flushes); n > 16 {
			t.Errorf("80 items of 8 callers in step took %d flushes (%v), want at most 16", n, r.sizes())
		}
	})
}

func TestFlushWaitsNoLongerThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: 5 * time.Millisecond}
		g := start(r, 500, 100)
		var callers sync.WaitGroup
		for i := range 4 { // a flush of one, then one of three
			callers.Go(func() { _, _ = g.Do(t.Context(), i) })
			synctest.Wait()
		}
		callers.Wait()
		began := time.Now()
		_, _ = g.Do(t.Context(), 4) // the others do not come back
		if took := time.Since(began); took != 7*time.Millisecond {
			t.Errorf("took %v, want 2ms of waiting for three and 5ms of flush", took)
		}
		g.Close()
	})
}

func TestFlushNeverExceedsItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Millisecond}
		g := start(r, 5, 2)
		var callers sync.WaitGroup
		for i := range 6 {
			callers.Go(func() {
				items := slices.Repeat([]int{i}, 4) // two of them do not fit one flush
				got, err := g.DoAll(t.Context(), items)
				if want := slices.Repeat([]int{2 * i}, 4); err != nil || !slices.Equal(got, want) {
					t.Errorf("DoAll = %v, %v; want %v", got, err, want)
				}
			})
		}
		callers.Wait()
		g.Close()
		if want := slices.Repeat([]int{4}, 6); !slices.Equal(r.sizes(), want) {
			t.Errorf("flushes of %v items, want %v: never a caller's items in two flushes while they fit one", r.sizes(), want)
		}
	})
}

func TestSliceLargerThanAFlushIsAnsweredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		g := start(r, 3, 1)
		got, err := g.DoAll(t.Context(), []int{1, 2, 3, 4, 5, 6, 7})
		if want := []int{2, 4, 6, 8, 10, 12, 14}; err != nil || !slices.Equal(got, want) {
			t.Errorf("DoAll = %v, %v; want %v", got, err, want)
		}
		if got, err := g.DoAll(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("DoAll of nothing = %v, %v; want nothing", got, err)
		}
		g.Close()
	})
}

func TestFailedFlushFailsItsCallersAndNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("disk is full")
		r := &recorder{takes: time.Millisecond, err: broken}
		g := start(r, 500, 10)
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() {
				if _, err := g.Do(t.Context(), i); !errors.Is(err, broken) {
					t.Errorf("Do = %v, want %v", err, broken)
				}
			})
		}
		callers.Wait()
		synctest.Wait()
		r.err = nil
		if _, err := g.Do(t.Context(), 4); err != nil {
			t.Errorf("Do after the fault = %v, want no error", err)
		}
		g.Close()
	})
}

func TestFlushThatForgetsAnItemFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := group.New(group.Config{Max: 5, Queue: 1}, func([]int) ([]int, error) { return nil, nil })
		if _, err := g.Do(t.Context(), 1); err == nil {
			t.Error("Do of a flush without results gave no error")
		}
		g.Close()
	})
}

func TestCallerWhoGoesAwayDoesNotStopTheFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		g := start(r, 500, 10)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := g.Do(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do = %v, want the end of its context", err)
		}
		g.Close()
		if want := []int{1}; !slices.Equal(r.sizes(), want) {
			t.Errorf("flushes of %v items, want %v", r.sizes(), want)
		}
	})
}

func TestFullQueueHoldsCallersBackUntilTheirContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		g := start(r, 1, 1)
		var callers sync.WaitGroup
		for i := range 2 { // one in the flush, one in the queue
			callers.Go(func() { _, _ = g.Do(t.Context(), i) })
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := g.Do(ctx, 3); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Do on a full queue = %v, want the end of its context", err)
		}
		callers.Wait()
		g.Close()
		if want := []int{1, 1}; !slices.Equal(r.sizes(), want) {
			t.Errorf("flushes of %v items, want %v: the one that gave up was never submitted", r.sizes(), want)
		}
	})
}

func TestCloseFlushesWhatWaitsAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{takes: time.Second}
		g := start(r, 2, 10)
		var callers sync.WaitGroup
		for i := range 5 {
			callers.Go(func() {
				if _, err := g.Do(t.Context(), i); err != nil {
					t.Errorf("Do before Close = %v, want no error", err)
				}
			})
			synctest.Wait()
		}
		g.Close()
		callers.Wait()
		if want := []int{1, 2, 2}; !slices.Equal(r.sizes(), want) {
			t.Errorf("flushes of %v items, want %v", r.sizes(), want)
		}
		if _, err := g.Do(t.Context(), 9); !errors.Is(err, group.ErrClosed) {
			t.Errorf("Do after Close = %v, want ErrClosed", err)
		}
		g.Close() // closing again is nothing
	})
}

func TestEveryCallerIsAnsweredWhenCloseRaces(t *testing.T) {
	r := &recorder{}
	g := start(r, 4, 1)
	var callers sync.WaitGroup
	for i := range 200 {
		callers.Go(func() {
			if got, err := g.Do(t.Context(), i); err == nil && got != 2*i || err != nil && !errors.Is(err, group.ErrClosed) {
				t.Errorf("Do(%d) = %d, %v; want an answer or ErrClosed", i, got, err)
			}
		})
	}
	g.Close()
	callers.Wait()
}
