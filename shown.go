package tidings

import "time"

// Shown is the status of a delivery as people are told it, and whether it is final. What
// waits in the log or in a lane shows as Queued before its first try and as Retrying after
// it; what waits there past expiresAt shows as Expired before the sweep has come by.
func (d *Delivery) Shown(expiresAt, now time.Time) (status Status, final bool) {
	switch {
	case d.Status != Parked && d.Status != Queued:
		return d.Status, d.DueAt.IsZero()
	case !expiresAt.IsZero() && !expiresAt.After(now):
		return Expired, true
	case d.HasTried():
		return Retrying, false
	}
	return Queued, false
}

// HasTried reports whether something was tried since it was accepted, or redriven, be it a try that does
// not count.
func (d *Delivery) HasTried() bool {
	return d.Tries > 0 || d.ClaimNo > 0 && d.Reason != ReasonRedriven
}

// Summarise is the status of a notification at now: held if no delivery is unfinished and
// something is held, else the best that any of its deliveries came to. Without deliveries and
// holds it was cancelled while it was held, or suppressed from the start.
func Summarise(n *Notification, deliveries []Delivery, holding bool, now time.Time) NotificationStatus {
	best := NotificationSuppressed
	if len(deliveries) == 0 && !n.CancelledAt.IsZero() {
		best = NotificationCancelled
	}
	unfinished := false
	for i := range deliveries {
		status, final := deliveries[i].Shown(n.ExpiresAt, now)
		unfinished = unfinished || !final
		if s := standing(status, final); rank(s) < rank(best) {
			best = s
		}
	}
	if holding && !unfinished {
		return NotificationHeld
	}
	return best
}

// standing is what one delivery, alone, makes of its notification.
func standing(s Status, final bool) NotificationStatus {
	switch {
	case !final:
		return NotificationAccepted
	case s == Delivered:
		return NotificationDelivered
	case s == Sent:
		return NotificationSent
	case s == Expired:
		return NotificationExpired
	case s == Cancelled:
		return NotificationCancelled
	case s == Suppressed:
		return NotificationSuppressed
	}
	return NotificationFailed // failed, bounced, dead, and unknown for good
}

// rank orders what deliveries make of a notification, best first.
func rank(s NotificationStatus) int {
	for i, better := range []NotificationStatus{NotificationDelivered, NotificationSent, NotificationAccepted,
		NotificationFailed, NotificationExpired, NotificationCancelled} {
		if s == better {
			return i
		}
	}
	return 6
}
