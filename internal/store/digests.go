package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// A Digest is one that is closed, with what it is to tell of.
type Digest struct {
	ID     tidings.DigestID
	App    string
	Test   bool
	UserID string
	Type   string
	Items  []DigestItem // oldest first; none: all were called off

	Continued bool // it tells of what did not fit into another

	channels []tidings.Channel
	closed   time.Time // when it was due
}

// A DigestItem is a notification that waits for a digest on some of its channels.
type DigestItem struct {
	Notification tidings.Notification
	Channels     []tidings.Channel
}

// NextDigest is when the next digest closes; zero: none is open.
func (s *Store) NextDigest(ctx context.Context) (time.Time, error) {
	var at time.Time
	err := s.read(ctx, func(t *tx) error {
		_, err := t.one("digest_next", nil, instant{&at})
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("find the next digest: %w", err)
	}
	return at, nil
}

// CloseDigests closes at most limit digests whose time has come, or that are closed and were not
// flushed: what comes from now on opens others. They are due until a Flush of each is accepted. Those
// that were due first come first.
func (s *Store) CloseDigests(ctx context.Context, now time.Time, limit int) ([]Digest, error) {
	var list []Digest
	err := s.write(ctx, Background, func(t *tx) error {
		list = nil
		return t.query("digests_close", []any{now.UnixMicro(), int64(limit)}, func(r row) error {
			var d Digest
			var key string
			err := r.Scan(into(&d.ID), &d.App, truth{&d.Test}, &d.UserID, &d.Type, &key, instant{&d.closed}, truth{&d.Continued})
			d.channels = channelsIn(key)
			list = append(list, d)
			return err
		})
	})
	if err != nil || len(list) == 0 {
		return nil, wrapped("close digests", err)
	}
	slices.SortFunc(list, func(x, y Digest) int { return cmp.Or(x.closed.Compare(y.closed), bytes.Compare(x.ID[:], y.ID[:])) })
	err = s.read(ctx, func(t *tx) error {
		for i := range list {
			list[i].Items = nil
		}
		return t.each("digest_waiting", len(list), func(i int) []any { return []any{list[i].ID[:]} }, func(i int, r row) error {
			return s.waits(&list[i], r)
		})
	})
	return list, wrapped("read the items of digests", err)
}

// waits reads one hold of a digest's item.
func (s *Store) waits(d *Digest, r row) error {
	var n storedNotification
	var channel tidings.Channel
	if err := r.Scan(append([]any{&channel}, n.dest()...)...); err != nil {
		return err
	}
	if !slices.Contains(d.channels, channel) {
		return nil // it waits for another digest
	}
	if last := len(d.Items) - 1; last >= 0 && d.Items[last].Notification.ID == n.ID {
		d.Items[last].Channels = append(d.Items[last].Channels, channel)
		return nil
	}
	d.Items = append(d.Items, DigestItem{Notification: s.opened(&n), Channels: []tidings.Channel{channel}})
	return nil
}

// EndDigests ends closed digests that have nothing to tell of.
func (s *Store) EndDigests(ctx context.Context, ids []tidings.DigestID) error {
	err := s.write(ctx, Background, func(t *tx) error {
		return t.each("digest_flushed", len(ids), func(i int) []any { return []any{ids[i][:], nil} }, func(int, row) error { return nil })
	})
	return wrapped("end digests", err)
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
