package store

import (
	"context"
	"time"

	"tidings"
	"tidings/preferences"
)

// Accept writes a group of notifications in one transaction. Each Accepted stands at its
// Acceptance's place. An error means that nothing of the group is known to be written.
func (s *Store) Accept(ctx context.Context, c Class, group []Acceptance) ([]Accepted, error) {
	panic("not built")
}

// Facts loads what decisions about these users depend on, by user id; an unknown user has a
// zero CreatedAt. Providers is left nil.
func (s *Store) Facts(ctx context.Context, users []string) (map[string]*preferences.Facts, error) {
	panic("not built")
}

// Remembered finds the notifications accepted before under dedupe keys that still count.
func (s *Store) Remembered(ctx context.Context, app string, test bool, keys []string, now time.Time) (map[string]Memory, error) {
	panic("not built")
}

// A Memory is an accepted request under its dedupe key.
type Memory struct {
	ID   tidings.NotificationID
	Hash [32]byte
}

// Claim takes the deliveries that are queued and pass the check, in key order; the others are
// settled as the check says, or left alone when they are not queued.
func (s *Store) Claim(ctx context.Context, c Class, r ClaimRequest) ([]Claimed, error) {
	panic("not built")
}

// Record writes what claims came to. Each Recorded stands at its Result's place.
func (s *Store) Record(ctx context.Context, c Class, group []Result) ([]Recorded, error) {
	panic("not built")
}

// GiveBack returns claims for which no call was made.
func (s *Store) GiveBack(ctx context.Context, c Class, group []Return) error { panic("not built") }

// Due moves at most limit parked deliveries of a lane, whose time has come, to queued with the
// stamp now, in due order.
func (s *Store) Due(ctx context.Context, lane tidings.Lane, now time.Time, limit int) ([]tidings.DeliveryID, error) {
	panic("not built")
}

// Unqueue moves deliveries whose publish failed from queued back to parked, if the stamp is still theirs.
func (s *Store) Unqueue(ctx context.Context, ids []tidings.DeliveryID, stamp, due time.Time) error {
	panic("not built")
}

// Lost moves at most limit deliveries of a lane that were queued before horizon back to parked, due now.
func (s *Store) Lost(ctx context.Context, lane tidings.Lane, horizon, now time.Time, limit int) (int, error) {
	panic("not built")
}

// Overdue lists at most limit rows of all lanes whose lease or wait is over.
func (s *Store) Overdue(ctx context.Context, now time.Time, limit int) ([]Overdue, error) {
	panic("not built")
}

// Resolve settles rows that waited for a receipt in vain, if they still wait under that claim.
func (s *Store) Resolve(ctx context.Context, group []Resolution) error { panic("not built") }

// Expire ends at most limit queued and parked deliveries that are of no more use, and says how many.
func (s *Store) Expire(ctx context.Context, now time.Time, limit int) (int, error) {
	panic("not built")
}

// DueHolds lists at most limit holds whose time has come, with their notifications (data open).
func (s *Store) DueHolds(ctx context.Context, now time.Time, limit int) ([]tidings.Hold, []tidings.Notification, error) {
	panic("not built")
}

// NextHold is when the earliest waiting hold is due; zero: none.
func (s *Store) NextHold(ctx context.Context) (time.Time, error) { panic("not built") }

// ApplyReceipts folds receipts into their deliveries; one for an unknown delivery is kept as a
// stray. It says how many were strays. Engagement sets its instant only.
func (s *Store) ApplyReceipts(ctx context.Context, receipts []tidings.Receipt) (strays int, err error) {
	panic("not built")
}

// LaneStats counts the live deliveries by lane; a lane without any is absent.
func (s *Store) LaneStats(ctx context.Context, now time.Time) (map[tidings.Lane]LaneStats, error) {
	panic("not built")
}

// LaneStates lists the lanes that an operator has touched.
func (s *Store) LaneStates(ctx context.Context) ([]LaneState, error) { panic("not built") }

// SetLanePaused pauses or resumes a lane.
func (s *Store) SetLanePaused(ctx context.Context, lane tidings.Lane, paused bool, now time.Time) error {
	panic("not built")
}

// Cancel ends what of a notification is not sent yet and marks it; repeated, it answers the
// same. ErrNothing: there was nothing to cancel. ErrNotFound: no such notification of that app
// (empty app: any).
func (s *Store) Cancel(ctx context.Context, app string, id tidings.NotificationID, now time.Time) (Cancellation, error) {
	panic("not built")
}
