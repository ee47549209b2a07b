package store

import (
	"context"
	"fmt"
	"strings"

	"tidings"
)

// StoredData is the data of a notification as it lies in the database.
func (s *Store) StoredData(ctx context.Context, id tidings.NotificationID) (data string, err error) {
	err = s.read(ctx, func(t *tx) error {
		return t.conn.QueryRowContext(ctx, "SELECT data FROM notifications WHERE id = $1", id[:]).Scan(&data)
	})
	return data, err
}

// UpgradeHolds forgets why holds were called off, and tells it anew as the step of the schema does that brought the column.
func (s *Store) UpgradeHolds(ctx context.Context) error {
	const calledOff = 15
	return s.write(ctx, Normal, func(t *tx) error {
		steps, err := loadMigrations(migrationFiles, t.dialect)
		if err != nil {
			return err
		}
		for _, text := range append([]string{"UPDATE holds SET called_off = ''"}, steps[calledOff-1].statements[1:]...) {
			if _, err := t.conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Statuses are the statuses of all deliveries of notifications from first on, and whether each is live.
func (s *Store) Statuses(ctx context.Context, first tidings.NotificationID) (map[tidings.DeliveryID]tidings.Delivery, error) {
	all := map[tidings.DeliveryID]tidings.Delivery{}
	err := s.read(ctx, func(t *tx) error {
		rows, err := t.conn.QueryContext(ctx, "SELECT "+deliveryColumns+" FROM deliveries d WHERE ntf >= $1", first[:])
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

// Explain is how the database means to run a named statement.
func (s *Store) Explain(ctx context.Context, name string, args ...any) (plan string, err error) {
	err = s.read(ctx, func(t *tx) error {
		text, err := t.text(name)
		if err != nil {
			return err
		}
		explain := "EXPLAIN "
		if t.dialect.oneWriter {
			explain = "EXPLAIN QUERY PLAN "
		}
		rows, err := t.conn.QueryContext(ctx, explain+text, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		step := make([]any, len(columns))
		for i := range step {
			step[i] = new(any)
		}
		var steps []string
		for rows.Next() {
			if err := rows.Scan(step...); err != nil {
				return err
			}
			steps = append(steps, fmt.Sprint(*step[len(step)-1].(*any)))
		}
		plan = strings.Join(steps, "\n")
		return rows.Err()
	})
	return plan, err
}

// SetAside makes a delivery one that is late, without a reason: as if it had been set aside and waited for
// its turn at a provider since.
func (s *Store) SetAside(ctx context.Context, id tidings.DeliveryID) error {
	return s.write(ctx, Normal, func(t *tx) error {
		_, err := t.conn.ExecContext(ctx, "UPDATE deliveries SET sidelined_at = queued_at WHERE ntf = $1 AND n = $2", keyArgs(id)...)
		return err
	})
}
