package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tidings"
)

// A Standing is how a notification stands: its status and the decisions taken.
type Standing struct {
	Status    tidings.NotificationStatus
	Decisions []tidings.Decision
}

// Standings tells how notifications stand at now; what is not found is absent.
func (s *Store) Standings(ctx context.Context, ids []tidings.NotificationID, now time.Time) (map[tidings.NotificationID]Standing, error) {
	var found map[tidings.NotificationID]Standing
	err := s.read(ctx, func(t *tx) (err error) {
		found, err = t.standings(ids, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read how notifications stand: %w", err)
	}
	return found, nil
}

func (t *tx) standings(ids []tidings.NotificationID, now time.Time) (map[tidings.NotificationID]Standing, error) {
	notifications := make(map[tidings.NotificationID]*tidings.Notification, len(ids))
	deliveries := make(map[tidings.NotificationID][]tidings.Delivery, len(ids))
	holding := make(map[tidings.NotificationID]bool, len(ids))
	byID := func(i int) []any { return []any{ids[i][:]} }

	err := t.each("standing_notification", len(ids), byID, func(i int, r row) error {
		n := &tidings.Notification{ID: ids[i]}
		notifications[n.ID] = n
		var decisions []byte
		if err := r.Scan(&decisions, instant{&n.ExpiresAt}, instant{&n.CancelledAt}); err != nil {
			return err
		}
		return json.Unmarshal(decisions, &n.Decisions)
	})
	if err != nil {
		return nil, err
	}
	err = t.each("standing_deliveries", len(ids), byID, func(i int, r row) error {
		var d tidings.Delivery
		if err := r.Scan(&d.Status, instant{&d.DueAt}, &d.Tries); err != nil {
			return err
		}
		deliveries[ids[i]] = append(deliveries[ids[i]], d)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = t.each("standing_holds", len(ids), byID, func(i int, r row) error {
		var waiting int
		err := r.Scan(&waiting)
		holding[ids[i]] = waiting > 0
		return err
	})
	if err != nil {
		return nil, err
	}
	found := make(map[tidings.NotificationID]Standing, len(notifications))
	for id, n := range notifications {
		found[id] = Standing{Status: tidings.Summarise(n, deliveries[id], holding[id], now), Decisions: n.Decisions}
	}
	return found, nil
}
