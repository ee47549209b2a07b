package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
)

// classOf is the class of a sweep over one lane.
func classOf(lane tidings.Lane) Class {
	if lane.Priority() == tidings.Urgent {
		return Urgent
	}
	return Background
}

func scanDeliveryID(r row) (tidings.DeliveryID, error) {
	var ntf tidings.NotificationID
	var n int
	err := r.Scan(into(&ntf), &n)
	return tidings.DeliveryOf(ntf, n), err
}

func compareIDs(a, b tidings.DeliveryID) int { return bytes.Compare(a[:], b[:]) }

// Unqueue moves deliveries whose publish failed from queued back to parked, if the stamp is still theirs.
func (s *Store) Unqueue(ctx context.Context, ids []tidings.DeliveryID, stamp, due time.Time) error {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, compareIDs)
	err := s.write(ctx, Normal, func(t *tx) error {
		return t.each("unqueue", len(ids), func(i int) []any { return keyArgs(ids[i], stamp.UnixMicro(), due.UnixMicro()) }, nil)
	})
	if err != nil {
		return fmt.Errorf("take back what was not published: %w", err)
	}
	return nil
}

// absurd is how far ahead of the clock a stamp is taken for that of a clock that was wrong.
const absurd = time.Minute

// Lost moves at most limit deliveries of a lane that were queued before horizon back to parked,
// due now; beside them those, at most limit again, whose stamp lies a minute or more ahead of now.
func (s *Store) Lost(ctx context.Context, lane tidings.Lane, horizon, now time.Time, limit int) (int, error) {
	var old, ahead int64
	err := s.write(ctx, classOf(lane), func(t *tx) (err error) {
		if old, err = t.exec("lost_take", string(lane), horizon.UnixMicro(), now.UnixMicro(), int64(limit)); err != nil {
			return err
		}
		ahead, err = t.exec("absurd_take", string(lane), now.Add(absurd).UnixMicro(), now.UnixMicro(), int64(limit))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("take back what its lane lost: %w", err)
	}
	return int(old + ahead), nil
}

// requeuePage is how many deliveries one transaction of Requeue moves.
const requeuePage = 500

// Requeue moves all deliveries of a lane that were queued by an instant back to parked, due then,
// page by page, and says how many.
func (s *Store) Requeue(ctx context.Context, lane tidings.Lane, by time.Time) (n int, err error) {
	for {
		moved, err := s.Lost(ctx, lane, by.Add(time.Microsecond), by, requeuePage)
		n += moved
		if err != nil || moved < requeuePage {
			return n, err
		}
	}
}

// Overdue lists at most limit rows of all lanes whose lease or wait is over, longest first.
func (s *Store) Overdue(ctx context.Context, now time.Time, limit int) ([]Overdue, error) {
	var out []Overdue
	err := s.read(ctx, func(t *tx) error {
		out = nil
		return t.query("overdue", []any{now.UnixMicro(), int64(limit)}, func(r row) error {
			var d storedDelivery
			var n storedNotification
			var provider, value *string
			var died int
			if err := r.Scan(slices.Concat(d.dest(), n.dest(), []any{&provider, &value, &died})...); err != nil {
				return err
			}
			out = append(out, Overdue{Delivery: d.whole(), Notification: n.Notification, Died: died,
				Address: tidings.Address{ID: d.AddressID, Channel: d.Channel, Provider: text(provider), Value: text(value)}})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list what is overdue: %w", err)
	}
	return out, nil
}

// GiveBack returns claims for which no call was made.
func (s *Store) GiveBack(ctx context.Context, c Class, group []Return) error {
	changes := make([]change, len(group))
	for i, g := range group {
		changes[i] = change{id: g.ID, said: remark{g.ID, g.At, kindPutBack, g.Why}, move: func(f standing) standing {
			if f.status != tidings.Sending || f.claimNo != g.ClaimNo {
				return f
			}
			f.tries--
			return f.move(tidings.Parked, "", g.DueAt, g.DueAt)
		}}
	}
	if err := s.change(ctx, c, changes); err != nil {
		return fmt.Errorf("give back claims: %w", err)
	}
	return nil
}

// Resolve settles rows that waited for a receipt in vain, if they still wait under that claim.
// The end of the wait is the instant of what follows.
func (s *Store) Resolve(ctx context.Context, group []Resolution) error {
	changes := make([]change, len(group))
	for i, g := range group {
		changes[i] = change{id: g.ID, said: remark{id: g.ID, kind: kindNoWord, text: noWord(g)}, move: func(f standing) standing {
			if f.status != tidings.Unknown || f.claimNo != g.ClaimNo || f.dueAt.IsZero() {
				return f
			}
			f.tried = strings.Join(g.Tried, ",")
			return f.move(g.Status, g.Reason, g.DueAt, f.dueAt)
		}}
	}
	if err := s.change(ctx, Normal, changes); err != nil {
		return fmt.Errorf("settle unknown outcomes: %w", err)
	}
	return nil
}

// A change moves one delivery as move says, once its row is locked.
type change struct {
	id   tidings.DeliveryID
	move func(standing) standing
	said remark // for the timeline, where the delivery moves and is not called off by that
}

// change moves deliveries, in key order; one that stays as it is costs no write.
func (s *Store) change(ctx context.Context, c Class, changes []change) error {
	slices.SortFunc(changes, func(a, b change) int { return compareIDs(a.id, b.id) })
	changes = slices.CompactFunc(changes, func(a, b change) bool { return a.id == b.id })
	return s.write(ctx, c, func(t *tx) error {
		if err := t.lock("delivery_lock", len(changes), func(i int) []any { return keyArgs(changes[i].id) }); err != nil {
			return err
		}
		var moved []tidings.DeliveryID
		var next []standing
		var ended []tidings.NotificationID
		var told []remark
		err := t.each("settle_facts", len(changes), func(i int) []any { return keyArgs(changes[i].id) }, func(i int, r row) error {
			var lane tidings.Lane
			f, sensitive, err := scanStanding(r, &lane)
			if err != nil {
				return err
			}
			after := changes[i].move(f)
			if after == f {
				return nil
			}
			t.noteEnd(lane, "", f, after)
			moved, next = append(moved, changes[i].id), append(next, after)
			if said := changes[i].said; said.text != "" && after.status != tidings.Cancelled {
				if said.at.IsZero() {
					said.at = f.dueAt // of the wait that is over
				}
				told = append(told, said)
			}
			if sensitive && !after.live() {
				ended = append(ended, tidings.NotificationOf(changes[i].id))
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = t.each("delivery_settle", len(moved), func(i int) []any { return settleArgs(moved[i], next[i]) }, nil)
		if err != nil {
			return err
		}
		if err := t.remark(told); err != nil {
			return err
		}
		return t.eraseData(ended)
	})
}

// scanStanding reads the columns with which settle_facts begins, and more after them.
func scanStanding(r row, more ...any) (f standing, sensitive bool, err error) {
	var cancelled time.Time
	dest := []any{&f.status, &f.reason, instant{&f.dueAt}, &f.claimNo, &f.tries, &f.tried, instant{&f.finishedAt},
		instant{&f.expiresAt}, instant{&cancelled}, truth{&sensitive}}
	err = r.Scan(append(dest, more...)...)
	f.cancelled = !cancelled.IsZero()
	return f, sensitive, err
}
