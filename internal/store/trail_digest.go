package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"tidings"
)

// digests tells what notifications are digests of, and how those stand that they are parts of.
func (all trails) digests(t *tx) error {
	if err := all.each(t, trailPart{"digest_parts", (*Trail).addPart}, trailPart{"digests_of", (*Trail).addDigest}); err != nil {
		return err
	}
	var parts []*PartOf
	for _, l := range all {
		l.Notification.Parts = len(l.Parts)
		for i := range l.Digests {
			parts = append(parts, &l.Digests[i])
		}
	}
	id := func(i int) []any { return []any{parts[i].Digest.ID[:]} }
	if err := t.each("digest_deliveries", len(parts), id, func(i int, r row) error { return parts[i].addDelivery(r) }); err != nil {
		return err
	}
	return t.each("digest_waits", len(parts), id, func(i int, r row) error { return parts[i].addHold(r) })
}

func (l *Trail) addPart(r row) error {
	var part tidings.NotificationID
	err := r.Scan(into(&part))
	l.Parts = append(l.Parts, part)
	return err
}

func (l *Trail) addDigest(r row) error {
	p, err := l.partOf(r)
	if len(p.Channels) > 0 {
		l.Digests = append(l.Digests, p)
	}
	return err
}

// partOf reads a digest, which tells of the notification where its hold was released for that.
func (l *Trail) partOf(r row) (p PartOf, err error) {
	var key, decisions string
	if err := r.Scan(into(&p.Digest.ID), &key, &decisions, instant{&p.Digest.ExpiresAt}, instant{&p.Digest.CancelledAt}); err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(decisions), &p.Digest.Decisions); err != nil {
		l.broken = fmt.Errorf("read decisions of %s: %w", p.Digest.ID, err)
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

// addDelivery and addHold read how the digest stands on its channels.
func (p *PartOf) addDelivery(r row) error {
	var d tidings.Delivery
	m := Moment{Kind: kindCause}
	err := r.Scan(&d.Lane, &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries, instant{&d.FinishedAt}, &m.Text)
	if d.Channel = d.Lane.Channel(); !slices.Contains(p.Channels, d.Channel) {
		return err
	}
	p.Deliveries = append(p.Deliveries, d)
	if cause, told := m.Cause(); told && d.Status == tidings.Suppressed {
		if p.Causes == nil {
			p.Causes = map[tidings.Channel]tidings.Cause{}
		}
		p.Causes[d.Channel] = cause
	}
	return err
}

func (p *PartOf) addHold(r row) error {
	var h tidings.Hold
	err := r.Scan(&h.Channel, &h.Reason, instant{&h.Until})
	if slices.Contains(p.Channels, h.Channel) {
		p.Holds = append(p.Holds, h)
	}
	return err
}

// Digest is the first of the digests that tell of the notification; zero: none does.
func (l *Trail) Digest() tidings.NotificationID {
	if len(l.Digests) == 0 {
		return tidings.NotificationID{}
	}
	return l.Digests[0].Digest.ID
}
