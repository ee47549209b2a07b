package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tidings"
)

// Past lists at most limit notifications accepted at since or later, newest first and older than
// before (zero: any), with their decisions and their data open.
func (s *Store) Past(ctx context.Context, since time.Time, before tidings.NotificationID, limit int) ([]tidings.Notification, error) {
	if before.IsZero() {
		before = tidings.NotificationID(bytes.Repeat([]byte{0xff}, len(before)))
	}
	oldest := firstID(since.Add(-idSlack))
	var list []tidings.Notification
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.query("replay", []any{before[:], oldest[:], since.UnixMicro(), int64(limit)}, func(r row) error {
			var n storedNotification
			var decisions string
			if err := r.Scan(append(n.dest(), &decisions)...); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(decisions), &n.Decisions); err != nil {
				return errors.New("read decisions: the stored text is damaged")
			}
			list = append(list, s.opened(&n))
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list past notifications: %w", err)
	}
	return list, nil
}
