package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// DueHolds lists at most limit holds whose time has come, longest first, and beside each, at the
// same place, its notification with the data open. One whose notification is damaged is left out.
// Those of one notification that came together are not parted by the limit: they are decided together,
// in the order of its decisions.
func (s *Store) DueHolds(ctx context.Context, now time.Time, limit int) ([]tidings.Hold, []tidings.Notification, error) {
	var holds []tidings.Hold
	var of []tidings.Notification
	read := 0
	err := s.read(ctx, func(t *tx) error {
		holds, of, read = nil, nil, 0
		return t.query("holds_due", []any{now.UnixMicro(), int64(limit)}, func(r row) error {
			read++
			var h tidings.Hold
			var n storedNotification
			var decisions string
			dest := []any{into(&h.ID), &h.Channel, &h.Reason, instant{&h.Until}, &h.State, &n.DedupeKey, &decisions}
			if err := r.Scan(slices.Concat(dest, n.dest())...); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(decisions), &n.Decisions); err != nil {
				s.log.Error("a hold cannot be released: the stored decisions are damaged", "hold", h.ID.String(), "notification", n.ID.String())
				return nil // those of others can
			}
			h.Notification = n.ID
			holds, of = append(holds, h), append(of, s.opened(&n))
			return nil
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list due holds: %w", err)
	}
	if whole := parted(holds); read == limit && whole > 0 {
		holds, of = holds[:whole], of[:whole]
	}
	for first := 0; first < len(holds); {
		same := 1
		for first+same < len(holds) && holds[first+same].Notification == holds[first].Notification {
			same++
		}
		inOrder(holds[first:first+same], &of[first])
		first += same
	}
	return holds, of, nil
}

// inOrder puts holds of one notification into the order of its decisions; those of one channel stay as they are.
func inOrder(holds []tidings.Hold, of *tidings.Notification) {
	slices.SortStableFunc(holds, func(x, y tidings.Hold) int { return cmp.Compare(of.PlaceOf(x.Channel), of.PlaceOf(y.Channel)) })
}

// parted is where the holds of the last notification of a list begin, more of which may come.
func parted(holds []tidings.Hold) int {
	n := len(holds)
	for n > 0 && holds[n-1].Notification == holds[len(holds)-1].Notification {
		n--
	}
	return n
}

// NextHold is when the earliest waiting hold is due; zero: none.
func (s *Store) NextHold(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.read(ctx, func(t *tx) error {
		_, err := t.one("hold_next", nil, instant{&at})
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("find the next hold: %w", err)
	}
	return at, nil
}
