package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tidings"
	"tidings/preferences"
)

// Trail is all that is known of a notification, in a few queries on one snapshot; ErrNotFound as in Cancel.
func (s *Store) Trail(ctx context.Context, app string, id tidings.NotificationID) (*Trail, error) {
	var trail *Trail
	err := s.read(ctx, func(t *tx) (err error) {
		trail, err = s.trail(t, app, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the trail of a notification: %w", err)
	}
	return trail, nil
}

func (s *Store) trail(t *tx, app string, id tidings.NotificationID) (*Trail, error) {
	var n notificationRow
	found, err := t.one("trail_notification", []any{id[:], app}, n.fields()...)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, ErrNotFound
	}
	trail := &Trail{}
	if trail.Notification, err = n.show(s.seal); err != nil {
		return nil, err
	}
	for _, part := range []func(*tx, tidings.NotificationID) error{
		trail.deliveries, trail.attempts, trail.receipts, trail.holds, trail.timeline, trail.pauses, trail.optOuts, trail.digests,
	} {
		if err := part(t, id); err != nil {
			return nil, err
		}
	}
	trail.tell()
	return trail, nil
}

func (l *Trail) deliveries(t *tx, id tidings.NotificationID) error {
	return t.query("trail_deliveries", []any{id[:]}, func(r row) error {
		var d TrailDelivery
		var n int
		err := r.Scan(&n, &d.Lane, into(&d.AddressID), &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries,
			instant{&d.QueuedAt}, instant{&d.FinishedAt}, instant{&d.OpenedAt}, instant{&d.ClickedAt}, instant{&d.ReadAt},
			instant{&d.ComplainedAt}, instant{&d.UnsubscribedAt}, instant{&d.SidelinedAt}, &d.Address, &d.Provider)
		d.ID, d.Channel = tidings.DeliveryOf(id, n), d.Lane.Channel()
		l.Deliveries = append(l.Deliveries, d)
		return err
	})
}

func (l *Trail) attempts(t *tx, id tidings.NotificationID) error {
	return t.query("trail_attempts", []any{id[:]}, func(r row) error {
		var a tidings.Attempt
		var n int
		err := r.Scan(&n, &a.Number, truth{&a.Late}, &a.Provider, instant{&a.StartedAt}, instant{&a.EndedAt}, &a.Outcome,
			&a.HTTPStatus, &a.Code, &a.Text, instant{&a.RetryAt}, &a.Ref)
		a.Delivery = tidings.DeliveryOf(id, n)
		if d := l.delivery(a.Delivery); d != nil {
			d.Attempts = append(d.Attempts, a)
		}
		return err
	})
}

func (l *Trail) receipts(t *tx, id tidings.NotificationID) error {
	return t.query("trail_receipts", []any{id[:]}, func(r row) error {
		var c tidings.Receipt
		var n int
		err := r.Scan(&n, &c.Attempt, &c.Status, instant{&c.At}, &c.Provider, &c.Ref, &c.Outcome, &c.Code, instant{&c.ReceivedAt})
		c.Delivery = tidings.DeliveryOf(id, n)
		if d := l.delivery(c.Delivery); d != nil {
			d.Receipts = append(d.Receipts, c)
		}
		return err
	})
}

func (l *Trail) holds(t *tx, id tidings.NotificationID) error {
	return t.query("trail_holds", []any{id[:]}, func(r row) error {
		h := tidings.Hold{Notification: id}
		err := r.Scan(into(&h.ID), &h.Channel, &h.Reason, instant{&h.Until}, &h.State)
		l.Holds = append(l.Holds, h)
		return err
	})
}

func (l *Trail) timeline(t *tx, id tidings.NotificationID) error {
	return t.query("trail_timeline", []any{id[:]}, func(r row) error {
		var m Moment
		var n int
		err := r.Scan(instant{&m.At}, &m.Kind, &n, &m.Text)
		if n >= 0 {
			m.Delivery = tidings.DeliveryOf(id, n)
		}
		l.Timeline = append(l.Timeline, m)
		return err
	})
}

// maxOptOuts is how many opt-outs of the user are looked through for the one that stopped something.
const maxOptOuts = 200

// optOuts reads what the user switched off, when that stopped something of the notification.
func (l *Trail) optOuts(t *tx, _ tidings.NotificationID) error {
	if !l.refused() {
		return nil
	}
	return t.query("opt_outs_of_user", []any{l.Notification.UserID, int64(maxOptOuts)}, func(r row) error {
		var e preferences.Entry
		err := r.Scan(&e.Category, &e.Channel, &e.Action, &e.Source, instant{&e.At})
		l.OptOuts = append(l.OptOuts, e)
		return err
	})
}

func (l *Trail) refused() bool {
	return slices.ContainsFunc(l.Notification.Decisions, func(d tidings.Decision) bool { return d.Reason.OptedOut() }) ||
		slices.ContainsFunc(l.Deliveries, func(d TrailDelivery) bool { return d.Reason.OptedOut() })
}

// delivery finds a delivery of the trail: they stand in the order of their ordinals, without gaps.
func (l *Trail) delivery(id tidings.DeliveryID) *TrailDelivery {
	n := tidings.OrdinalOf(id)
	if n >= len(l.Deliveries) || l.Deliveries[n].ID != id {
		return nil
	}
	return &l.Deliveries[n]
}

// tell lets each attempt say what its receipts said of it. An attempt is late when its lease had
// ended, which the log knows as an attempt of the same number; where only a receipt was quicker
// than the record, the answer was in time.
func (l *Trail) tell() {
	for i := range l.Deliveries {
		d := &l.Deliveries[i]
		d.imply()
		for j := range d.Attempts {
			a := &d.Attempts[j]
			a.Late = a.Late && slices.ContainsFunc(d.Attempts, func(b tidings.Attempt) bool { return b.Number == a.Number && !b.Late })
		}
		for _, r := range d.Receipts {
			for j := range d.Attempts {
				if a := &d.Attempts[j]; a.Number == r.Attempt {
					a.Delivered = a.Delivered || r.Status == tidings.ReceiptDelivered
					a.Refused = a.Refused || r.Refuses()
				}
			}
		}
	}
}

// CodeNotRecorded is the code of an attempt of which only receipts tell: they ended the delivery,
// and the process that made the call went before it could record what it was answered.
const CodeNotRecorded = "not_recorded"

// imply adds the attempts that only receipts tell of, but for one that may still be recorded.
func (d *TrailDelivery) imply() {
	for _, r := range d.Receipts {
		known := func(a tidings.Attempt) bool { return a.Number == r.Attempt }
		if d.Status == tidings.Sending && d.ClaimNo == r.Attempt || slices.ContainsFunc(d.Attempts, known) {
			continue
		}
		d.Attempts = append(d.Attempts, tidings.Attempt{Delivery: d.ID, Number: r.Attempt, Provider: r.Provider, Ref: r.Ref,
			StartedAt: r.At, EndedAt: r.At, Outcome: tidings.OutcomeUnknown, Code: CodeNotRecorded})
	}
	slices.SortStableFunc(d.Attempts, func(a, b tidings.Attempt) int { return cmp.Compare(a.Number, b.Number) })
}
