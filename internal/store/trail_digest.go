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
	for _, part := range []struct {
		name string
		scan func(*PartOf, row) error
	}{
		{"digest_deliveries", (*PartOf).addDelivery},
		{"trail_attempts", (*PartOf).addAttempt},
		{"trail_receipts", (*PartOf).addReceipt},
		{"digest_waits", (*PartOf).addHold},
	} {
		err := t.each(part.name, len(parts), func(i int) []any { return []any{parts[i].Digest.ID[:]} }, func(i int, r row) error { return part.scan(parts[i], r) })
		if err != nil {
			return err
		}
	}
	return nil
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

// What follows reads how the digest stands on its channels.

func (p *PartOf) addDelivery(r row) error {
	var d TrailDelivery
	var n int
	m := Moment{Kind: kindCause}
	err := r.Scan(&n, &d.Lane, &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries, instant{&d.FinishedAt}, &m.Text)
	d.ID = tidings.DeliveryOf(p.Digest.ID, n)
	if d.Channel = d.Lane.Channel(); !slices.Contains(p.Channels, d.Channel) {
		return err
	}
	p.Deliveries = append(p.Deliveries, d)
	if cause, told := m.Cause(); told {
		if p.Causes == nil {
			p.Causes = map[tidings.Channel]tidings.Cause{}
		}
		p.Causes[d.Channel] = cause
	}
	return err
}

func (p *PartOf) addAttempt(r row) error {
	a, err := attemptOf(p.Digest.ID, r)
	if d := p.delivery(a.Delivery); d != nil {
		d.Attempts = append(d.Attempts, a)
	}
	return err
}

func (p *PartOf) addReceipt(r row) error {
	c, err := receiptOf(p.Digest.ID, r)
	if d := p.delivery(c.Delivery); d != nil {
		d.Receipts = append(d.Receipts, c)
	}
	return err
}

// delivery finds a delivery on the channels of the part; nil: it is on another one.
func (p *PartOf) delivery(id tidings.DeliveryID) *TrailDelivery {
	i := slices.IndexFunc(p.Deliveries, func(d TrailDelivery) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Deliveries[i]
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
