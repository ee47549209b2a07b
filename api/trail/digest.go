package trail

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

func events(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

// partOf is the digest that tells of a notification on a channel; nil: none does.
func partOf(t *store.Trail, c tidings.Channel) *store.PartOf {
	for i := range t.Digests {
		if slices.Contains(t.Digests[i].Channels, c) {
			return &t.Digests[i]
		}
	}
	return nil
}

// leftOut adds that not all messages of a digest on a channel tell of a notification; empty: they do.
func leftOut(t *store.Trail, c tidings.Channel) string {
	for _, m := range t.Timeline {
		if d, ok := m.LeftOut(); ok && d.Channel == c {
			return ", but what was sent last left this out: " + because(d.Reason, d.Cause, c, t.Notification.Category)
		}
	}
	return ""
}

// forgotten reports whether the digest is gone that told of a notification on the channel of a
// decision, as when its user was erased.
func forgotten(t *store.Trail, d tidings.Decision) bool {
	return d.Action == tidings.ActionHold && d.Reason == tidings.ReasonDigested && slices.ContainsFunc(t.Holds, func(h tidings.Hold) bool {
		return h.Channel == d.Channel && h.Reason == tidings.ReasonDigested && h.State == tidings.HoldReleased
	})
}

// ofDigest is how the digest stands, on one channel, that a notification is a part of.
func ofDigest(p *store.PartOf, c tidings.Channel, category string, now time.Time) string {
	var mine []tidings.Delivery
	doubt := ""
	for i := range p.Deliveries {
		if d := &p.Deliveries[i]; d.Channel == c {
			mine = append(mine, d.Delivery)
			doubt = cmp.Or(doubt, doubtOf(p, d, category, now))
		}
	}
	for _, h := range p.Holds {
		if h.Channel == c && len(mine) == 0 {
			return "is held until " + at(h.Until, now) + ": " + because(h.Reason, causeIn(p.Digest.Decisions, c), c, category)
		}
	}
	if len(mine) == 0 {
		return undelivered(p, c, category)
	}
	summed := tidings.Summarise(&p.Digest, mine, false, now)
	if doubt != "" && !slices.Contains([]tidings.NotificationStatus{tidings.NotificationDelivered, tidings.NotificationSent, tidings.NotificationAccepted}, summed) {
		return doubt
	}
	return standing(summed) + whyNot(summed, mine, p, c, category, now)
}

// doubtOf is what is said of a delivery of a digest that may have arrived although it was not taken,
// as far as anybody knows; empty: there is no doubt.
func doubtOf(p *store.PartOf, d *store.TrailDelivery, category string, now time.Time) string {
	status, final := d.Shown(p.Digest.ExpiresAt, now)
	s := stand{status: status, final: final, reason: reason(d, status), cause: causeWithin(p, &d.Delivery), maybe: maybeArrived(d.Attempts), kept: keptAddress(d)}
	return doubtful(s, reasons(d.Channel, category, s, now))
}

// causeWithin is more of why a delivery of a digest ended, where its reason covers several things.
func causeWithin(p *store.PartOf, d *tidings.Delivery) tidings.Cause {
	if cause := p.Causes[d.Channel]; explains(cause, d.Status, d.Reason) {
		return cause
	}
	return ""
}

// causeIn is more of the reason for which a channel is held.
func causeIn(all []tidings.Decision, c tidings.Channel) tidings.Cause {
	for _, d := range all {
		if d.Channel == c && d.Action == tidings.ActionHold {
			return d.Cause
		}
	}
	return ""
}

// undelivered is why a digest has no delivery on a channel.
func undelivered(p *store.PartOf, c tidings.Channel, category string) string {
	for _, d := range p.Digest.Decisions {
		if d.Channel == c && d.Action == tidings.ActionSuppress {
			return "was not sent: " + because(d.Reason, d.Cause, c, category)
		}
	}
	if !p.Digest.CancelledAt.IsZero() {
		return "was called off"
	}
	return "was not sent"
}

func standing(s tidings.NotificationStatus) string {
	switch s {
	case tidings.NotificationDelivered:
		return "was delivered"
	case tidings.NotificationSent:
		return "was sent"
	case tidings.NotificationAccepted:
		return "is on its way"
	case tidings.NotificationFailed:
		return "could not be delivered"
	case tidings.NotificationExpired:
		return "was not sent in time"
	case tidings.NotificationCancelled:
		return "was called off"
	}
	return "was not sent"
}

// whyNot is the reason of a delivery that ended as all of them do together, where it says more than that.
func whyNot(s tidings.NotificationStatus, all []tidings.Delivery, p *store.PartOf, c tidings.Channel, category string, now time.Time) string {
	expires := p.Digest.ExpiresAt
	for i := range all {
		status, final := all[i].Shown(expires, now)
		if !final || tidings.Summarise(&tidings.Notification{ExpiresAt: expires}, all[i:i+1], false, now) != s {
			continue
		}
		cause := causeWithin(p, &all[i])
		switch r := all[i].Reason; {
		case cause != "":
		case r == "", r == tidings.ReasonCancelled, r == tidings.ReasonExpired, status == tidings.Expired:
			continue
		}
		return ": " + because(all[i].Reason, cause, c, category)
	}
	return ""
}
