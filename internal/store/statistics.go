package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tidings"
)

// ErrTooMuch says that more would have to be looked through than one answer may take.
var ErrTooMuch = errors.New("too much to look through")

const (
	// detailPart is how many notifications one statement sums up.
	detailPart = 20_000
	// detailTime is how long the detail is summed up before the answer is given up.
	detailTime = 30 * time.Second
)

// A StatisticsFilter selects the deliveries of whole days. Empty fields select everything.
type StatisticsFilter struct {
	Since, Until int64 // days since 1970 UTC; Until is not included
	Channel      tidings.Channel
	Provider     string
	Category     string
	Status       tidings.Status // as people are told it
}

// A Daily is a number of deliveries.
type Daily struct {
	DailyKey
	Deliveries int64
}

// Statistics counts deliveries by day, channel, provider of the last attempt, category and status:
// those whose detail is deleted from the daily sums, the others from the detail, all on one
// snapshot. Test notifications are left out. ErrTooMuch: the detail of so many days takes too long.
func (s *Store) Statistics(ctx context.Context, f StatisticsFilter, now time.Time) ([]Daily, error) {
	var sums map[DailyKey]int64
	err := s.read(ctx, func(t *tx) error {
		sums = map[DailyKey]int64{}
		if err := t.dailySums(f, sums); err != nil {
			return err
		}
		return t.detailSums(ctx, f, now, sums)
	})
	if err != nil {
		return nil, fmt.Errorf("count deliveries by day: %w", err)
	}
	list := make([]Daily, 0, len(sums))
	for _, k := range slices.SortedFunc(maps.Keys(sums), DailyKey.compare) {
		list = append(list, Daily{k, sums[k]})
	}
	return list, nil
}

func (t *tx) dailySums(f StatisticsFilter, sums map[DailyKey]int64) error {
	args := []any{f.Since, f.Until, string(f.Channel), f.Provider, f.Category, string(f.Status)}
	return t.query("daily_read", args, func(r row) error {
		var k DailyKey
		var n int64
		err := r.Scan(&k.Day, &k.Channel, &k.Provider, &k.Category, &k.Status, &n)
		sums[k] += n
		return err
	})
}

// detailSums adds the detail part by part, in the order of the ids, so that no statement is long.
func (t *tx) detailSums(ctx context.Context, f StatisticsFilter, now time.Time, sums map[DailyKey]int64) error {
	begun := time.Now()
	after, end := firstID(dayOf(f.Since).Add(-idSlack)), firstID(dayOf(f.Until).Add(idSlack))
	for last := false; !last; {
		var upTo tidings.NotificationID
		found, err := t.one("detail_end", []any{after[:], end[:], int64(detailPart - 1)}, into(&upTo))
		if err != nil {
			return err
		}
		if last = !found; last {
			upTo = end
		}
		if err := t.detailPart(f, after, upTo, now, sums); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Since(begun) > detailTime && !last {
			return ErrTooMuch
		}
		after = upTo
	}
	return nil
}

func (t *tx) detailPart(f StatisticsFilter, after, upTo tidings.NotificationID, now time.Time, sums map[DailyKey]int64) error {
	args := []any{after[:], upTo[:], f.Since, f.Until, now.UnixMicro(), f.Category, string(f.Channel), f.Provider, string(f.Status)}
	return t.query("detail_sums", args, func(r row) error {
		var k DailyKey
		var lane tidings.Lane
		var n int64
		err := r.Scan(&k.Day, &lane, &k.Provider, &k.Category, &k.Status, &n)
		k.Channel = lane.Channel()
		sums[k] += n
		return err
	})
}

// dayOf is the begin of a day.
func dayOf(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }
