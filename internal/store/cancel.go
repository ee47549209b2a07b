package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tidings"
)

// Cancel ends what of a notification is not sent yet, dead letters too, and marks it; repeated, it
// answers the same. ErrNothing, with what was kept: there was nothing to cancel, or others had called
// it off. ErrNotFound: no such notification of that app (empty app: any).
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
	var sensitive, erased bool
	var marked time.Time
	found, err := t.one("cancel_find", []any{id[:], ErasedRemark}, &owner, truth{&sensitive}, instant{&marked}, truth{&erased})
	if err != nil {
		return Cancellation{}, err
	}
	if !found || app != "" && owner != app {
		return Cancellation{}, ErrNotFound
	}
	if !marked.IsZero() {
		return t.cancelledAlready(id, marked, erased)
	}
	out, err := t.cancelRows(id, now)
	if err != nil {
		return out, err
	}
	under, err := t.leaveDigests(id, now, &out)
	if err != nil {
		return out, err
	}
	if out.none() {
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
	var dead []tidings.DeliveryID
	err := t.cancelScan(id, func(d *tidings.Delivery, live bool) {
		if d.Status == tidings.Dead {
			dead = append(dead, d.ID)
		}
		switch {
		case d.Status == tidings.Parked, d.Status == tidings.Queued, d.Status == tidings.Dead:
			out.Cancelled = append(out.Cancelled, d.ID)
		case live:
			out.Cancelling = append(out.Cancelling, d.ID)
		default:
			out.Kept = append(out.Kept, Kept{d.ID, d.Status})
		}
	})
	if err != nil {
		return out, err
	}
	if err := t.deaths(dead); err != nil {
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
// ended later or lives was in flight, and what ended before it kept. Where the mark is another's there
// was nothing left to cancel: that of an erasure, or of newer events, which mark only what has no deliveries.
func (t *tx) cancelledAlready(id tidings.NotificationID, marked time.Time, erased bool) (Cancellation, error) {
	var out Cancellation
	err := t.cancelScan(id, func(d *tidings.Delivery, live bool) {
		switch {
		case erased:
			out.Kept = append(out.Kept, Kept{d.ID, d.Status})
		case d.Status == tidings.Cancelled && d.Reason == tidings.ReasonCancelled && d.FinishedAt.Equal(marked):
			out.Cancelled = append(out.Cancelled, d.ID)
		case live, d.FinishedAt.After(marked):
			out.Cancelling = append(out.Cancelling, d.ID)
		default:
			out.Kept = append(out.Kept, Kept{d.ID, d.Status})
		}
	})
	if err != nil {
		return out, err
	}
	if _, err = t.one("cancelled_holds", []any{id[:]}, &out.Holds); err != nil {
		return out, err
	}
	others := erased || out.none() && len(out.Kept) == 0
	if err := t.keptInDigests(id, &out); err != nil {
		return out, err
	}
	if others {
		return out, ErrNothing
	}
	return out, nil
}

// none reports whether nothing was called off.
func (c *Cancellation) none() bool {
	return len(c.Cancelled) == 0 && len(c.Cancelling) == 0 && c.Holds == 0
}

func (t *tx) cancelScan(ntf tidings.NotificationID, see func(d *tidings.Delivery, live bool)) error {
	return t.query("cancel_rows", []any{ntf[:]}, func(r row) error {
		var n int
		var d tidings.Delivery
		if err := r.Scan(&n, &d.Status, &d.Reason, instant{&d.DueAt}, instant{&d.FinishedAt}); err != nil {
			return err
		}
		d.ID = tidings.DeliveryOf(ntf, n)
		see(&d, d.Status.Live(!d.DueAt.IsZero()))
		return nil
	})
}
