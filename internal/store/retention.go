package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tidings"
)

// settled is how long ago the last delivery of a notification must have ended before its detail is
// deleted: receipts may still come, and somebody may still ask.
const settled = 24 * time.Hour

// An OldPage asks for notifications that were accepted before an instant, in the order of their ids.
type OldPage struct {
	After  tidings.NotificationID // zero: from the first
	Before time.Time
	Now    time.Time
	Limit  int
}

// An OldOne is a notification of an OldPage.
type OldOne struct {
	ID       tidings.NotificationID
	Category string
	// Needed says that something of it lives, has ended within a day or is held, or that a dedupe
	// key stands for it.
	Needed bool
}

// Old lists notifications whose detail may have to go. It reads only.
func (s *Store) Old(ctx context.Context, p OldPage) ([]OldOne, error) {
	var page []OldOne
	end := firstID(p.Before)
	args := []any{p.After[:], end[:], int64(p.Limit), p.Now.Add(-settled).UnixMicro(), p.Now.UnixMicro()}
	err := s.read(ctx, func(t *tx) error {
		page = nil
		return t.query("outlived", args, func(r row) error {
			var o OldOne
			var recent, held, keyed bool
			err := r.Scan(into(&o.ID), &o.Category, truth{&recent}, truth{&held}, truth{&keyed})
			o.Needed = recent || held || keyed
			page = append(page, o)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list old notifications: %w", err)
	}
	return page, nil
}

// Forget deletes the detail of notifications and, in the same transaction, adds their deliveries to
// the daily sums. What lives, has ended within a day or is held stays, and so does what another
// transaction has. It says how many are gone; done by several processes at once, each is counted once.
func (s *Store) Forget(ctx context.Context, ids []tidings.NotificationID, now time.Time) (int, error) {
	var gone int
	err := s.write(ctx, Background, func(t *tx) error {
		f := forgetting{tx: t, ids: sortedIDs(ids), now: now}
		err := f.run()
		gone = len(f.ids)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete old detail: %w", err)
	}
	return gone, nil
}

// forgetting is one run of the transaction that deletes detail.
type forgetting struct {
	*tx
	ids  []tidings.NotificationID // in key order; fewer after every step that keeps some
	now  time.Time
	sums map[DailyKey]int64
}

func (f *forgetting) run() error {
	steps := []func() error{f.lockNotifications, f.lockDeliveries, f.facts, f.sum, f.add, f.forget}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (f *forgetting) key(i int) []any { return []any{f.ids[i][:]} }

// only keeps the ids for which a statement gives a row.
func (f *forgetting) only(name string, args func(i int) []any) error {
	var left []tidings.NotificationID
	err := f.each(name, len(f.ids), args, func(i int, r row) error {
		left = append(left, f.ids[i])
		var one int
		return r.Scan(&one)
	})
	f.ids = left
	return err
}

func (f *forgetting) lockNotifications() error { return f.only("forget_lock", f.key) }

func (f *forgetting) lockDeliveries() error {
	return f.lock("forget_lock_deliveries", len(f.ids), f.key)
}

// facts are read once nobody else can change them.
func (f *forgetting) facts() error {
	return f.only("forget_facts", func(i int) []any { return []any{f.ids[i][:], f.now.Add(-settled).UnixMicro()} })
}

func (f *forgetting) sum() error {
	f.sums = map[DailyKey]int64{}
	return f.each("forget_sums", len(f.ids), f.key, func(_ int, r row) error {
		var k DailyKey
		var lane tidings.Lane
		err := r.Scan(&k.Day, &lane, &k.Category, &k.Status, &k.Provider)
		k.Channel = lane.Channel()
		f.sums[k]++
		return err
	})
}

// add locks the sums in the order of their keys, as every other process does.
func (f *forgetting) add() error {
	keys := slices.SortedFunc(maps.Keys(f.sums), DailyKey.compare)
	return f.each("daily_add", len(keys), func(i int) []any {
		k := keys[i]
		return []any{k.Day, string(k.Channel), k.Provider, k.Category, string(k.Status), f.sums[k]}
	}, nil)
}

func (f *forgetting) forget() error {
	for _, name := range []string{"forget_attempts", "forget_receipts", "forget_timeline", "forget_deliveries", "forget_holds",
		"forget_digest_items", "forget_notification"} {
		if err := f.each(name, len(f.ids), f.key, nil); err != nil {
			return err
		}
	}
	return nil
}

// ForgetRest deletes at most limit of each of what belongs to no notification any longer: receipts
// for which no attempt came, and digests. It reports whether there may be more.
func (s *Store) ForgetRest(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	err = s.write(ctx, Background, func(t *tx) error {
		strays, err := t.exec("strays_forget", before.UnixMicro(), int64(limit))
		if err != nil {
			return err
		}
		digests, err := t.forgetDigests(before, limit)
		more = int(strays) == limit || digests == limit
		return err
	})
	if err != nil {
		return false, fmt.Errorf("delete what belongs to nothing: %w", err)
	}
	return more, nil
}

func (t *tx) forgetDigests(before time.Time, limit int) (int, error) {
	var gone []tidings.NotificationID // ids of digests: 16 bytes as well
	end := firstID(before)
	err := t.query("digests_forget", []any{end[:], before.UnixMicro(), int64(limit)}, func(r row) error {
		var id tidings.NotificationID
		err := r.Scan(into(&id))
		gone = append(gone, id)
		return err
	})
	if err != nil {
		return 0, err
	}
	gone = sortedIDs(gone)
	return len(gone), t.each("forget_items_of_digest", len(gone), func(i int) []any { return []any{gone[i][:]} }, nil)
}

func sortedIDs(ids []tidings.NotificationID) []tidings.NotificationID {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b tidings.NotificationID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// A DailyKey is what deliveries are counted by.
type DailyKey struct {
	Day      int64 // since 1970 UTC, on which the notification was accepted
	Channel  tidings.Channel
	Provider string // of the last attempt; empty: none was made
	Category string
	Status   tidings.Status
}

func (k DailyKey) compare(o DailyKey) int {
	return cmp.Or(cmp.Compare(k.Day, o.Day), cmp.Compare(k.Channel, o.Channel), cmp.Compare(k.Provider, o.Provider),
		cmp.Compare(k.Category, o.Category), cmp.Compare(k.Status, o.Status))
}
