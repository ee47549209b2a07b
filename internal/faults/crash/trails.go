package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/faults"
)

// pageSize is how many notifications the list is asked for at once.
const pageSize = 200

// open are those of some notifications that have not come to an end.
func (t *traffic) open(ctx context.Context, ids []tidings.NotificationID) (open []tidings.NotificationID, err error) {
	trails, err := t.read(ctx, ids)
	for i := range trails {
		if !ended(&trails[i]) {
			open = append(open, ids[i])
		}
	}
	return open, err
}

func ended(t *wire.Trail) bool {
	return !slices.ContainsFunc(t.Deliveries, func(d wire.Delivery) bool { return !d.Final }) &&
		!slices.ContainsFunc(t.Holds, func(h wire.Hold) bool { return h.State == tidings.HoldWaiting })
}

// get asks until it is answered.
func (t *traffic) get(ctx context.Context, path string, out any) error {
	answered, err := t.insist(ctx, http.MethodGet, path, nil, out)
	if err == nil && !answered {
		err = fmt.Errorf("GET %s: nobody answers", path)
	}
	return err
}

// read reads the trails of notifications, in their order.
func (t *traffic) read(ctx context.Context, ids []tidings.NotificationID) ([]wire.Trail, error) {
	trails, failed := make([]wire.Trail, len(ids)), make([]error, callers)
	var wait sync.WaitGroup
	for first := range callers {
		wait.Go(func() {
			for n := first; n < len(ids) && failed[first] == nil; n += callers {
				failed[first] = t.get(ctx, "/v1/notifications/"+ids[n].String(), &trails[n])
			}
		})
	}
	wait.Wait()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return trails, nil
}

// list is every notification there is.
func (t *traffic) list(ctx context.Context) (ids []tidings.NotificationID, err error) {
	cursor := ""
	for {
		var page wire.Page
		if err := t.get(ctx, fmt.Sprintf("/v1/notifications?limit=%d%s", pageSize, cursor), &page); err != nil {
			return nil, err
		}
		for _, n := range page.Data {
			ids = append(ids, n.ID)
		}
		if page.NextCursor == nil {
			return ids, nil
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// lookEvery is the pause between two looks of the witness.
const lookEvery = 40 * time.Millisecond

// A witness looks at trails while the run goes on.
type witness struct {
	traffic *traffic
	seen    []faults.Sighting
}

// watch looks at one recent notification after the other until ctx ends; what cannot be seen now is
// passed over.
func (w *witness) watch(ctx context.Context, random *rand.Rand) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		posts := w.traffic.posts()
		if len(posts) == 0 {
			continue
		}
		recent := posts[max(0, len(posts)-500):]
		w.look(ctx, recent[random.IntN(len(recent))].ID)
	}
}

func (w *witness) look(ctx context.Context, id tidings.NotificationID) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	s := w.traffic.services[int(w.traffic.turn.Add(1))%len(w.traffic.services)]
	var trail wire.Trail
	at := time.Now()
	if s.Client.Do(ctx, http.MethodGet, "/v1/notifications/"+id.String(), nil, &trail) != nil {
		return
	}
	for _, d := range trail.Deliveries {
		w.seen = append(w.seen, faults.Sighting{At: at, Delivery: d})
	}
	if !trail.Digest.IsZero() {
		w.look(ctx, trail.Digest)
	}
}

// sightings is what was seen, once watch has ended.
func (w *witness) sightings() []faults.Sighting { return w.seen }
