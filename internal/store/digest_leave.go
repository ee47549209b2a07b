package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// A Leaving is a part that a digest which is written already is not to tell of any more.
type Leaving struct {
	Part   tidings.NotificationID
	Reason tidings.Reason // cancelled: the part bears a mark of its own; else its decisions say so
	Cause  tidings.Cause  // of the reason
}

// decision is that a part is not told of on a channel.
func (l Leaving) decision(c tidings.Channel, at time.Time) tidings.Decision {
	return tidings.Decision{Channel: c, Action: tidings.ActionSuppress, Reason: l.Reason, Cause: l.Cause, At: at}
}

// A written digest is one that became a notification, with where it stands on each channel.
type writtenDigest struct {
	*tx
	ntf       tidings.NotificationID
	row       tidings.DigestID
	channels  []tidings.Channel
	items     []tidings.DigestItem
	continued bool // it tells of what did not fit into another
	expires   time.Time
	waits     []tidings.Channel // on which something of it is held or queued, and nobody can have been told
	rows      []digestRow
}

// A digestRow is one delivery of a digest.
type digestRow struct {
	id      tidings.DeliveryID
	channel tidings.Channel
	status  tidings.Status
	live    bool
	told    bool // or maybe
}

// lockDigest locks a digest and its parts, in the order of all locks of notifications.
func (t *tx) lockDigest(digest tidings.NotificationID, list []Leaving) error {
	ids := []tidings.NotificationID{digest}
	for _, l := range list {
		ids = append(ids, l.Part)
	}
	slices.SortFunc(ids, func(x, y tidings.NotificationID) int { return bytes.Compare(x[:], y[:]) })
	return t.lock("notification_lock", len(ids), func(i int) []any { return []any{ids[i][:]} })
}

// written reads a digest whose notification is locked, and locks its deliveries: who claims one of
// them tells of what is in the digest by then. nil: it is not known as a digest any more.
func (t *tx) written(digest tidings.NotificationID) (*writtenDigest, error) {
	d := &writtenDigest{tx: t, ntf: digest}
	var data, key string
	found, err := t.one("digest_content", []any{digest[:]}, &data, instant{&d.expires}, into(&d.row), &key)
	if err != nil || !found || data == "" {
		return nil, err
	}
	if d.items, d.continued, err = tidings.ReadDigest(json.RawMessage(data)); err != nil {
		return nil, err
	}
	d.channels = channelsIn(key)
	if err := d.stands(); err != nil {
		return nil, err
	}
	return d, t.query("digest_holds", []any{digest[:]}, func(r row) error {
		var c tidings.Channel
		err := r.Scan(&c)
		d.waits = append(d.waits, c)
		return err
	})
}

func (d *writtenDigest) stands() error {
	var told []tidings.Channel
	err := d.query("digest_stands", []any{d.ntf[:]}, func(r row) error {
		var n int
		var lane tidings.Lane
		var row digestRow
		var due time.Time
		if err := r.Scan(&n, &lane, &row.status, instant{&due}, truth{&row.told}); err != nil {
			return err
		}
		row.id, row.channel, row.live = tidings.DeliveryOf(d.ntf, n), lane.Channel(), row.status.Live(!due.IsZero())
		switch row.status {
		case tidings.Parked, tidings.Queued, tidings.Dead:
			d.waits = append(d.waits, row.channel)
		case tidings.Sending, tidings.Unknown, tidings.Sent, tidings.Delivered, tidings.Bounced:
			row.told = true
		}
		if row.told {
			told = append(told, row.channel)
		}
		d.rows = append(d.rows, row)
		return nil
	})
	d.waits = slices.DeleteFunc(d.waits, func(c tidings.Channel) bool { return slices.Contains(told, c) })
	return err
}

// drop takes a part off the channels on which nobody can have been told of it, and says which; it is
// no part any more where none is left.
func (d *writtenDigest) drop(l Leaving, at time.Time) (off []tidings.Channel, err error) {
	for _, c := range d.channels {
		var one int
		found := false
		if slices.Contains(d.waits, c) {
			if found, err = d.one("digest_part_off", []any{l.Part[:], string(c), string(l.Reason)}, &one); err != nil {
				return nil, err
			}
		}
		if found {
			off = append(off, c)
		}
	}
	if len(off) == 0 {
		return nil, nil
	}
	on, err := d.on(l.Part)
	if err == nil && len(on) == 0 {
		_, err = d.exec("digest_item_drop", d.row[:], l.Part[:])
	}
	if err != nil || l.Reason == tidings.ReasonCancelled {
		return off, err
	}
	return off, d.refuse(l, off, at)
}

// on are the channels on which a digest tells of a part.
func (d *writtenDigest) on(part tidings.NotificationID) (on []tidings.Channel, err error) {
	err = d.query("digest_part_on", []any{part[:]}, func(r row) error {
		var c tidings.Channel
		err := r.Scan(&c)
		if slices.Contains(d.channels, c) {
			on = append(on, c)
		}
		return err
	})
	return on, err
}

// refuse writes into the trail of a part why it is not told of.
func (d *writtenDigest) refuse(l Leaving, off []tidings.Channel, at time.Time) error {
	var stored string
	var next int
	if _, err := d.one("release_facts", []any{l.Part[:]}, &stored, &next); err != nil {
		return err
	}
	refusals := make([]tidings.Decision, len(off))
	for i, c := range off {
		refusals[i] = l.decision(c, at)
	}
	stored, before, err := mergeDecisions(stored, refusals)
	if err != nil {
		return err
	}
	if _, err := d.exec("decisions_set", l.Part[:], stored); err != nil {
		return err
	}
	if err := d.superseded(slices.Repeat([]tidings.NotificationID{l.Part}, len(before)), before); err != nil {
		return err
	}
	_, err = d.exec("timeline_add", l.Part[:], at.UnixMicro(), "released", wholeNotification, leftOut(d.ntf))
	return err
}

// leftOut is what the timeline of a part says that a digest does not tell of.
func leftOut(digest tidings.NotificationID) string {
	return fmt.Sprintf("left out of the digest %s", digest)
}

// shrink lets the digest tell of what is left, of which it says how much, for as long as that is of use.
func (d *writtenDigest) shrink(list []Leaving) (left int, err error) {
	d.items = slices.DeleteFunc(d.items, func(i tidings.DigestItem) bool {
		return slices.ContainsFunc(list, func(l Leaving) bool { return l.Part == i.ID })
	})
	if len(d.items) == 0 {
		return 0, nil
	}
	if last := tidings.LastExpiry(d.items); !last.IsZero() {
		d.expires = last
	}
	data, err := tidings.DigestData(d.items, d.continued)
	if err != nil {
		return 0, err
	}
	if _, err := d.exec("digest_shrink", d.ntf[:], string(data), int64(len(d.items)), d.expires.UnixMicro()); err != nil {
		return 0, err
	}
	_, err = d.exec("digest_shrink_deliveries", d.ntf[:], d.expires.UnixMicro())
	return len(d.items), err
}

// leave takes parts out of the digest, which is locked with them, and says how many are left.
func (d *writtenDigest) leave(list []Leaving, at time.Time) (left int, err error) {
	for _, l := range list {
		if _, err := d.drop(l, at); err != nil {
			return 0, err
		}
		if err := d.leaveRest(l, at); err != nil {
			return 0, err
		}
	}
	return d.shrink(list)
}

// leaveRest writes into the trail of a part, for each channel on which somebody has been told of it,
// or may have, that what still goes out there does without.
func (d *writtenDigest) leaveRest(l Leaving, at time.Time) error {
	on, err := d.on(l.Part)
	if err != nil {
		return err
	}
	for _, c := range on {
		if !slices.ContainsFunc(d.rows, func(row digestRow) bool { return row.channel == c && row.live }) {
			continue
		}
		without := l.decision(c, at)
		if _, err := d.exec("timeline_add", decisionArgs(l.Part, kindLeft, &without)...); err != nil {
			return err
		}
	}
	return nil
}
