package trail

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/observe"
	"tidings/internal/store"
)

// The kinds of moments that the trail itself adds; the log has the others.
const (
	kindAccepted = "accepted"
	kindDecided  = "decided"
	kindHeld     = "held"
	kindReleased = "released"
	kindQueued   = "queued"
	kindAttempt  = "attempt"
	kindReceipt  = "receipt"
	kindRedriven = "redriven"
	kindExpired  = "expired"

	kindCancelled = "cancelled" // of the log
)

// A teller puts a trail into words.
type teller struct {
	telling
	moments []told
}

// A told moment has the place of its channel among the decisions; -1: it is about all of them.
type told struct {
	wire.Moment
	place int
}

// timeline is what happened, oldest first.
func timeline(t *store.Trail, s Service, now time.Time) []wire.Moment {
	w := &teller{telling: telling{s, t, now}}
	n := &t.Notification
	w.add(n.AcceptedAt, kindAccepted, nil, "Accepted from "+n.App+".")
	for _, d := range n.Decisions {
		w.decided(d)
	}
	for i := range t.Deliveries {
		w.fate(&t.Deliveries[i])
	}
	for _, m := range t.Timeline {
		w.moment(m)
	}
	slices.SortStableFunc(w.moments, func(a, b told) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(order(a.Moment), order(b.Moment)), cmp.Compare(a.place, b.place))
	})
	out := make([]wire.Moment, len(w.moments))
	for i := range w.moments {
		out[i] = w.moments[i].Moment
	}
	return out
}

// moment tells of a moment of the log, but for what only explains another one.
func (w *teller) moment(m store.Moment) {
	if d, ok := m.Decision(); ok {
		w.decided(d)
		return
	}
	if d, ok := m.LeftOut(); ok {
		w.about(d.Channel, m.At, m.Kind, sentence(noun(d.Channel)+": left out of what the digest still sends, since "+because(d.Reason, d.Cause, d.Channel, w.trail.Notification.Category)))
		return
	}
	if until, by, ok := m.PutOffUntil(); ok {
		w.add(m.At, m.Kind, w.delivery(m.Delivery), sentence(putOff(w.clock(until), by, "", w.trail.Notification.Category)))
		return
	}
	if why, ok := m.Died(); ok {
		if d := w.delivery(m.Delivery); d != nil {
			w.died(d, m.At, why)
		}
		return
	}
	if _, ok := m.Cause(); !ok {
		w.add(m.At, m.Kind, w.delivery(m.Delivery), sentence(w.stored(m)))
	}
}

// stored is what the log itself tells of a moment.
func (w *teller) stored(m store.Moment) string {
	text := strings.TrimSuffix(cmp.Or(m.Text, strings.ReplaceAll(m.Kind, "_", " ")), ".")
	switch m.Kind {
	case kindQueued, kindDecided:
	case kindReleased:
		if names := w.spoken(text); names != "" {
			return "the time has come for " + names + ", so it is decided again"
		}
		return text
	case kindCancelled:
		return w.named(text)
	default:
		return text
	}
	switch d := w.delivery(m.Delivery); {
	case d == nil:
		return text
	case m.Kind == kindQueued:
		return whom(d) + " waits: " + text
	default:
		return whom(d) + ": " + text
	}
}

// named is a text about what was held, in which channels bear the names that people give them.
func (w *teller) named(text string) string {
	const begins, ends = "what was held for ", " is superseded"
	list, rest, _ := strings.Cut(strings.TrimPrefix(text, begins), ends)
	if names := w.spoken(list); names != "" && strings.HasPrefix(text, begins) {
		return begins + names + ends + rest
	}
	return text
}

// whom is a delivery as people call it.
func whom(d *store.TrailDelivery) string {
	if d.Address == "" {
		return noun(d.Channel) + " to an erased address"
	}
	return noun(d.Channel) + " to " + observe.Masked(d.Channel, d.Address)
}

// order is which of two moments of the same instant came first. What was decided of one delivery
// follows from what became of it.
func order(m wire.Moment) int {
	kinds := []string{kindAccepted, kindReleased, kindDecided, kindHeld, kindQueued, kindAttempt, kindReceipt, kindRedriven}
	if i := slices.Index(kinds, m.Kind); i >= 0 && (m.Kind != kindDecided || m.DeliveryID.IsZero()) {
		return i
	}
	return len(kinds)
}

// delivery finds a delivery of the trail; nil: there is none.
func (w *teller) delivery(id tidings.DeliveryID) *store.TrailDelivery {
	for i := range w.trail.Deliveries {
		if d := &w.trail.Deliveries[i]; d.ID == id {
			return d
		}
	}
	return nil
}

// add tells of a delivery; nil: of all.
func (w *teller) add(at time.Time, kind string, d *store.TrailDelivery, text string) {
	m := told{wire.Moment{At: wire.At(at), Kind: kind, Text: text}, -1}
	if d != nil {
		m.DeliveryID, m.place = d.ID, w.trail.Notification.PlaceOf(d.Channel)
	}
	w.moments = append(w.moments, m)
}

// about tells of a channel.
func (w *teller) about(c tidings.Channel, at time.Time, kind, text string) {
	w.moments = append(w.moments, told{wire.Moment{At: wire.At(at), Kind: kind, Text: text}, w.trail.Notification.PlaceOf(c)})
}

func (w *teller) decided(d tidings.Decision) {
	n := &w.trail.Notification
	at := d.At
	if at.IsZero() {
		at = n.AcceptedAt
	}
	what, kind := "", kindDecided
	switch d.Action {
	case tidings.ActionSend:
		what = "send to " + places(d.Channel, d.Addresses)
	case tidings.ActionHold:
		kind = kindHeld
		what = "hold until " + w.clock(d.Until) + ", since " + holding(d.Reason, d.Cause, d.Channel, n.Category)
	case tidings.ActionSuppress:
		what = "do not send, since " + because(d.Reason, d.Cause, d.Channel, n.Category)
	}
	w.about(d.Channel, at, kind, sentence(noun(d.Channel)+": "+what))
}

// fate tells what a delivery went through.
func (w *teller) fate(d *store.TrailDelivery) {
	which := whom(d)
	w.add(d.QueuedAt, kindQueued, d, sentence(which+" waits for its turn in the lane "+string(d.Lane)))
	w.waited(d, which)
	if !d.SidelinedAt.IsZero() {
		w.add(d.SidelinedAt, kindQueued, d, sentence(which+" is put behind (sidelined), since "+because(tidings.ReasonSidelined, "", d.Channel, "")))
	}
	for i := range d.Attempts {
		a := &d.Attempts[i]
		w.add(a.EndedAt, kindAttempt, d, w.attempt(d, a))
	}
	for _, r := range d.Receipts {
		w.add(r.At, kindReceipt, d, w.receipt(r))
	}
	w.end(d, which)
}

// end tells of an end that came before or between attempts.
func (w *teller) end(d *store.TrailDelivery, which string) {
	switch shown, _ := d.Shown(w.trail.Notification.ExpiresAt, w.now); shown {
	case tidings.Expired:
		at := d.FinishedAt
		if at.IsZero() { // the sweep has not come by
			at = w.trail.Notification.ExpiresAt
		}
		late := "it would come too late to be of use"
		if cause := causeOf(w.trail, d); cause != "" {
			late = because(tidings.ReasonExpired, cause, d.Channel, w.trail.Notification.Category)
		}
		w.add(at, kindExpired, d, sentence(which+" is not sent any more: "+late))
	case tidings.Dead:
		w.died(d, d.FinishedAt, d.Reason)
	case tidings.Suppressed:
		verb := " is not sent, since "
		if len(d.Attempts) > 0 {
			verb = " is not tried again, since "
		}
		w.add(d.FinishedAt, kindDecided, d, sentence(which+verb+because(d.Reason, causeOf(w.trail, d), d.Channel, w.trail.Notification.Category)))
	}
}

// died tells that a delivery came to nothing, and of what.
func (w *teller) died(d *store.TrailDelivery, at time.Time, why tidings.Reason) {
	cause := because(why, w.causeOfDeath(d, why), d.Channel, w.trail.Notification.Category)
	if why == tidings.ReasonRetriesSpent && maybeArrived(d.Attempts) {
		cause += orUnclear
	}
	w.add(at, kindDecided, d, sentence(whom(d)+" needs a person now, since "+cause))
}

func (w *teller) receipt(r tidings.Receipt) string {
	text := vendor(r.Provider, w.Providers) + " reports: " + string(r.Status)
	if r.Code != "" {
		text += " (" + r.Code + ")"
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// clock is an instant in the timeline: the time of day, and the day when it is not the day of acceptance.
func (w *telling) clock(t time.Time) string {
	return at(t, w.trail.Notification.AcceptedAt)
}
