package store

import (
	"context"

	"tidings"
)

// StoredData is the data of a notification as it lies in the database.
func (s *Store) StoredData(ctx context.Context, id tidings.NotificationID) (data string, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.conn.QueryRowContext(ctx, "SELECT data FROM notifications WHERE id = $1", id[:]).Scan(&data)
	})
	return data, err
}

// Statuses are the statuses of all deliveries, and whether each is live.
func (s *Store) Statuses(ctx context.Context) (map[tidings.DeliveryID]tidings.Delivery, error) {
	all := map[tidings.DeliveryID]tidings.Delivery{}
	err := s.read(ctx, func(t *tx) error {
		rows, err := t.conn.QueryContext(ctx, "SELECT "+deliveryColumns+" FROM deliveries d")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var d storedDelivery
			if err := rows.Scan(d.dest()...); err != nil {
				return err
			}
			whole := d.whole()
			all[whole.ID] = whole
		}
		return rows.Err()
	})
	return all, err
}
