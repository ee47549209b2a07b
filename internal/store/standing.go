package store

import (
	"context"

	"tidings"
)

// A Standing is how a notification stands: its status and the decisions taken.
type Standing struct {
	Status    tidings.NotificationStatus
	Decisions []tidings.Decision
}

// Standings tells how notifications stand, in a handful of queries; what is not found is absent.
func (s *Store) Standings(ctx context.Context, ids []tidings.NotificationID) (map[tidings.NotificationID]Standing, error) {
	panic("not built")
}
