package trail

import (
	"cmp"
	"fmt"
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
	trail     *store.Trail
	providers map[string]string
	now       time.Time
	moments   []wire.Moment
}

// timeline is what happened, oldest first.
func timeline(t *store.Trail, providers map[string]string, now time.Time) []wire.Moment {
	w := &teller{trail: t, providers: providers, now: now}
	n := &t.Notification
	w.add(n.AcceptedAt, kindAccepted, tidings.DeliveryID{}, "Accepted from "+n.App+".")
	for _, d := range n.Decisions {
		w.decided(d)
	}
	for i := range t.Deliveries {
		w.delivery(&t.Deliveries[i])
	}
	for _, m := range t.Timeline {
		w.add(m.At, m.Kind, m.Delivery, sentence(strings.TrimSuffix(cmp.Or(m.Text, strings.ReplaceAll(m.Kind, "_", " ")), ".")))
	}
	slices.SortStableFunc(w.moments, func(a, b wire.Moment) int {
		return cmp.Or(a.At.Compare(b.At.Time), cmp.Compare(order(a), order(b)))
	})
	return w.moments
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

func (w *teller) add(at time.Time, kind string, id tidings.DeliveryID, text string) {
	w.moments = append(w.moments, wire.Moment{At: wire.At(at), Kind: kind, DeliveryID: id, Text: text})
}

func (w *teller) decided(d tidings.Decision) {
	n := &w.trail.Notification
	at := d.At
	if at.IsZero() {
		at = n.AcceptedAt
	}
	what := ""
	switch d.Action {
	case tidings.ActionSend:
		what = "send to " + places(d.Channel, d.Addresses)
	case tidings.ActionHold:
		what = "hold until " + w.clock(d.Until) + ", since " + because(d.Reason, d.Channel, n.Category)
	case tidings.ActionSuppress:
		what = "do not send, since " + because(d.Reason, d.Channel, n.Category)
	}
	w.add(at, kindDecided, tidings.DeliveryID{}, sentence(noun(d.Channel)+": "+what))
}

func (w *teller) delivery(d *store.TrailDelivery) {
	which := noun(d.Channel) + " to " + observe.Masked(d.Channel, d.Address)
	w.add(d.QueuedAt, kindQueued, d.ID, sentence(which+" queued for "+string(d.Lane)))
	if !d.SidelinedAt.IsZero() {
		w.add(d.SidelinedAt, kindQueued, d.ID, sentence(which+" set aside (sidelined), since "+because(tidings.ReasonSidelined, d.Channel, "")))
	}
	for i := range d.Attempts {
		a := &d.Attempts[i]
		w.add(a.EndedAt, kindAttempt, d.ID, w.attempt(a))
	}
	for _, r := range d.Receipts {
		w.add(r.At, kindReceipt, d.ID, w.receipt(r))
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
		w.add(at, kindExpired, d.ID, sentence(which+": it is too late to be of use"))
	case tidings.Dead:
		w.add(d.FinishedAt, kindDecided, d.ID, sentence(which+" is set aside for a person, since "+because(d.Reason, d.Channel, w.trail.Notification.Category)))
	case tidings.Suppressed:
		w.add(d.FinishedAt, kindDecided, d.ID, sentence(which+": do not send, since "+because(d.Reason, d.Channel, w.trail.Notification.Category)))
	}
}

// attempt is what came of one provider call.
func (w *teller) attempt(a *tidings.Attempt) string {
	who := vendor(a.Provider, w.providers)
	text := ""
	switch {
	case a.Outcome == tidings.OK && w.trail.Notification.Test:
		text = "simulated for a test key; " + who + " was not called"
	case a.Outcome == tidings.OK:
		text = who + " accepted it"
	case a.Outcome == tidings.NotSent:
		text = who + " could not be reached; nothing was sent" + aside(a)
	case a.Outcome == tidings.OutcomeUnknown && !answered(a):
		text = who + " gave no clear answer" + aside(a)
	case a.HTTPStatus > 0 || a.Code != "":
		text = who + " answered" + code(a)
	default:
		text = who + " did not take it (" + strings.ReplaceAll(string(a.Outcome), "_", " ") + ")"
	}
	if a.Late {
		text += ", after its time was up"
	}
	if !a.RetryAt.IsZero() {
		text += "; next try at " + w.clock(a.RetryAt)
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// answered reports whether the code is a provider's: one that begins with a digit, as replies of
// mail servers do, or one beside a status. Others name what our side was at.
func answered(a *tidings.Attempt) bool {
	return a.HTTPStatus > 0 || a.Code != "" && a.Code[0] >= '0' && a.Code[0] <= '9'
}

// aside is the code where it is a detail: how far it came, or what the provider said.
func aside(a *tidings.Attempt) string {
	if text := strings.TrimSpace(code(a)); text != "" {
		return " (" + strings.ReplaceAll(text, "_", " ") + ")"
	}
	return ""
}

// code is the provider's answer: status and code.
func code(a *tidings.Attempt) string {
	text := ""
	if a.HTTPStatus > 0 {
		text = fmt.Sprintf(" %d", a.HTTPStatus)
	}
	if a.Code != "" {
		text += " " + a.Code
	}
	return text
}

func (w *teller) receipt(r tidings.Receipt) string {
	text := vendor(r.Provider, w.providers) + " reports: " + string(r.Status)
	if r.Code != "" {
		text += " (" + r.Code + ")"
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// clock is an instant in the timeline: the time of day, and the day when it is not the day of acceptance.
func (w *teller) clock(t time.Time) string {
	return at(t, w.trail.Notification.AcceptedAt)
}
