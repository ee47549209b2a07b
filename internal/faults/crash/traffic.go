package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"tidings"
	"tidings/api/client"
	"tidings/api/wire"
	"tidings/internal/faults"
	"tidings/internal/faults/fleet"
)

const (
	callers    = 8
	againAfter = 50 * time.Millisecond // a caller posts again what got no answer
	patience   = 60 * time.Second      // after that it gives up
)

// traffic is the apps that post, and the people who change their minds. Callers post again, under
// the same key, whatever was not answered: that is what keys are for.
type traffic struct {
	services []*fleet.Service
	rate     int
	seed     uint64
	next     atomic.Int64 // number of the next event
	turn     atomic.Int64 // which service is asked next

	mu    sync.Mutex
	told  []faults.Post // guarded by mu
	mute  int           // events without an answer; guarded by mu
	stops []faults.Stop // guarded by mu
	tries int           // requests that were answered with 503 or not at all; guarded by mu
}

func newTraffic(services []*fleet.Service, seed uint64, rate int) *traffic {
	return &traffic{services: services, rate: rate, seed: seed}
}

// run posts until posting ends; calls live as long as ctx.
func (t *traffic) run(posting, ctx context.Context) error {
	failed := make([]error, callers)
	var wait sync.WaitGroup
	for n := range callers {
		random := rand.New(rand.NewPCG(t.seed, uint64(100+n)))
		wait.Go(func() { failed[n] = t.caller(posting, ctx, random) })
	}
	wait.Wait()
	return errors.Join(failed...)
}

func (t *traffic) caller(posting, ctx context.Context, random *rand.Rand) error {
	tick := time.NewTicker(time.Second * callers / time.Duration(t.rate))
	defer tick.Stop()
	for {
		select {
		case <-posting.Done():
			return nil
		case <-tick.C:
		}
		if err := t.event(ctx, random); err != nil {
			return err
		}
	}
}

// event posts one event; now and then its caller or its user then thinks otherwise.
func (t *traffic) event(ctx context.Context, random *rand.Rand) error {
	e := newEvent(int(t.next.Add(1)), random)
	id, err := t.post(ctx, e)
	if err != nil || id.IsZero() {
		return err
	}
	switch chance := random.Float64(); {
	case chance < 0.03:
		return t.cancel(ctx, id)
	case chance < 0.05:
		return t.optOut(ctx, e)
	}
	return nil
}

// post posts an event until it is answered; the id is zero when its caller gave up.
func (t *traffic) post(ctx context.Context, e event) (tidings.NotificationID, error) {
	var posted wire.Posted
	answered, err := t.insist(ctx, http.MethodPost, "/v1/events", e, &posted)
	if err != nil {
		return tidings.NotificationID{}, err
	}
	t.note(e, posted.ID, answered)
	return posted.ID, nil
}

// burst posts n comments for one digest at once, each by a caller of its own.
func (t *traffic) burst(ctx context.Context, n int) error {
	failed := make([]error, n)
	var wait sync.WaitGroup
	for i := range failed {
		wait.Go(func() {
			_, failed[i] = t.post(ctx, newComment(int(t.next.Add(1)), userID(wellRead), readPost))
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

func (t *traffic) note(e event, id tidings.NotificationID, answered bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if answered {
		t.told = append(t.told, faults.Post{Key: e.DedupeKey, ID: id, Mark: e.Mark})
		return
	}
	t.mute++
}

// cancel calls off what may be still to come; the trail says since when.
func (t *traffic) cancel(ctx context.Context, id tidings.NotificationID) error {
	_, err := t.insist(ctx, http.MethodPost, "/v1/notifications/"+id.String()+"/cancel", nil, nil)
	if e := (*client.Error)(nil); errors.As(err, &e) && e.Status == http.StatusConflict {
		return nil // there was nothing left to cancel
	}
	return err
}

// optOut ends one category for the person of an event, for good.
func (t *traffic) optOut(ctx context.Context, e event) error {
	category := "offers"
	if e.Type == commentType && e.User != userID(wellRead) {
		category = "social"
	}
	patch := map[string]any{"categories": map[string]bool{category: false}}
	answered, err := t.insist(ctx, http.MethodPatch, "/v1/users/"+e.User+"/preferences", patch, nil)
	if err != nil || !answered {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stops = append(t.stops, faults.Stop{At: time.Now(), User: e.User, Category: category})
	return nil
}

// insist repeats a request until it is answered; answered is false when its caller gave up. Any
// answer but success and "not now" is an error: a caller would not expect it.
func (t *traffic) insist(ctx context.Context, method, path string, in, out any) (answered bool, err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		s := t.services[int(t.turn.Add(1))%len(t.services)]
		err := s.Client.Do(ctx, method, path, in, out)
		refused := (*client.Error)(nil)
		switch {
		case err == nil:
			return true, nil
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.As(err, &refused) && refused.Status != http.StatusServiceUnavailable:
			return false, fmt.Errorf("%s %s: %w", method, path, err)
		}
		t.mu.Lock()
		t.tries++
		t.mu.Unlock()
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
		}
	}
	return false, nil
}

// posts are the events that were answered.
func (t *traffic) posts() []faults.Post {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]faults.Post(nil), t.told...)
}

func (t *traffic) unanswered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mute
}

// repeated is how many requests were refused for now, or not answered.
func (t *traffic) repeated() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tries
}

func (t *traffic) stopped() []faults.Stop {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]faults.Stop(nil), t.stops...)
}
