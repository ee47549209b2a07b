package trail

import (
	"fmt"
	"strings"
	"time"

	"tidings"
	"tidings/internal/store"
)

// Summary is what became of a notification, channel by channel, in one sentence.
func Summary(t *store.Trail, s Service, now time.Time) string {
	w := telling{s, t, now}
	var clauses []string
	for _, d := range t.Notification.Decisions {
		if d.Reason == tidings.ReasonNotRequested && len(t.Notification.Decisions) > 1 {
			continue // nobody misses what nobody asked for
		}
		clauses = append(clauses, w.clause(d))
	}
	if len(clauses) == 0 {
		return "Nothing was asked for."
	}
	if parts := len(t.Parts); parts > 0 {
		clauses = append(clauses, "it tells of "+events(parts))
	}
	return sentence(strings.Join(clauses, "; "))
}

// clause is what became of one channel.
func (w *telling) clause(d tidings.Decision) string {
	t, now := w.trail, w.now
	var mine []stand
	for i := range t.Deliveries {
		if t.Deliveries[i].Channel == d.Channel {
			s := w.stand(&t.Deliveries[i])
			s.cause = causeOf(t, &t.Deliveries[i])
			s.refused = refusedAt(t, s.reason, s.cause, d.Channel, t.Deliveries[i].FinishedAt)
			s.quiet, s.by = quietUntil(t, &t.Deliveries[i], w.now)
			mine = append(mine, s)
		}
	}
	subject := noun(d.Channel)
	if len(mine) > 0 {
		return subject + " " + deliveries(d.Channel, t.Notification.Category, mine, now)
	}
	if p := partOf(t, d.Channel); p != nil {
		return fmt.Sprintf("%s is part of the digest %s, which %s", subject, p.Digest.ID, ofDigest(p, d.Channel, t.Notification.Category, now)) + leftOut(t, d.Channel)
	}
	if forgotten(t, d) {
		return subject + " was part of a digest of which nothing is known any more"
	}
	for _, h := range t.Holds {
		if h.Channel == d.Channel && h.State == tidings.HoldWaiting {
			return fmt.Sprintf("%s is held until %s: %s", subject, at(h.Until, now), holding(h.Reason, causeOfHold(&h, &d), d.Channel, t.Notification.Category))
		}
		if h.Channel == d.Channel && h.State == tidings.HoldCancelled && d.Action != tidings.ActionSuppress {
			return subject + " was called off " + meanwhile(t, &h) + byOthers(h.CalledOff)
		}
	}
	switch {
	case d.Action == tidings.ActionHold:
		return fmt.Sprintf("%s is held until %s: %s", subject, at(d.Until, now), holding(d.Reason, d.Cause, d.Channel, t.Notification.Category))
	case d.Reason != "":
		return subject + " was not sent: " + because(d.Reason, d.Cause, d.Channel, t.Notification.Category) + since(refusedAt(t, d.Reason, d.Cause, d.Channel, d.At), now)
	case !t.Notification.CancelledAt.IsZero():
		return subject + " was called off"
	}
	return subject + " is being prepared"
}

// A stand is where one delivery stands.
type stand struct {
	status  tidings.Status
	final   bool
	reason  tidings.Reason
	cause   tidings.Cause // of the reason
	due     time.Time     // of the next try, or the end of waiting
	since   time.Time     // when it was reached
	refused time.Time     // when the user opted out, if that is the reason
	wait    string        // what it waits for, as predicate says it; empty: it does not
	kept    bool          // the provider knows only an older registration of the address
	quiet   time.Time     // the end of quiet hours that it waits for; zero: it does not
	by      tidings.Cause // whose they are, where they are not the user's
	maybe   bool          // an attempt was left without a clear answer, so it may have arrived
	off     bool          // it is called off while it is under way, and so not tried again
}

func (w *telling) stand(d *store.TrailDelivery) stand {
	status, final := d.Shown(w.trail.Notification.ExpiresAt, w.now)
	s := stand{status: status, final: final, reason: reason(d, status), due: d.DueAt, since: d.FinishedAt, maybe: maybeArrived(d.Attempts), kept: keptAddress(d)}
	s.off = !final && w.calledOff(d)
	if status == tidings.Queued || status == tidings.Retrying {
		s.wait = w.wait(d)
	}
	if status != tidings.Delivered {
		return s
	}
	var arrived time.Time
	for _, r := range d.Receipts { // the first word of its arrival counts, not when it was sent
		if r.Status == tidings.ReceiptDelivered && (arrived.IsZero() || r.At.Before(arrived)) {
			arrived = r.At
		}
	}
	if !arrived.IsZero() {
		s.since = arrived
	}
	return s
}

// calledOff reports whether a delivery bears the mark of a cancel, an erasure, or a newer one in its place.
func (w *telling) calledOff(d *store.TrailDelivery) bool {
	return !w.trail.Notification.CancelledAt.IsZero() || d.Reason == tidings.ReasonErased || d.Reason == tidings.ReasonSuperseded
}

// reached reports whether a provider took it, as far as anybody knows.
func (s stand) reached() bool { return s.status == tidings.Delivered || s.status == tidings.Sent }

// deliveries is what became of the deliveries of one channel: who was reached, else where the
// most hopeful one stands.
func deliveries(c tidings.Channel, category string, all []stand, now time.Time) string {
	var reached []stand
	best := all[0]
	for _, s := range all {
		if s.reached() {
			reached = append(reached, s)
		}
		if hope(s) < hope(best) {
			best = s
		}
	}
	if len(reached) > 0 {
		return success(c, reached, len(all), now) + also(all, now)
	}
	same := 0
	for _, s := range all {
		if s.status == best.status && s.reason == best.reason && s.wait == best.wait && s.maybe == best.maybe {
			same++
		}
	}
	text := predicate(c, category, best, now)
	switch {
	case len(all) == 1:
		return text
	case same == len(all):
		return fmt.Sprintf("to %s %s", places(c, len(all)), text)
	}
	return fmt.Sprintf("to %d of %s %s", same, places(c, len(all)), text)
}

// success is how a channel reached somebody.
func success(c tidings.Channel, reached []stand, all int, now time.Time) string {
	first := reached[0]
	for _, s := range reached {
		if s.status == tidings.Delivered && first.status != tidings.Delivered || s.status == first.status && s.since.Before(first.since) {
			first = s
		}
	}
	when := at(first.since, now)
	if first.reason == tidings.ReasonSimulated {
		return "was only simulated, for a test key, at " + when
	}
	switch {
	case c == tidings.Push && all == 1:
		return "reached the device at " + when
	case c == tidings.Push:
		return fmt.Sprintf("reached %d of %s at %s", len(reached), places(c, all), when)
	}
	verb := "was sent"
	if first.status == tidings.Delivered {
		verb = "was delivered"
	}
	if all > 1 {
		verb += fmt.Sprintf(" to %d of %s", len(reached), places(c, all))
	}
	return verb + " at " + when
}

// also tells of what is still under way beside what was reached.
func also(all []stand, now time.Time) string {
	waiting := 0
	for _, s := range all {
		if !s.final {
			waiting++
		}
	}
	if waiting == 0 {
		return ""
	}
	return fmt.Sprintf(", and %d more under way", waiting)
}

// hope orders stands from the most to the least hopeful. An end that leaves doubt is as good as any
// that nobody knows of.
func hope(s stand) int {
	if s.doubtful() {
		s.status = tidings.Unknown
	}
	order := []tidings.Status{tidings.Delivered, tidings.Sent, tidings.Sending, tidings.Queued, tidings.Retrying, tidings.Unknown,
		tidings.Dead, tidings.Bounced, tidings.Failed, tidings.Expired, tidings.Cancelled, tidings.Suppressed}
	for i, status := range order {
		if s.status == status {
			return i
		}
	}
	return len(order)
}

// predicate is where one delivery stands, after the name of its channel.
func predicate(c tidings.Channel, category string, s stand, now time.Time) string {
	why := reasons(c, category, s, now)
	if text := doubtful(s, why); text != "" {
		return text
	}
	if why != "" {
		why = ": " + why
	}
	switch {
	case !s.quiet.IsZero() && !s.final:
		return putOff(at(s.quiet, now), s.by, c, category)
	case s.wait != "":
		return s.wait
	}
	if s.status == tidings.Queued {
		return "is on its way" + why
	}
	switch s.status {
	case tidings.Sending:
		if s.off && why == "" {
			why = "; it was called off meanwhile, so it is not tried again"
		}
		return "is being sent" + why
	case tidings.Retrying:
		return yet(s.maybe) + "; the next try is about to begin" + why
	case tidings.Unknown:
		return unknown(s, now)
	case tidings.Bounced:
		return "came back" + why
	case tidings.Failed:
		return "could not be delivered" + why
	case tidings.Expired:
		return "was not sent in time" + why
	case tidings.Cancelled:
		return "was called off" + cause(s, tidings.ReasonCancelled, why)
	case tidings.Suppressed:
		return "was not sent" + why
	case tidings.Dead:
		return "could not be delivered and needs a person" + why
	}
	return string(s.status) + why
}

// reasons is why a delivery stands where it does, in words that fit after a colon; empty: its status
// says it.
func reasons(c tidings.Channel, category string, s stand, now time.Time) string {
	switch {
	case s.kept:
		return "the provider knows only an older registration of the " + place(c, 1) + ", which stays in use"
	case s.reason == "" || !s.final && !lives(s.reason):
		return ""
	}
	return because(s.reason, s.cause, c, category) + since(s.refused, now)
}

// lives reports whether a reason says something of a delivery that is not over.
func lives(r tidings.Reason) bool {
	return r == tidings.ReasonRedriven || r == tidings.ReasonSidelined || r == tidings.ReasonSuperseded
}

// keptAddress reports whether a delivery failed since its provider knows only an older
// registration of the address.
func keptAddress(d *store.TrailDelivery) bool {
	last := lastTry(d)
	return d.Reason == tidings.ReasonRecipientRejected && last != nil && last.Outcome == tidings.RecipientDead
}

// cause leaves out a reason that says what the status says.
func cause(s stand, same tidings.Reason, why string) string {
	if s.reason == same {
		return ""
	}
	return why
}
