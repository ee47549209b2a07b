package store

import (
	"context"
	"fmt"
	"time"

	"tidings"
)

// Waiting is what waits for one lane.
type Waiting struct {
	Queued int            // in the lane
	Due    int            // parked and due
	Turn   int            // parked until its turn at a provider, never tried and not late
	Late   int            // parked since fresh work goes first
	Came   int            // accepted since the instant asked for, whatever became of it
	Apps   map[string]int // what is queued, due or waits for its turn, by app; nil where it was not asked for
}

// Waiting counts what waits for each lane and, since an instant unless it is zero, what came; for
// the lanes named apart also by app. A lane without any is absent. What waits for another try is
// not looked at, so that a million of those cost nothing.
func (s *Store) Waiting(ctx context.Context, now, since time.Time, apart []tidings.Lane) (map[tidings.Lane]Waiting, error) {
	var out map[tidings.Lane]Waiting
	err := s.read(ctx, func(t *tx) (err error) {
		out, err = t.waiting(now, since, apart)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count what waits: %w", err)
	}
	return out, nil
}

func (t *tx) waiting(now, since time.Time, apart []tidings.Lane) (map[tidings.Lane]Waiting, error) {
	out := map[tidings.Lane]Waiting{}
	err := t.query("waiting", []any{now.UnixMicro()}, func(r row) error {
		var lane tidings.Lane
		var status string
		var n int
		if err := r.Scan(&lane, &status, &n); err != nil {
			return err
		}
		w := out[lane]
		switch status {
		case string(tidings.Queued):
			w.Queued = n
		case string(tidings.Parked):
			w.Due = n
		case "turn":
			w.Turn = n
		default:
			w.Late += n
		}
		out[lane] = w
		return nil
	})
	if err == nil && !since.IsZero() {
		err = t.came(since, out)
	}
	if err != nil {
		return nil, err
	}
	for _, lane := range apart {
		w := out[lane]
		w.Apps = map[string]int{}
		out[lane] = w
	}
	return out, t.each("waiting_apps", len(apart), func(i int) []any { return []any{string(apart[i]), now.UnixMicro()} }, func(i int, r row) error {
		var app string
		var n int
		err := r.Scan(&app, &n)
		out[apart[i]].Apps[app] += n
		return err
	})
}

func (t *tx) came(since time.Time, out map[tidings.Lane]Waiting) error {
	first := firstID(since)
	return t.query("waiting_came", []any{first[:]}, func(r row) error {
		var lane tidings.Lane
		var n int
		err := r.Scan(&lane, &n)
		w := out[lane]
		w.Came = n
		out[lane] = w
		return err
	})
}
