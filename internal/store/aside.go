package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"tidings"
)

// Sideline sets at most limit deliveries of a lane aside that are fresh work no more: they wait
// for turns that come perSecond times a second, the apps among themselves by turns. It says how
// many it set aside.
func (s *Store) Sideline(ctx context.Context, lane tidings.Lane, now time.Time, perSecond float64, limit int) (int, error) {
	var n int64
	err := s.write(ctx, classOf(lane), func(t *tx) error {
		if _, err := t.exec("aside_mutex", laneMutex(lane)); err != nil { // else two processes would give one turn twice
			return err
		}
		apps, err := t.apps("aside_apps", lane, now, limit)
		if err != nil {
			return err
		}
		between := float64(max(1, len(apps))) / perSecond
		n, err = t.exec("aside_take", string(lane), now.UnixMicro(), int64(limit), max(1, int64(between*1e6)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("set late work aside: %w", err)
	}
	return int(n), nil
}

// Aside moves at most limit deliveries of a lane that wait aside to queued with the stamp now,
// before their turn, and gives them in key order. The apps share the limit as in Due.
func (s *Store) Aside(ctx context.Context, lane tidings.Lane, now time.Time, limit int) (ids []tidings.DeliveryID, err error) {
	err = s.write(ctx, classOf(lane), func(t *tx) (err error) {
		ids, err = t.feed(choice{"aside_apps", "aside_count", "aside_queue"}, lane, now, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("queue late work: %w", err)
	}
	slices.SortFunc(ids, compareIDs)
	return ids, nil
}

// Advance brings the next deliveries of a lane forward that wait for a turn at a provider and need not
// wait so long, at most n, those that are late or the others: they come perSecond times a second from now on.
func (s *Store) Advance(ctx context.Context, lane tidings.Lane, late bool, now time.Time, perSecond float64, n int) error {
	err := s.write(ctx, classOf(lane), func(t *tx) error {
		_, err := t.exec("turns_advance", string(lane), now.UnixMicro(), max(1, int64(1e6/perSecond)), int64(n), flag(late))
		return err
	})
	if err != nil {
		return fmt.Errorf("bring turns forward: %w", err)
	}
	return nil
}

// laneMutex is the number that stands for the order of a lane's late work.
func laneMutex(lane tidings.Lane) int64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte("aside " + string(lane)))
	return int64(sum.Sum64() >> 1)
}
