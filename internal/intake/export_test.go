package intake

import (
	"context"
	"time"

	"tidings/templates"
)

// ReplayUpTo is Replay with another bound.
func (in *Intake) ReplayUpTo(ctx context.Context, other *templates.Catalogue, since time.Time, limit int) (Replay, error) {
	return in.replay(ctx, other, since, limit)
}
