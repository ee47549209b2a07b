package store

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"tidings"
)

// A DeadFilter selects dead deliveries. Zero members select all.
type DeadFilter struct {
	Channel  tidings.Channel
	Lane     tidings.Lane
	Reason   tidings.Reason
	App      string
	Type     string
	UserID   string
	Provider string    // that one of its attempts called
	Since    time.Time // it died then or later
	Until    time.Time // it died before
}

// args are the arguments of a statement with {{dead}}, for a key and, where it has one, a limit.
func (f *DeadFilter) args(key tidings.DeliveryID, limit ...any) []any {
	since, until := int64(math.MinInt64), int64(math.MaxInt64)
	if !f.Since.IsZero() {
		since = f.Since.UnixMicro()
	}
	if !f.Until.IsZero() {
		until = f.Until.UnixMicro()
	}
	return append(keyArgs(key, string(f.Channel), string(f.Lane), string(f.Reason), f.App, f.Type, f.UserID, f.Provider, since, until), limit...)
}

// A DeadLetter is a dead delivery with what a person must know to judge it.
type DeadLetter struct {
	tidings.Delivery
	Notification tidings.Notification // without data and decisions
	Last         tidings.Attempt      // zero Number: there is none
}

// DeadLetters pages through dead deliveries, those accepted last first: at most limit of those
// older than before; a zero before is no bound.
func (s *Store) DeadLetters(ctx context.Context, f DeadFilter, before tidings.DeliveryID, limit int) ([]DeadLetter, error) {
	if before.IsZero() {
		before = tidings.DeliveryID(bytes.Repeat([]byte{0xff}, len(before)))
	}
	var list []DeadLetter
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.query("dead_list", f.args(before, int64(limit)), func(r row) error {
			l, err := scanDeadLetter(r)
			list = append(list, l)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return list, nil
}

func scanDeadLetter(r row) (DeadLetter, error) {
	var d storedDelivery
	var l DeadLetter
	n, a := &l.Notification, &l.Last
	err := r.Scan(append(d.dest(), &n.App, &n.Type, &n.UserID, &n.Category, truth{&n.Test}, instant{&n.ExpiresAt}, &d.Address,
		&a.Number, &a.Provider, instant{&a.StartedAt}, instant{&a.EndedAt}, &a.Outcome, &a.HTTPStatus, &a.Code, &a.Ref)...)
	l.Delivery, n.ID = d.whole(), d.ntf
	a.Delivery = l.ID
	return l, err
}

// A DeadOne is a dead delivery with what decides whether another try is of use.
type DeadOne struct {
	ID        tidings.DeliveryID
	ExpiresAt time.Time
	Cancelled bool // the notification bears the mark of a cancel
}

// OldestDead lists at most limit dead deliveries after a key, those accepted first first.
func (s *Store) OldestDead(ctx context.Context, f DeadFilter, after tidings.DeliveryID, limit int) ([]DeadOne, error) {
	var list []DeadOne
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.query("dead_oldest", f.args(after, int64(limit)), func(r row) error {
			one, err := scanDeadOne(r)
			list = append(list, one)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list the oldest dead letters: %w", err)
	}
	return list, nil
}

// DeadOf lists those of the given deliveries that are dead and selected, those accepted first first.
func (s *Store) DeadOf(ctx context.Context, f DeadFilter, ids []tidings.DeliveryID) ([]DeadOne, error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	var list []DeadOne
	err := s.read(ctx, func(t *tx) error {
		list = nil
		return t.each("dead_one", len(ids), func(i int) []any { return f.args(ids[i]) }, func(_ int, r row) error {
			one, err := scanDeadOne(r)
			list = append(list, one)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("look up dead letters: %w", err)
	}
	return list, nil
}

func scanDeadOne(r row) (DeadOne, error) {
	var ntf tidings.NotificationID
	var n int
	var one DeadOne
	var cancelled time.Time
	err := r.Scan(into(&ntf), &n, instant{&one.ExpiresAt}, instant{&cancelled})
	one.ID, one.Cancelled = tidings.DeliveryOf(ntf, n), !cancelled.IsZero()
	return one, err
}
