package store

import (
	"context"
	"fmt"
	"time"

	"tidings"
)

// Seize claims one delivery without looking at it, for what may end whoever looks: the claim
// stands in the log before. It gives the claim's number; 0: it is not queued in the lane. The
// ClaimRequest that names the number then does what a claim does.
func (s *Store) Seize(ctx context.Context, c Class, lane tidings.Lane, id tidings.DeliveryID, lease time.Time) (claimNo int, err error) {
	err = s.write(ctx, c, func(t *tx) error {
		claimNo = 0
		_, err := t.one("claim_seize", keyArgs(id, string(lane), lease.UnixMicro()), &claimNo)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("seize a delivery: %w", err)
	}
	return claimNo, nil
}

// Condemn ends a delivery that cannot be claimed as poison, if it is queued, or was seized under
// that number; dead says that it did.
func (s *Store) Condemn(ctx context.Context, c Class, id tidings.DeliveryID, seized int, now time.Time) (dead bool, err error) {
	err = s.change(ctx, c, []change{{id: id, move: func(f standing) standing {
		dead = f.status == tidings.Queued || f.status == tidings.Sending && f.claimNo == seized
		if !dead {
			return f
		}
		after := f.move(tidings.Dead, tidings.ReasonPoison, time.Time{}, now)
		dead = after.status == tidings.Dead // what is called off ends as that
		return after
	}}})
	if err != nil {
		return false, fmt.Errorf("end poison: %w", err)
	}
	return dead, nil
}
