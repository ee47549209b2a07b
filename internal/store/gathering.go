package store

import (
	"context"
	"fmt"
	"time"
)

// A Gathering names the digests that gather the events of a type for a user.
type Gathering struct {
	App  string
	Test bool
	User string
	Type string
}

// An OpenDigest gathers events.
type OpenDigest struct {
	row    string // its key, as stored
	size   int
	closes time.Time
}

// Gathered are the open digests of each gathering.
func (s *Store) Gathered(ctx context.Context, of []Gathering) (map[Gathering][]OpenDigest, error) {
	open := map[Gathering][]OpenDigest{}
	err := s.read(ctx, func(t *tx) error {
		clear(open)
		return t.each("digests_gathering", len(of), func(i int) []any {
			g := &of[i]
			return []any{g.User, g.App, flag(g.Test), g.Type}
		}, func(i int, r row) error {
			var d OpenDigest
			err := r.Scan(&d.row, &d.size, instant{&d.closes})
			open[of[i]] = append(open[of[i]], d)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read open digests: %w", err)
	}
	return open, nil
}

// Closes is when the digest closes that would be joined, of some that are open; zero: it would be a
// new one. One that the join makes full closes now.
func (j *Join) Closes(open []OpenDigest) time.Time {
	for _, d := range open {
		switch {
		case d.row != j.row() || d.closes.Before(j.Now):
		case d.size+1 >= j.Max:
			return j.Now
		default:
			return d.closes
		}
	}
	return time.Time{}
}
