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
	all, err := s.trails(ctx, app, []tidings.NotificationID{id})
	switch {
	case err != nil:
	case len(all) == 0:
		err = ErrNotFound
	default:
		err = all[0].broken
	}
	if err != nil {
		return nil, fmt.Errorf("read the trail of a notification: %w", err)
	}
	return all[0], nil
}

// Trails are the trails of several notifications, in the order of ids and on one snapshot. One that
// there is not, or that cannot be read, is left out.
func (s *Store) Trails(ctx context.Context, app string, ids []tidings.NotificationID) ([]*Trail, error) {
	all, err := s.trails(ctx, app, ids)
	if err != nil {
		return nil, fmt.Errorf("read the trails of notifications: %w", err)
	}
	return slices.DeleteFunc(all, func(l *Trail) bool { return l.broken != nil }), nil
}

// trails are read together, a statement of all of them at a time: see tx.each.
type trails []*Trail

func (s *Store) trails(ctx context.Context, app string, ids []tidings.NotificationID) (all trails, err error) {
	err = s.read(ctx, func(t *tx) error {
		all = make(trails, 0, len(ids))
		err := t.each("trail_notification", len(ids), func(i int) []any { return []any{ids[i][:], app} }, func(_ int, r row) error {
			var n notificationRow
			if err := r.Scan(n.fields()...); err != nil {
				return err
			}
			l := &Trail{}
			l.Notification, l.broken = n.show(s.seal)
			l.Notification.ID = n.ID
			all = append(all, l)
			return nil
		})
		if err != nil || len(all) == 0 {
			return err
		}
		return all.read(t)
	})
	return all, err
}

// read reads all but the notifications.
func (all trails) read(t *tx) error {
	err := all.each(t, append(deliveryParts(), trailPart{"trail_holds", (*Trail).addHold}, trailPart{"trail_timeline", (*Trail).addMoment})...)
	if err != nil {
		return err
	}
	for _, l := range all {
		inOrder(l.Holds, &l.Notification)
	}
	for _, part := range []func(*tx) error{all.pauses, all.optOuts, all.digests} {
		if err := part(t); err != nil {
			return err
		}
	}
	for _, l := range all {
		l.tell()
	}
	return nil
}

// A trailPart is a statement by the id of a notification, with what takes in a row of it.
type trailPart struct {
	name string
	scan func(*Trail, row) error
}

// deliveryParts are the deliveries with their attempts and receipts.
func deliveryParts() []trailPart {
	return []trailPart{{"trail_deliveries", (*Trail).addDelivery}, {"trail_attempts", (*Trail).addAttempt}, {"trail_receipts", (*Trail).addReceipt}}
}

// each reads parts of every trail.
func (all trails) each(t *tx, parts ...trailPart) error {
	for _, p := range parts {
		err := t.each(p.name, len(all), func(i int) []any { return []any{all[i].Notification.ID[:]} },
			func(i int, r row) error { return p.scan(all[i], r) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *Trail) addDelivery(r row) error {
	var d TrailDelivery
	var n int
	err := r.Scan(&n, &d.Lane, into(&d.AddressID), &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries,
		instant{&d.QueuedAt}, instant{&d.FinishedAt}, instant{&d.OpenedAt}, instant{&d.ClickedAt}, instant{&d.ReadAt},
		instant{&d.ComplainedAt}, instant{&d.UnsubscribedAt}, instant{&d.SidelinedAt}, &d.Address, &d.Provider)
	d.ID, d.Channel = tidings.DeliveryOf(l.Notification.ID, n), d.Lane.Channel()
	l.Deliveries = append(l.Deliveries, d)
	return err
}

func (l *Trail) addAttempt(r row) error {
	a, err := attemptOf(l.Notification.ID, r)
	if d := l.delivery(a.Delivery); d != nil {
		d.Attempts = append(d.Attempts, a)
	}
	return err
}

// attemptOf reads an attempt at a delivery of a notification.
func attemptOf(id tidings.NotificationID, r row) (a tidings.Attempt, err error) {
	var n int
	err = r.Scan(&n, &a.Number, truth{&a.Late}, &a.Provider, instant{&a.StartedAt}, instant{&a.EndedAt}, &a.Outcome,
		&a.HTTPStatus, &a.Code, &a.Text, instant{&a.RetryAt}, &a.Ref)
	a.Delivery = tidings.DeliveryOf(id, n)
	return a, err
}

func (l *Trail) addReceipt(r row) error {
	c, err := receiptOf(l.Notification.ID, r)
	if d := l.delivery(c.Delivery); d != nil {
		d.Receipts = append(d.Receipts, c)
	}
	return err
}

// receiptOf reads a receipt for a delivery of a notification.
func receiptOf(id tidings.NotificationID, r row) (c tidings.Receipt, err error) {
	var n int
	err = r.Scan(&n, &c.Attempt, &c.Status, instant{&c.At}, &c.Provider, &c.Ref, &c.Outcome, &c.Code, instant{&c.ReceivedAt})
	c.Delivery = tidings.DeliveryOf(id, n)
	return c, err
}

func (l *Trail) addHold(r row) error {
	h := tidings.Hold{Notification: l.Notification.ID}
	err := r.Scan(into(&h.ID), &h.Channel, &h.Reason, instant{&h.Until}, &h.State, &h.CalledOff)
	l.Holds = append(l.Holds, h)
	return err
}

func (l *Trail) addMoment(r row) error {
	var m Moment
	var n int
	err := r.Scan(instant{&m.At}, &m.Kind, &n, &m.Text)
	if n >= 0 {
		m.Delivery = tidings.DeliveryOf(l.Notification.ID, n)
	}
	l.Timeline = append(l.Timeline, m)
	return err
}

// maxOptOuts is how many opt-outs of a user are looked through for the one that stopped something.
const maxOptOuts = 200

// optOuts reads what the users switched off, when that stopped something of their notifications.
func (all trails) optOuts(t *tx) error {
	var users []string
	for _, l := range all {
		if l.refused() && !slices.Contains(users, l.Notification.UserID) {
			users = append(users, l.Notification.UserID)
		}
	}
	of := make(map[string][]preferences.Entry, len(users))
	err := t.each("opt_outs_of_user", len(users), func(i int) []any { return []any{users[i], int64(maxOptOuts)} }, func(i int, r row) error {
		var e preferences.Entry
		err := r.Scan(&e.Category, &e.Channel, &e.Action, &e.Source, instant{&e.At})
		of[users[i]] = append(of[users[i]], e)
		return err
	})
	for _, l := range all {
		if l.refused() {
			l.OptOuts = of[l.Notification.UserID]
		}
	}
	return err
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

// tell lets each attempt say what its receipts said of it.
func (l *Trail) tell() {
	for i := range l.Deliveries {
		l.Deliveries[i].tell()
	}
	for i := range l.Digests {
		for j := range l.Digests[i].Deliveries {
			l.Digests[i].Deliveries[j].tell()
		}
	}
}

// tell lets each attempt say what its receipts said of it. An attempt is late when its lease had
// ended, which the log knows as an attempt of the same number; where only a receipt was quicker
// than the record, the answer was in time.
func (d *TrailDelivery) tell() {
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
