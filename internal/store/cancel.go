package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tidings"
)

// Cancel ends what of a notification is not sent yet, dead letters too, and marks it; repeated, it
// answers the same. ErrNothing, with what was kept: there was nothing to cancel. ErrNotFound: no such
// notification of that app (empty app: any).
func (s *Store) Cancel(ctx context.Context, app string, id tidings.NotificationID, now time.Time) (Cancellation, error) {
	var out Cancellation
	err := s.write(ctx, Urgent, func(t *tx) (err error) {
		out, err = t.cancel(app, id, now)
		return err
	})
	switch {
	case errors.Is(err, ErrNothing):
		return out, err
	case err != nil:
		return Cancellation{}, fmt.Errorf("cancel: %w", err)
	}
	return out, nil
}

func (t *tx) cancel(app string, id tidings.NotificationID, now time.Time) (Cancellation, error) {
	var owner string
	var sensitive bool
	var marked time.Time
	found, err := t.one("cancel_find", []any{id[:]}, &owner, truth{&sensitive}, instant{&marked})
	if err != nil {
		return Cancellation{}, err
	}
	if !found || app != "" && owner != app {
		return Cancellation{}, ErrNotFound
	}
	if !marked.IsZero() {
		return t.cancelledAlready(id, marked)
	}
	out, err := t.cancelRows(id, now)
	if err != nil {
		return out, err
	}
	under, err := t.leaveDigests(id, now, &out)
	if err != nil {
		return out, err
	}
	if len(out.Cancelled) == 0 && len(out.Cancelling) == 0 && out.Holds == 0 {
		return out, under.nothing()
	}
	if err := t.markCancelled(id, now); err != nil || !sensitive {
		return out, err
	}
	return out, t.eraseData([]tidings.NotificationID{id})
}

// markCancelled marks a notification of which something was called off.
func (t *tx) markCancelled(id tidings.NotificationID, now time.Time) error {
	if _, err := t.exec("cancel_mark", id[:], now.UnixMicro()); err != nil {
		return err
	}
	if _, err := t.exec("timeline_add", id[:], now.UnixMicro(), "cancelled", wholeNotification, ""); err != nil {
		return err
	}
	return t.refund([]tidings.NotificationID{id})
}

func (t *tx) cancelRows(id tidings.NotificationID, now time.Time) (Cancellation, error) {
	var out Cancellation
	err := t.cancelScan(id, func(id tidings.DeliveryID, status tidings.Status, live bool, _ time.Time) {
		switch {
		case status == tidings.Parked, status == tidings.Queued, status == tidings.Dead:
			out.Cancelled = append(out.Cancelled, id)
		case live:
			out.Cancelling = append(out.Cancelling, id)
		default:
			out.Kept = append(out.Kept, Kept{id, status})
		}
	})
	if err != nil {
		return out, err
	}
	if err := t.endAll("cancel_deliveries", []any{id[:], now.UnixMicro()}, tidings.Cancelled, tidings.ReasonCancelled); err != nil {
		return out, err
	}
	holds, err := t.exec("cancel_holds", id[:])
	out.Holds = int(holds)
	return out, err
}

// cancelledAlready tells what the first cancel did: what ended at that instant it cancelled, what
// ended later or lives was in flight, and what ended before it kept.
func (t *tx) cancelledAlready(id tidings.NotificationID, marked time.Time) (Cancellation, error) {
	var out Cancellation
	err := t.cancelScan(id, func(id tidings.DeliveryID, status tidings.Status, live bool, finished time.Time) {
		switch {
		case status == tidings.Cancelled && finished.Equal(marked):
			out.Cancelled = append(out.Cancelled, id)
		case live, finished.After(marked):
			out.Cancelling = append(out.Cancelling, id)
		default:
			out.Kept = append(out.Kept, Kept{id, status})
		}
	})
	if err != nil {
		return out, err
	}
	if _, err = t.one("cancelled_holds", []any{id[:]}, &out.Holds); err != nil {
		return out, err
	}
	return out, t.keptInDigests(id, &out)
}

func (t *tx) cancelScan(ntf tidings.NotificationID, see func(id tidings.DeliveryID, status tidings.Status, live bool, finished time.Time)) error {
	return t.query("cancel_rows", []any{ntf[:]}, func(r row) error {
		var n int
		var status tidings.Status
		var due, finished time.Time
		if err := r.Scan(&n, &status, instant{&due}, instant{&finished}); err != nil {
			return err
		}
		see(tidings.DeliveryOf(ntf, n), status, status.Live(!due.IsZero()), finished)
		return nil
	})
}
