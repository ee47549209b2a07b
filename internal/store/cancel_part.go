package store

import (
	"fmt"
	"slices"
	"time"

	"tidings"
)

// An UnderWay says that there was nothing to cancel, since the digest that tells of a notification
// is being sent, or may have been. It is an ErrNothing.
type UnderWay struct{ Digest tidings.NotificationID }

// Error says which digest, and what can be done.
func (e *UnderWay) Error() string {
	return fmt.Sprintf("it is part of the digest %s, which is on its way; cancel that to keep it from being tried again", e.Digest)
}

// Unwrap makes it an ErrNothing.
func (e *UnderWay) Unwrap() error { return ErrNothing }

// nothing is the error of a cancel that found nothing.
func (e *UnderWay) nothing() error {
	if e == nil {
		return ErrNothing
	}
	return e
}

// leaveDigests takes a notification out of the digests that wait with it, and calls off those that
// have nothing else to tell of. Where one is being sent with it, or was, that is kept; under tells of
// one that is not through.
func (t *tx) leaveDigests(part tidings.NotificationID, now time.Time, out *Cancellation) (under *UnderWay, err error) {
	digests, err := t.tellersOf(part)
	if err != nil {
		return nil, err
	}
	for _, id := range digests {
		d, off, err := t.leaveOne(id, Leaving{Part: part, Reason: tidings.ReasonCancelled}, now)
		if err != nil {
			return nil, err
		}
		if d == nil {
			continue
		}
		out.Holds += len(off)
		if d.keeps(off, out) {
			under = &UnderWay{Digest: id}
		}
	}
	return under, nil
}

// tellersOf are the digests that tell of a notification.
func (t *tx) tellersOf(part tidings.NotificationID) (ids []tidings.NotificationID, err error) {
	err = t.query("digest_of", []any{part[:]}, func(r row) error {
		var id tidings.NotificationID
		err := r.Scan(into(&id))
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// leaveOne takes a part out of a digest, and says off which channels.
func (t *tx) leaveOne(id tidings.NotificationID, l Leaving, now time.Time) (*writtenDigest, []tidings.Channel, error) {
	if err := t.lockDigest(id, nil); err != nil {
		return nil, nil, err
	}
	d, err := t.written(id)
	if err != nil || d == nil {
		return nil, nil, err
	}
	off, err := d.drop(l, now)
	if err != nil || len(off) == 0 {
		return d, nil, err
	}
	left, err := d.shrink([]Leaving{l})
	if err != nil || left > 0 {
		return d, off, err
	}
	if _, err := t.cancelRows(id, now); err != nil {
		return d, off, err
	}
	return d, off, t.markCancelled(id, now)
}

// keeps adds the deliveries of a digest that told of a part, or may have, and reports whether one
// of them is not through.
func (d *writtenDigest) keeps(off []tidings.Channel, out *Cancellation) (live bool) {
	for _, row := range d.rows {
		if slices.Contains(off, row.channel) {
			continue
		}
		out.Kept = append(out.Kept, Kept{row.id, row.status})
		live = live || row.live
	}
	return live
}

// keptInDigests tells a repeated cancel what it was too late for.
func (t *tx) keptInDigests(part tidings.NotificationID, out *Cancellation) error {
	digests, err := t.tellersOf(part)
	if err != nil {
		return err
	}
	for _, id := range digests {
		d, err := t.written(id)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		on, err := d.on(part)
		if err != nil {
			return err
		}
		off := slices.DeleteFunc(slices.Clone(d.channels), func(c tidings.Channel) bool { return slices.Contains(on, c) })
		d.keeps(off, out)
	}
	return nil
}
