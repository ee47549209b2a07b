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

// The connections of a load.
const (
	singleConns = 64
	batchConns  = 8
)

// accept measures how many events a second are durable, posted alone and in batches, beside a
// handler that does nothing: all over HTTP, the load in the same process. No worker runs.
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
	for n := range results[1:] {
		results[n+1].Bytes = s.grown(accepted)
	}
	return results, nil
}

// A contest is one of the measurements that take turns.
type contest struct {
	series
	load
}

func (r *run) accept(ctx context.Context, s *service, baseline string) (results []Result, accepted int, err error) {
	keys := &counter{}
	contests := []*contest{
		{series{Result: Result{Name: "accept.nothing", Item: "requests"}}, load{address: baseline, conns: singleConns, requests: s.singles(), expect: http.StatusAccepted, next: keys}},
		{series{Result: Result{Name: "accept.single", Item: "events"}}, load{address: s.address(), conns: singleConns, requests: s.singles(), expect: http.StatusAccepted, next: keys}},
		{series{Result: Result{Name: "accept.batch", Item: "events"}}, load{address: s.address(), conns: batchConns, requests: s.batches(batchSize, false), expect: http.StatusOK, next: keys}},
		{series{Result: Result{Name: "accept.batch.keyed", Item: "events"}}, load{address: s.address(), conns: batchConns, requests: s.batches(batchSize, true), expect: http.StatusOK, next: keys}},
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
	nothing := contests[0].result(nil)
	results = []Result{nothing}
	for _, c := range contests[1:] {
		res := c.result(&nothing)
		res.IdleRSS, res.PeakRSS = s.idle, memory("VmHWM")
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
