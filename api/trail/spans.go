package trail

import (
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
)

// A span is a time in which a delivery waited to be sent.
type span struct {
	begin, end time.Time
	lasts      bool // it waits still: the end is now
}

// A turn is where the waiting of a delivery stops, or goes on, or both: it is tried in between.
type turn struct {
	stops, goes time.Time // zero: it does not
}

func (t turn) at() time.Time { return orElse(t.stops, t.goes) }

// spans are the times in which a delivery waited: before each try, and until now or its end. It does
// not wait while it is over, before an operator has it tried again, nor while a receipt is awaited.
func (w *teller) spans(d *store.TrailDelivery) (all []span) {
	begin := d.QueuedAt
	for _, t := range w.turns(d) {
		if !begin.IsZero() && !t.stops.IsZero() {
			all = append(all, span{begin: begin, end: t.stops})
		}
		begin = t.goes
	}
	if begin.IsZero() {
		return all
	}
	switch status, final := d.Shown(w.trail.Notification.ExpiresAt, w.now); {
	case !final && (status == tidings.Queued || status == tidings.Retrying):
		all = append(all, span{begin: begin, end: w.now, lasts: true})
	case status == tidings.Expired, status == tidings.Cancelled, status == tidings.Suppressed, status == tidings.Dead:
		all = append(all, span{begin: begin, end: orElse(d.FinishedAt, w.trail.Notification.ExpiresAt)})
	}
	return all
}

// turns are those of a delivery, in order.
func (w *teller) turns(d *store.TrailDelivery) (all []turn) {
	awaited := map[int]bool{} // by number: the attempts after which a receipt was awaited
	for i := range d.Attempts {
		a := &d.Attempts[i]
		if a.Late {
			continue
		}
		t := turn{stops: a.StartedAt, goes: a.EndedAt}
		if a.Outcome == tidings.OutcomeUnknown && a.RetryAt.IsZero() {
			awaited[a.Number], t.goes = true, time.Time{}
		}
		all = append(all, t)
	}
	for _, r := range d.Receipts {
		if r.Refuses() && awaited[r.Attempt] {
			all = append(all, turn{goes: r.ReceivedAt})
		}
	}
	for _, m := range w.trail.Timeline {
		if m.Delivery != d.ID {
			continue
		}
		if _, died := m.Died(); died {
			all = append(all, turn{stops: m.At})
		} else if m.Kind == kindRedriven || m.NoWord() {
			all = append(all, turn{goes: m.At})
		}
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.at().Compare(b.at()) })
	return all
}

func orElse(t, other time.Time) time.Time {
	if t.IsZero() {
		return other
	}
	return t
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
