package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// Due moves at most limit parked deliveries of a lane, whose time has come, to queued with the
// stamp now, and gives them in key order. Each app that has some gets an equal share of the
// limit, and of its own those that are due longest; what an app does not need goes to the others.
func (s *Store) Due(ctx context.Context, lane tidings.Lane, now time.Time, limit int) ([]tidings.DeliveryID, error) {
	var ids []tidings.DeliveryID
	err := s.write(ctx, classOf(lane), func(t *tx) (err error) {
		ids, err = t.feed(choice{"due_apps", "due_count", "due_take"}, lane, now, limit)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("queue what is due: %w", err)
	}
	slices.SortFunc(ids, compareIDs)
	return ids, nil
}

// A choice names the statements that find the apps that have something to feed, count it, and take it.
type choice struct{ apps, count, take string }

func (t *tx) feed(what choice, lane tidings.Lane, now time.Time, limit int) (ids []tidings.DeliveryID, err error) {
	apps, err := t.apps(what.apps, lane, now, limit)
	if err != nil || len(apps) == 0 {
		return nil, err
	}
	of := func(i, most int) []any { return []any{string(lane), apps[i], now.UnixMicro(), int64(most)} }
	share := []int{limit} // an app that is alone need not be counted
	if len(apps) > 1 {
		due := make([]int, len(apps))
		err := t.each(what.count, len(apps), func(i int) []any { return of(i, limit) }, func(i int, r row) error { return r.Scan(&due[i]) })
		if err != nil {
			return nil, err
		}
		share = shares(due, limit)
	}
	err = t.each(what.take, len(apps), func(i int) []any { return of(i, share[i]) }, func(_ int, r row) error {
		id, err := scanDeliveryID(r)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// apps are those that have something to feed, who waits longest first.
func (t *tx) apps(statement string, lane tidings.Lane, now time.Time, limit int) (apps []string, err error) {
	err = t.query(statement, []any{string(lane), now.UnixMicro(), int64(limit)}, func(r row) error {
		var app string
		err := r.Scan(&app)
		apps = append(apps, app)
		return err
	})
	return apps, err
}

// shares divides room equally among those that want some, none more than it wants; what one does
// not want goes to the others. Where less than one each is left, the first of the list go first.
func shares(want []int, room int) []int {
	got := make([]int, len(want))
	for room > 0 {
		var hungry []int
		for i := range want {
			if got[i] < want[i] {
				hungry = append(hungry, i)
			}
		}
		if len(hungry) == 0 {
			return got
		}
		each := max(1, room/len(hungry))
		for _, i := range hungry {
			n := min(each, want[i]-got[i], room)
			got[i], room = got[i]+n, room-n
		}
	}
	return got
}
