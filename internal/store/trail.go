package store

import (
	"context"

	"tidings"
)

// Trail is all that is known of a notification; ErrNotFound as in Cancel.
func (s *Store) Trail(ctx context.Context, app string, id tidings.NotificationID) (*Trail, error) {
	panic("not built")
}

// List pages through notifications, newest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Listed, error) { panic("not built") }
