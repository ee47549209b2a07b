package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"tidings"
)

const (
	// defaultPage is the length of a page that asked for none.
	defaultPage = 50
	// maxChunk is how many notifications one query folds while it looks for a status.
	maxChunk = 4000
	// maxScan is how many notifications one list looks at, so that a filter which selects few of
	// them costs a bounded time; the next page goes on from there.
	maxScan = 10_000
	// idSlack is how far the instant in an id may be from the one at which it was accepted.
	idSlack = time.Minute
)

// List pages through notifications, newest first. Since is included, Until is not. A channel is
// one that a delivery or a hold took; with a reason it is the channel that the reason is about.
//
// Of a log with many notifications it looks at the newest 10,000 only, so it may find few, or none,
// though there are more: next is then where to go on, as Before. A zero next: there are no more.
func (s *Store) List(ctx context.Context, f Filter) (found []Listed, next tidings.NotificationID, err error) {
	if f.Scan <= 0 {
		f.Scan = maxScan
	}
	if f.Limit <= 0 {
		f.Limit = defaultPage
	}
	if f.Before.IsZero() {
		f.Before = tidings.NotificationID(bytes.Repeat([]byte{0xff}, len(f.Before)))
	}
	if err := s.skip(ctx, &f); err != nil {
		return nil, next, fmt.Errorf("list notifications: %w", err)
	}
	now := time.Now()
	for chunk := f.Limit; f.Scan > 0; chunk = min(4*chunk, maxChunk) {
		chunk = min(chunk, f.Scan)
		page, floor, err := s.listed(ctx, f, now, chunk)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, next, fmt.Errorf("list notifications: %w", err)
		}
		for _, n := range page {
			if f.Status == "" || n.Status == f.Status {
				found = append(found, n)
			}
			if len(found) == f.Limit {
				return found, n.Notification.ID, nil
			}
		}
		if floor.IsZero() {
			return found, floor, nil
		}
		f.Before, f.Scan = floor, f.Scan-chunk
	}
	return found, f.Before, nil
}

// listed are those of the next chunk notifications that are selected, whatever their status. The
// floor is the last of the chunk; zero: there are no more.
func (s *Store) listed(ctx context.Context, f Filter, now time.Time, chunk int) (list []Listed, floor tidings.NotificationID, err error) {
	name, args := f.statement(chunk)
	bound := []any{args[0], args[1], int64(chunk - 1)}
	if f.UserID != "" {
		bound = append(bound, f.UserID)
	}
	err = s.read(ctx, func(t *tx) error {
		floor = tidings.NotificationID{}
		more, err := t.one(name+"_floor", bound, into(&floor))
		if err != nil {
			return err
		}
		if more {
			args[1] = floor[:]
		}
		page := folding{now: now}
		err = t.query(name, args, page.scan)
		page.end()
		list = page.list
		return err
	})
	return list, floor, err
}

// skip lets a list by dedupe key begin at the newest notification that holds the key: what is
// newer came under others. Once the key's time is over nobody holds it, and it must be looked for.
func (s *Store) skip(ctx context.Context, f *Filter) error {
	if f.DedupeKey == "" {
		return nil
	}
	var newest tidings.NotificationID
	err := s.read(ctx, func(t *tx) error {
		newest = tidings.NotificationID{}
		return t.query("dedupe_holders", []any{f.App, f.DedupeKey}, func(r row) error {
			var id tidings.NotificationID
			err := r.Scan(into(&id))
			if bytes.Compare(id[:], newest[:]) > 0 {
				newest = id
			}
			return err
		})
	})
	if err != nil || newest.IsZero() || bytes.Compare(newest[:], f.Before[:]) >= 0 {
		return err
	}
	f.Before = newest
	f.Before[len(newest)-1]++ // the last byte of a notification's id is 0
	return nil
}

// statement is the statement that lists by a filter, with its arguments.
func (f *Filter) statement(limit int) (string, []any) {
	newest, until := f.Before, int64(math.MaxInt64)
	if !f.Until.IsZero() {
		until = f.Until.UnixMicro()
		if bound := firstID(f.Until.Add(idSlack)); bytes.Compare(bound[:], newest[:]) < 0 {
			newest = bound
		}
	}
	oldest, since := tidings.NotificationID{}, int64(0)
	if !f.Since.IsZero() {
		oldest, since = firstID(f.Since.Add(-idSlack)), f.Since.UnixMicro()
	}
	suppress, hold := f.decision(tidings.ActionSuppress), f.decision(tidings.ActionHold)
	args := []any{newest[:], oldest[:], since, until, f.App, f.Type, f.DedupeKey, f.Channel, f.Reason, suppress, hold, limit}
	if f.UserID == "" {
		return "list", args
	}
	return "list_of_user", append(args, f.UserID)
}

// decision is a LIKE pattern for a stored decision with the filter's reason, and channel if it has one.
func (f *Filter) decision(action tidings.Action) string {
	pattern := fmt.Sprintf(`"reason":"%s"`, f.Reason)
	if f.Channel != "" {
		pattern = fmt.Sprintf(`"channel":"%s","action":"%s",`, f.Channel, action) + pattern
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `_`, `\_`, `%`, `\%`).Replace(pattern) + "%"
}

// firstID is the lowest id of an instant.
func firstID(t time.Time) tidings.NotificationID {
	var id tidings.NotificationID
	ms := max(t.UnixMilli(), 0)
	binary.BigEndian.PutUint16(id[0:2], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:6], uint32(ms))
	return id
}

// A folding gathers rows, one a delivery, into notifications with their status.
type folding struct {
	now        time.Time
	list       []Listed
	deliveries []tidings.Delivery // of the last one
	holding    bool               // the last one
	called     time.Time          // off, when the digest was that told of the last one; zero: it was not
}

func (p *folding) scan(r row) error {
	var n notificationRow
	var waiting int
	var called time.Time // off: the digest that told of it
	var status *string
	var d tidings.Delivery
	var tries *int
	if err := r.Scan(append(n.fields(), &waiting, instant{&called}, &status, instant{&d.DueAt}, &tries)...); err != nil {
		return err
	}
	if len(p.list) == 0 || p.list[len(p.list)-1].Notification.ID != n.ID {
		p.end()
		p.list = append(p.list, Listed{Notification: n.Notification})
		p.deliveries, p.holding, p.called = p.deliveries[:0], waiting > 0, called
	}
	if status != nil { // NULL: it has no delivery
		d.Status, d.Tries = tidings.Status(*status), *tries
		p.deliveries = append(p.deliveries, d)
	}
	return nil
}

// end folds the deliveries of the last notification.
func (p *folding) end() {
	if len(p.list) == 0 {
		return
	}
	last := &p.list[len(p.list)-1]
	as := last.Notification
	if as.CancelledAt.IsZero() {
		as.CancelledAt = p.called
	}
	last.Status = tidings.Summarise(&as, p.deliveries, p.holding, p.now)
}
