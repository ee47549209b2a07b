package simulator

import (
	"context"
	"sync"
	"time"
)

// hooksTimeout bounds one call of the service's hooks.
const hooksTimeout = 10 * time.Second

// A scheduler runs receipts later. Those whose time has not come when it stops are dropped.
type scheduler struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (s *scheduler) start() { s.ctx, s.cancel = context.WithCancel(context.Background()) }

// after runs f once the delay is over, unless the scheduler stops first; ctx ends when it does.
func (s *scheduler) after(delay time.Duration, f func(ctx context.Context)) {
	s.running.Go(func() {
		if wait(s.ctx, delay) {
			f(s.ctx)
		}
	})
}

func (s *scheduler) stop() {
	s.cancel()
	s.running.Wait()
}

// wait reports whether the span passed before ctx ended.
func wait(ctx context.Context, span time.Duration) bool {
	if span <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
