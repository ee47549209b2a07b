package trail

import (
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

// causeOf is more of why a delivery ended, as the log has it, where its reason covers several things.
func causeOf(t *store.Trail, d *store.TrailDelivery) (cause tidings.Cause) {
	for _, m := range t.Timeline {
		if told, ok := m.Cause(); ok && m.Delivery == d.ID && explains(told, d.Status, d.Reason) {
			cause = told
		}
	}
	return cause
}

// causeOfDeath is more of what a delivery died of, even if it is dead no more.
func (w *teller) causeOfDeath(d *store.TrailDelivery, of tidings.Reason) tidings.Cause {
	died := *d
	died.Status, died.Reason = tidings.Dead, of
	return causeOf(w.trail, &died)
}

// explains reports whether a cause is of an end. What is dead may be redriven, and end for another reason.
func explains(cause tidings.Cause, s tidings.Status, r tidings.Reason) bool {
	switch s {
	case tidings.Dead:
		return r == tidings.ReasonNoProvider
	case tidings.Suppressed, tidings.Expired:
		return cause != tidings.CauseRoute
	}
	return false
}

// causeOfHold is more of why something is held: that of the decision, if it is the one that made the hold.
func causeOfHold(h *tidings.Hold, d *tidings.Decision) tidings.Cause {
	if d.Action != tidings.ActionHold || d.Reason != h.Reason {
		return ""
	}
	return d.Cause
}

// meanwhile is what something waited for when it was called off.
func meanwhile(t *store.Trail, h *tidings.Hold) string {
	if h.Reason == tidings.ReasonDigested && slices.ContainsFunc(t.Timeline, store.Moment.Gathered) {
		return "before its digest was sent"
	}
	return "while it was held"
}

// byOthers says why a hold was called off where it was not on request.
func byOthers(why tidings.Reason) string {
	if why == "" || why == tidings.ReasonCancelled {
		return ""
	}
	return ": " + waiting(why)
}

// putOff is said of a delivery that waits until a time, by the word of the user or of somebody else.
func putOff(until string, by tidings.Cause, c tidings.Channel, category string) string {
	if by == "" {
		return "waits for the end of quiet hours at " + until
	}
	return "waits until " + until + ": " + holding(tidings.ReasonQuietHours, by, c, category)
}

// quietUntil is the end of quiet hours that a delivery waits for, by the last word of the log on it,
// and by is whose they are where they are not the user's.
func quietUntil(t *store.Trail, d *store.TrailDelivery, now time.Time) (until time.Time, by tidings.Cause) {
	if d.Status != tidings.Parked || !d.DueAt.After(now) {
		return time.Time{}, ""
	}
	for _, m := range t.Timeline {
		if end, whose, ok := m.PutOffUntil(); ok && m.Delivery == d.ID && !end.After(d.DueAt) {
			until, by = end, whose
		}
	}
	if until.After(now) || d.Reason == tidings.ReasonQuietHours {
		return until, by
	}
	return time.Time{}, "" // it waits for something that came later
}
