package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tidings"
)

// acceptChunk is how many notifications one transaction takes, so that an urgent write never
// waits for long; a chunk takes a few milliseconds.
const acceptChunk = 128

// Accept writes a group of notifications, in transactions of at most 128. Each Accepted stands
// at its Acceptance's place, and its Err says that this one is not known to be written. The
// error of the group is set only when that holds for all of them.
//
// When ctx ends before the write has begun, nothing is written; once begun, its end is awaited
// and answered, so that the caller always knows.
func (s *Store) Accept(ctx context.Context, c Class, group []Acceptance) ([]Accepted, error) {
	out := make([]Accepted, 0, len(group))
	for chunk := range slices.Chunk(group, acceptChunk) {
		out = append(out, s.acceptChunk(ctx, c, chunk)...)
	}
	if len(out) == 0 || slices.ContainsFunc(out, func(a Accepted) bool { return a.Err == nil }) {
		return out, nil
	}
	return out, fmt.Errorf("accept: %w", out[0].Err)
}

// acceptChunk writes a chunk in one transaction; when something in it is wrong, each for itself.
func (s *Store) acceptChunk(ctx context.Context, c Class, chunk []Acceptance) []Accepted {
	out, err := s.acceptOnce(ctx, c, chunk)
	switch {
	case err == nil:
		return out
	case len(chunk) == 1, errors.Is(err, ErrUnavailable), ctx.Err() != nil:
		return slices.Repeat([]Accepted{{Err: err}}, len(chunk))
	}
	out = make([]Accepted, 0, len(chunk))
	for i := range chunk {
		out = append(out, s.acceptChunk(ctx, c, chunk[i:i+1])...)
	}
	return out
}

func (s *Store) acceptOnce(ctx context.Context, c Class, chunk []Acceptance) ([]Accepted, error) {
	var a *accepting
	ends, err := s.run(ctx, c, func(t *tx) error {
		a = newAccepting(t, s.seal, chunk)
		return a.run()
	})
	if errors.Is(err, errCommitUnknown) && s.committed(ctx, a) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	s.tell(ends)
	return a.out, nil
}

// committed asks for a notification of the transaction: it stands for all of them.
func (s *Store) committed(ctx context.Context, a *accepting) bool {
	if len(a.fresh) == 0 {
		return false
	}
	id := a.chunk[a.fresh[0]].Notification.ID
	return s.tookPlace(ctx, "notification_exists", id[:])
}

// accepting is one run of the transaction that writes a chunk.
type accepting struct {
	*tx
	seal  *seal
	chunk []Acceptance
	out   []Accepted
	fresh []int                                   // places of new notifications
	holds []int                                   // places of released holds that were still waiting
	known map[tidings.AddressID]tidings.AddressID // ids of new addresses → ids in the log
	held  map[int][32]byte                        // by place: the hash under a key that was taken before

	released map[tidings.NotificationID]*releasing // of the holds
	owned    bool                                  // the chunk is a copy
	counters map[CounterKey]*counter               // those that are locked
}

func newAccepting(t *tx, s *seal, chunk []Acceptance) *accepting {
	return &accepting{tx: t, seal: s, chunk: chunk, out: make([]Accepted, len(chunk)),
		known: map[tidings.AddressID]tidings.AddressID{}, held: map[int][32]byte{},
		released: map[tidings.NotificationID]*releasing{}}
}

func (a *accepting) run() error {
	steps := []func() error{a.dedupe, a.users, a.addresses, a.takeTurns, a.release, a.flush, a.wakeMoved, a.join, a.count,
		a.notifications, a.deliveries, a.addHolds, a.decided, a.told, a.supersede}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
