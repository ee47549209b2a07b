package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"tidings"
)

// digests tells what the notification is a digest of, and how those stand that it is a part of.
func (l *Trail) digests(t *tx, id tidings.NotificationID) error {
	err := t.query("digest_parts", []any{id[:]}, func(r row) error {
		var part tidings.NotificationID
		err := r.Scan(into(&part))
		l.Parts = append(l.Parts, part)
		return err
	})
	if err != nil {
		return err
	}
	l.Notification.Parts = len(l.Parts)
	err = t.query("digests_of", []any{id[:]}, func(r row) error {
		p, err := l.partOf(r)
		if len(p.Channels) > 0 {
			l.Digests = append(l.Digests, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range l.Digests {
		if err := l.Digests[i].read(t); err != nil {
			return err
		}
	}
	return nil
}

// partOf reads a digest, which tells of the notification where its hold was released for that.
func (l *Trail) partOf(r row) (p PartOf, err error) {
	var key, decisions string
	if err := r.Scan(into(&p.Digest.ID), &key, &decisions, instant{&p.Digest.ExpiresAt}, instant{&p.Digest.CancelledAt}); err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(decisions), &p.Digest.Decisions); err != nil {
		return p, fmt.Errorf("read decisions of %s: %w", p.Digest.ID, err)
	}
	channels := channelsIn(key)
	for _, h := range l.Holds {
		told := h.Reason == tidings.ReasonDigested && h.State == tidings.HoldReleased && slices.Contains(channels, h.Channel)
		if told && !slices.Contains(p.Channels, h.Channel) {
			p.Channels = append(p.Channels, h.Channel)
		}
	}
	return p, nil
}

// read reads how the digest stands on its channels.
func (p *PartOf) read(t *tx) error {
	err := t.query("digest_deliveries", []any{p.Digest.ID[:]}, func(r row) error {
		var d tidings.Delivery
		err := r.Scan(&d.Lane, &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries, instant{&d.FinishedAt})
		if d.Channel = d.Lane.Channel(); slices.Contains(p.Channels, d.Channel) {
			p.Deliveries = append(p.Deliveries, d)
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.query("digest_waits", []any{p.Digest.ID[:]}, func(r row) error {
		var h tidings.Hold
		err := r.Scan(&h.Channel, &h.Reason, instant{&h.Until})
		if slices.Contains(p.Channels, h.Channel) {
			p.Holds = append(p.Holds, h)
		}
		return err
	})
}

// Digest is the first of the digests that tell of the notification; zero: none does.
func (l *Trail) Digest() tidings.NotificationID {
	if len(l.Digests) == 0 {
		return tidings.NotificationID{}
	}
	return l.Digests[0].Digest.ID
}
