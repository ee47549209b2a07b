package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"tidings/channels/all"
)

// blast measures how many pushes a second reach a simulated APNs in another process, from the
// post of their events to the record of the last one, in turns with a loop that does nothing
// but push to the same simulator with the stock client.
func blast(ctx context.Context, r *run) ([]Result, error) {
	sim, err := r.startSimulator(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.startService(ctx, "blast", []string{"api", "worker"}, sim.provider, all.Vendors())
	if err != nil {
		return nil, errors.Join(err, sim.stop())
	}
	raw, through, err := r.blast(ctx, s, sim)
	if err = errors.Join(err, s.stop(ctx), sim.stop()); err != nil {
		return nil, err
	}
	through.Bytes = s.grown(r.Rounds * r.Deliveries)
	return []Result{raw, through}, nil
}

func (r *run) blast(ctx context.Context, s *service, sim *simulated) (raw, through Result, err error) {
	bare := series{Result: Result{Name: "blast.raw", Item: "pushes"}}
	whole := series{Result: Result{Name: "blast", Item: "deliveries"}}
	loop, err := newRawLoop(sim.provider)
	if err != nil {
		return raw, through, err
	}
	defer loop.close()
	forgetPeak()
	for range r.Rounds {
		from := used(sim.pid())
		if err := loop.push(ctx, r.Deliveries); err != nil {
			return raw, through, fmt.Errorf("push directly: %w", err)
		}
		bare.add(r.Deliveries, from, used(sim.pid()))

		before, err := accepts(ctx, sim.control)
		if err != nil {
			return raw, through, err
		}
		from = used(sim.pid())
		if err := r.pushThrough(ctx, s, sim, before+r.Deliveries); err != nil {
			return raw, through, fmt.Errorf("push through the service: %w", err)
		}
		whole.add(r.Deliveries, from, used(sim.pid()))
	}
	raw = bare.result(nil)
	through = whole.result(&raw)
	through.IdleRSS, through.PeakRSS = s.idle, memory("VmHWM")
	return raw, through, nil
}

// pushThrough posts the events of one round and waits until the simulator has accepted the
// last of them and the service has recorded it.
func (r *run) pushThrough(ctx context.Context, s *service, sim *simulated, until int) error {
	posting := load{
		address: s.address(), conns: 2, requests: s.batches(min(batchSize, r.Deliveries), true), expect: http.StatusOK,
		next: &counter{n: until}, limit: &counter{n: -r.Deliveries},
	}
	if _, err := posting.run(ctx, time.Minute); err != nil {
		return err
	}
	err := reach(ctx, int64(until), func() (int64, error) {
		n, err := accepts(ctx, sim.control)
		return int64(n), err
	})
	if err != nil {
		return err
	}
	return s.settled(ctx)
}
