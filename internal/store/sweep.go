package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

const (
	// dedupeGrace is how long after its end a dedupe key is kept: clocks differ.
	dedupeGrace = time.Hour
	// tidyLimit is how many rows of each kind one sweep tidies.
	tidyLimit = 500
)

// Expire ends at most limit queued and parked deliveries that are of no more use, and says how
// many. It also tidies: dedupe keys whose time is over, sensitive data that nobody needs any
// more, and receipts that missed their attempt by a moment.
func (s *Store) Expire(ctx context.Context, now time.Time, limit int) (int, error) {
	var expired int
	err := s.write(ctx, Background, func(t *tx) error {
		ended, err := t.expire(now, limit)
		if err != nil {
			return err
		}
		expired = len(ended)
		if err := t.eraseData(ended); err != nil {
			return err
		}
		return t.refund(slices.Compact(ended))
	})
	if err != nil {
		return 0, fmt.Errorf("expire: %w", err)
	}
	if err := s.write(ctx, Background, func(t *tx) error { return t.tidy(now) }); err != nil {
		return expired, fmt.Errorf("tidy: %w", err)
	}
	return expired, nil
}

// expire gives the notifications of what it ended, one for each delivery.
func (t *tx) expire(now time.Time, limit int) (ended []tidings.NotificationID, err error) {
	for _, what := range []string{"expired_take", "expired_queued"} {
		err := t.query(what, []any{now.UnixMicro(), int64(limit - len(ended))}, func(r row) error {
			var ntf tidings.NotificationID
			var lane tidings.Lane
			var e end
			err := r.Scan(into(&ntf), &lane, &e.status, &e.reason)
			e.channel = lane.Channel()
			ended, t.ends = append(ended, ntf), append(t.ends, e)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return ended, nil
}

func (t *tx) tidy(now time.Time) error {
	if _, err := t.exec("dedupe_purge", now.Add(-dedupeGrace).UnixMicro(), int64(tidyLimit)); err != nil {
		return err
	}
	var left []tidings.NotificationID
	err := t.query("erase_left", []any{int64(tidyLimit), now.UnixMicro()}, func(r row) error {
		var ntf tidings.NotificationID
		err := r.Scan(into(&ntf))
		left = append(left, ntf)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(left, func(a, b tidings.NotificationID) int { return bytes.Compare(a[:], b[:]) })
	if err := t.each("erase_late", len(left), func(i int) []any { return []any{left[i][:], now.UnixMicro()} }, nil); err != nil {
		return err
	}
	if err := t.rematch(); err != nil {
		return err
	}
	_, err = t.exec("counter_purge", now.UnixMicro(), int64(tidyLimit))
	return err
}

// rematch applies the strays that have found an attempt by now: by its reference, or by the
// delivery that they name.
func (t *tx) rematch() error {
	err := t.rematchBy("strays_matched", func(r *tidings.Receipt) ([]any, func()) {
		var ntf tidings.NotificationID
		var n int
		return []any{into(&ntf), &n}, func() { r.Delivery = tidings.DeliveryOf(ntf, n) }
	})
	if err != nil {
		return err
	}
	return t.rematchBy("strays_named", func(r *tidings.Receipt) ([]any, func()) {
		return []any{into(&r.Delivery)}, func() {}
	})
}

// rematchBy applies the strays that a statement finds; which says where it names their delivery.
func (t *tx) rematchBy(found string, which func(r *tidings.Receipt) (dest []any, done func())) error {
	var list []tidings.Receipt
	var kept [][]byte // the deliveries that they are kept with
	err := t.query(found, []any{int64(tidyLimit)}, func(row row) error {
		var r tidings.Receipt
		var delivery []byte
		dest, done := which(&r)
		dest = slices.Concat([]any{&r.Provider, &r.Ref, &r.Status, instant{&r.At}, &delivery, &r.Outcome, &r.Code, instant{&r.ReceivedAt}}, dest, []any{&r.Attempt})
		err := row.Scan(dest...)
		done()
		list, kept = append(list, r), append(kept, delivery)
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	err = t.each("stray_drop", len(list), func(i int) []any {
		return []any{list[i].Provider, list[i].Ref, string(list[i].Status), list[i].At.UnixMicro(), kept[i]}
	}, nil)
	if err != nil {
		return err
	}
	a := applying{tx: t, list: list}
	return a.run()
}
