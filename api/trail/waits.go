package trail

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tidings"
	"tidings/internal/store"
)

const (
	// soon is for how long something is on its way before it is said to wait.
	soon = 2 * time.Second
	// unseen is how long no process that sends may be seen before it is said that none runs.
	unseen = 15 * time.Second
)

// wait is what a delivery that has not gone out waits for, after the name of its channel; empty:
// for nothing, it is about to be sent.
func (t *telling) wait(d *store.TrailDelivery) string {
	since := t.readySince(d)
	ahead := d.Status == tidings.Parked && d.DueAt.After(t.now.Add(soon))
	p := t.pauseNow(d, since)
	if p != nil && ahead && p.Cause != store.PauseOperator && !p.Until.After(t.now) {
		p = nil // its own time is what counts
	}
	if p != nil {
		return t.tried(d) + "is waiting: " + t.pauseText(p) + t.later(d, p)
	}
	if ahead {
		return t.waitsUntil(d)
	}
	if t.now.Sub(since) < soon || d.Status == tidings.Parked && d.DueAt.After(t.now) {
		return ""
	}
	switch {
	case t.trail.WorkedAt.Before(t.now.Add(-unseen)):
		return t.tried(d) + "is waiting: no process that sends is running" + t.lastSeen()
	case t.Down != nil && t.Down():
		return t.tried(d) + "is waiting since " + at(since, t.now) + ": the broker cannot be used at present, so nothing is handed to the processes that send"
	}
	return t.tried(d) + "is waiting for its turn since " + at(since, t.now) + ": " + t.before(d)
}

// before is why what is due has to wait for its turn.
func (t *telling) before(d *store.TrailDelivery) string {
	if behind(d) {
		return waiting(tidings.ReasonSidelined)
	}
	if rate := t.trail.Rates[d.Lane]; rate > 0 {
		return fmt.Sprintf("an operator lets the lane %s send %s a second at most", d.Lane, number(rate))
	}
	return cmp.Or(t.providerRate(d), t.sparing(d), "more is due than can be sent at once")
}

// later tells when a delivery is tried that waits for longer than the pause lasts.
func (t *telling) later(d *store.TrailDelivery, p *store.Pause) string {
	end := later(p.Until, t.now)
	if d.Status != tidings.Parked || d.DueAt.Sub(end) < brief {
		return ""
	}
	due := at(d.DueAt, t.now)
	switch {
	case p.Cause == store.PauseOperator:
		return ", and not before " + due
	case d.HasTried():
		return "; the next try is at " + due
	}
	return "; its turn is at " + due
}

// waitsUntil is said of what may not be sent before a time.
func (t *telling) waitsUntil(d *store.TrailDelivery) string {
	if text := t.putBack(d); text != "" {
		return t.tried(d) + "is waiting: " + text
	}
	why, next := "", "; the next try is at "+at(d.DueAt, t.now)
	if last := lastTry(d); last != nil {
		why = t.failure(last)
	}
	switch {
	case why != "" && !redriven(d):
		return yet(maybeArrived(d.Attempts)) + ": " + why + next
	case d.HasTried():
		return yet(maybeArrived(d.Attempts)) + next
	case behind(d):
		return "is waiting for its turn at " + at(d.DueAt, t.now) + ": " + waiting(tidings.ReasonSidelined)
	case lives(d.Reason):
		return "is waiting for its turn at " + at(d.DueAt, t.now) + ": " + because(d.Reason, "", d.Channel, t.trail.Notification.Category)
	}
	return "is waiting for its turn at " + at(d.DueAt, t.now)
}

// behind reports whether a delivery lets newer work go first.
func behind(d *store.TrailDelivery) bool {
	return d.Reason == tidings.ReasonSidelined || !d.SidelinedAt.IsZero() && d.Reason == "" && !d.HasTried()
}

// redriven reports whether an operator asked for another try since the last one.
func redriven(d *store.TrailDelivery) bool { return d.Reason == tidings.ReasonRedriven }

// tried is said before a wait where a try came before it.
func (t *telling) tried(d *store.TrailDelivery) string {
	if d.HasTried() {
		return yet(maybeArrived(d.Attempts)) + " and "
	}
	return ""
}

// sparing tells of a provider of which few calls are repeated, since some fail; empty: that is not why
// a delivery waits.
func (t *telling) sparing(d *store.TrailDelivery) string {
	last := lastTry(d)
	if last == nil {
		return ""
	}
	switch last.Outcome {
	case tidings.Transient, tidings.NotSent, tidings.Throttled, tidings.OutcomeUnknown:
		return "few calls to " + vendor(last.Provider, t.Providers) + " are repeated at a time while some fail, and others are before it"
	}
	return ""
}

// lastSeen tells when a process that sends was seen last.
func (t *telling) lastSeen() string {
	if t.trail.WorkedAt.IsZero() {
		return ""
	}
	return "; one was seen last at " + at(t.trail.WorkedAt, t.now)
}

// putBack is why a worker put a delivery back, unless it has been tried or redriven since.
func (t *telling) putBack(d *store.TrailDelivery) (text string) {
	since := d.QueuedAt
	if last := lastTry(d); last != nil {
		since = last.EndedAt
	}
	for _, m := range t.trail.Timeline {
		switch {
		case m.Delivery != d.ID || m.At.Before(since):
		case m.Kind == kindQueued:
			text, since = m.Text, m.At
		case m.Kind == kindRedriven:
			text, since = "", m.At
		}
	}
	return text
}

// readySince is since when a delivery could have been sent, as far as its own times tell.
func (t *telling) readySince(d *store.TrailDelivery) time.Time {
	since := d.QueuedAt
	if last := lastTry(d); last != nil && last.EndedAt.After(since) {
		since = last.EndedAt
	}
	if d.DueAt.After(since) && !d.DueAt.After(t.now) {
		since = d.DueAt
	}
	return since
}

func lastTry(d *store.TrailDelivery) *tidings.Attempt {
	if len(d.Attempts) == 0 {
		return nil
	}
	return &d.Attempts[len(d.Attempts)-1]
}

// providerRate tells of a provider whose rate is limited, where that may be what is waited for.
func (t *telling) providerRate(d *store.TrailDelivery) string {
	var names []string
	for name, p := range t.Providers {
		if p.PerSecond > 0 && p.Channel == d.Channel && t.mayTake(name, d) {
			names = append(names, name)
		}
	}
	if len(names) == 0 || t.trail.Notification.Test {
		return ""
	}
	name := slices.Min(names)
	return fmt.Sprintf("%s is called %s times a second at most", vendor(name, t.Providers), number(t.Providers[name].PerSecond))
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
