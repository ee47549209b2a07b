package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tidings"
)

// A keyedDelivery is a delivery whose notification has a collapse key.
type keyedDelivery struct {
	id      tidings.DeliveryID
	key     collapseKey
	channel tidings.Channel
}

// Newer names, of those of the given deliveries whose place was taken meanwhile, the newest
// notification with the same collapse key that sends to their channel or holds something for it.
func (s *Store) Newer(ctx context.Context, ids []tidings.DeliveryID) (map[tidings.DeliveryID]tidings.NotificationID, error) {
	var found map[tidings.DeliveryID]tidings.NotificationID
	err := s.read(ctx, func(t *tx) error {
		keyed, err := t.keyed(ids)
		if err != nil {
			return err
		}
		found, err = t.newer(keyed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look up what took the place of dead letters: %w", err)
	}
	return found, nil
}

func (t *tx) keyed(ids []tidings.DeliveryID) (list []keyedDelivery, err error) {
	err = t.each("dead_key", len(ids), func(i int) []any { return keyArgs(ids[i]) }, func(i int, r row) error {
		d := keyedDelivery{id: ids[i]}
		var lane tidings.Lane
		err := r.Scan(&d.key.app, &d.key.user, &d.key.key, truth{&d.key.test}, &lane)
		d.channel = lane.Channel()
		list = append(list, d)
		return err
	})
	return list, err
}

// lockKeys lets posts with the keys of the deliveries wait, so that none is overlooked.
func (t *tx) lockKeys(list []keyedDelivery) error {
	var keys []collapseKey
	for _, d := range list {
		keys = append(keys, d.key)
	}
	slices.SortFunc(keys, func(x, y collapseKey) int { return cmp.Compare(x.lock(), y.lock()) })
	keys = slices.Compact(keys)
	return t.lock("collapse_mutex", len(keys), func(k int) []any { return []any{keys[k].lock()} })
}

func (t *tx) newer(list []keyedDelivery) (map[tidings.DeliveryID]tidings.NotificationID, error) {
	found := map[tidings.DeliveryID]tidings.NotificationID{}
	err := t.each("dead_newer", len(list), func(i int) []any {
		d, ntf := list[i], tidings.NotificationOf(list[i].id)
		return []any{d.key.app, d.key.user, d.key.key, flag(d.key.test), ntf[:],
			string(tidings.LaneOf(d.channel, tidings.Urgent)), string(tidings.LaneOf(d.channel, tidings.Bulk)), string(d.channel)}
	}, func(i int, r row) error {
		var by tidings.NotificationID
		err := r.Scan(into(&by))
		found[list[i].id] = by
		return err
	})
	return found, err
}
