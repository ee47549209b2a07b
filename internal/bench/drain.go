package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// drain measures how many deliveries a second go from a full lane through claim, rendering, a
// provider that costs nothing, and the record of the attempt.
func drain(ctx context.Context, r *run) ([]Result, error) {
	provider := newNoop()
	s, err := r.startService(ctx, "drain", []string{"api", "worker"}, noopProvider(), provider.vendor())
	if err != nil {
		return nil, err
	}
	res, err := r.drain(ctx, s, provider)
	if err = errors.Join(err, s.stop(ctx)); err != nil {
		return nil, err
	}
	res.Bytes = s.grown(r.Rounds * r.Deliveries)
	return []Result{res}, nil
}

func (r *run) drain(ctx context.Context, s *service, provider *noop) (Result, error) {
	measured := series{Result: Result{Name: "drain", Item: "deliveries"}}
	forgetPeak()
	for n := range r.Rounds {
		if err := s.fill(ctx, r.Deliveries); err != nil {
			return Result{}, fmt.Errorf("fill the lane: %w", err)
		}
		from := used(0)
		provider.open()
		err := reach(ctx, int64((n+1)*r.Deliveries), func() (int64, error) { return provider.sends.Load(), nil })
		if err == nil {
			err = s.settled(ctx)
		}
		if err != nil {
			return Result{}, fmt.Errorf("drain the lane: %w", err)
		}
		measured.add(r.Deliveries, from, used(0))
		provider.shut()
	}
	res := measured.result(nil)
	res.IdleRSS, res.PeakRSS = s.idle, memory("VmHWM")
	return res, nil
}

// fill posts n events in batches.
func (s *service) fill(ctx context.Context, n int) error {
	size := min(batchSize, n)
	posting := load{address: s.address(), conns: 2, requests: s.batches(size, false), expect: http.StatusOK, next: &counter{}}
	posting.limit = &counter{n: -n}
	_, err := posting.run(ctx, time.Minute)
	return err
}

// reach waits until value is at least want.
func reach(ctx context.Context, want int64, value func() (int64, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		got, err := value()
		if err != nil || got >= want {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d after a minute: %w", got, want, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}
