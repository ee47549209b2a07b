package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// The connections of a load. Single events share their commits: with few callers they wait for those,
// with many it shows what they cost.
const (
	fewConns   = 64
	manyConns  = 512
	batchConns = 8
)

// accept measures how many events a second are durable, posted alone and in batches, beside a
// handler that does nothing for as many callers: all over HTTP, the load in the same process. No
// worker runs.
func accept(ctx context.Context, r *run) ([]Result, error) {
	s, err := r.startService(ctx, "accept", []string{"api"}, noopProvider(), newNoop().vendor())
	if err != nil {
		return nil, err
	}
	baseline, stop, err := startNoopServer()
	if err != nil {
		return nil, errors.Join(err, s.stop(ctx))
	}
	results, accepted, err := r.accept(ctx, s, baseline)
	if err = errors.Join(err, s.stop(ctx), stop()); err != nil {
		return nil, err
	}
	for n := range results {
		if results[n].PeakRSS > 0 { // it was the service
			results[n].Bytes = s.grown(accepted)
		}
	}
	return results, nil
}

// A contest is one of the measurements that take turns.
type contest struct {
	series
	load
	beside int // the place of the contest that its rate is compared with
}

func (r *run) accept(ctx context.Context, s *service, baseline string) (results []Result, accepted int, err error) {
	keys := &counter{}
	singles := func(address string, conns int) load {
		return load{address: address, conns: conns, requests: s.singles(), expect: http.StatusAccepted, next: keys}
	}
	batches := func(keyed bool) load {
		return load{address: s.address(), conns: batchConns, requests: s.batches(batchSize, keyed), expect: http.StatusOK, next: keys}
	}
	contests := []*contest{
		{series{Result: Result{Name: "accept.nothing", Item: "requests"}}, singles(baseline, fewConns), 0},
		{series{Result: Result{Name: "accept.single", Item: "events"}}, singles(s.address(), fewConns), 0},
		{series{Result: Result{Name: "accept.nothing.many", Item: "requests"}}, singles(baseline, manyConns), 2},
		{series{Result: Result{Name: "accept.single.many", Item: "events"}}, singles(s.address(), manyConns), 2},
		{series{Result: Result{Name: "accept.batch", Item: "events"}}, batches(false), 0},
		{series{Result: Result{Name: "accept.batch.keyed", Item: "events"}}, batches(true), 0},
	}
	forgetPeak()
	for range r.Rounds {
		for _, c := range contests {
			n, err := c.turn(ctx, r.Span)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", c.Name, err)
			}
			if c.address == s.address() {
				accepted += n
			}
		}
	}
	for n, c := range contests {
		var res Result
		if c.beside == n {
			res = c.result(nil)
		} else {
			res = c.result(&results[c.beside])
		}
		if c.address == s.address() {
			res.IdleRSS, res.PeakRSS = s.idle, memory("VmHWM")
		}
		results = append(results, res)
	}
	return results, accepted, nil
}

// turn measures one round and says how many items it had.
func (c *contest) turn(ctx context.Context, span time.Duration) (int, error) {
	from := used(0)
	t, err := c.run(ctx, span)
	if err != nil {
		return 0, err
	}
	c.add(t.items, from, used(0))
	c.took = append(c.took, t.took...)
	return t.items, ctx.Err()
}

// startNoopServer serves a handler that reads the request and answers 202.
func startNoopServer() (address string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	return l.Addr().String(), func() error {
		err := server.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}
