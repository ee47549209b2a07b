package store

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tidings"
)

// The kinds under which the timeline keeps remarks.
const (
	kindPutBack = "queued"   // what a worker had in hand waits again
	kindNoWord  = "decided"  // the wait for a receipt is over
	kindCause   = "decided"  // why a delivery ended, where its reason covers several things
	kindHeld    = "held"     // what had been decided before it was decided again
	kindLeft    = "released" // what a digest told of, and goes on without
	kindRetired = "address_retired"
	kindAside   = "decided" // an address is used no more until it is registered again
	kindDied    = "died"    // what a delivery died of that is dead no more
)

// causeIs begins a remark that tells a cause.
const causeIs = "the cause is "

// Cause is why the delivery of the moment ended, where its reason covers several things.
func (m Moment) Cause() (cause tidings.Cause, ok bool) {
	text, ok := strings.CutPrefix(m.Text, causeIs)
	return tidings.Cause(text), ok && m.Kind == kindCause
}

// Died is what the delivery of the moment died of, which is dead no more.
func (m Moment) Died() (why tidings.Reason, ok bool) {
	return tidings.Reason(m.Text), m.Kind == kindDied
}

// Decision is what had been decided for a channel before it was decided again.
func (m Moment) Decision() (d tidings.Decision, ok bool) { return m.decision(kindHeld) }

// LeftOut is why those messages of a digest do not tell of a part that go out after others on the
// same channel have.
func (m Moment) LeftOut() (d tidings.Decision, ok bool) { return m.decision(kindLeft) }

// gatheredIn begins what the timeline of a part says once its digest is a notification.
const gatheredIn = "part of the digest "

// Gathered reports whether a digest that tells of the notification was closed at the moment.
func (m Moment) Gathered() bool { return m.Kind == kindLeft && strings.HasPrefix(m.Text, gatheredIn) }

func (m Moment) decision(kind string) (d tidings.Decision, ok bool) {
	if m.Kind != kind || !strings.HasPrefix(m.Text, "{") {
		return d, false
	}
	return d, json.Unmarshal([]byte(m.Text), &d) == nil
}

// superseded adds to the timelines decisions to hold that others have taken the place of.
func (t *tx) superseded(of []tidings.NotificationID, held []tidings.Decision) error {
	return t.each("timeline_add", len(held), func(i int) []any { return decisionArgs(of[i], kindHeld, &held[i]) }, nil)
}

// decisionArgs are those of a moment that bears a decision about a channel.
func decisionArgs(ntf tidings.NotificationID, kind string, d *tidings.Decision) []any {
	text, _ := json.Marshal(d) // of texts and times alone
	return []any{ntf[:], d.At.UnixMicro(), kind, ordinalOf(d.Channel), string(text)}
}

// ordinalOf sets moments of several channels of a notification apart from each other and from those of its deliveries.
func ordinalOf(c tidings.Channel) int64 {
	return wholeNotification - 1 - int64(slices.Index(tidings.Channels(), c))
}

// deaths keeps in the timelines what those of some deliveries died of that are dead, and are about to be so no more.
func (t *tx) deaths(ids []tidings.DeliveryID) error {
	return t.each("death_told", len(ids), func(i int) []any { return keyArgs(ids[i]) }, nil)
}

// A remark is what the timeline tells of one delivery, in words for people.
type remark struct {
	id   tidings.DeliveryID
	at   time.Time
	kind string
	text string
}

// remark writes remarks, in the order in which they are given.
func (t *tx) remark(all []remark) error {
	return t.each("timeline_add", len(all), func(i int) []any {
		ntf := tidings.NotificationOf(all[i].id)
		return []any{ntf[:], all[i].at.UnixMicro(), all[i].kind, int64(tidings.OrdinalOf(all[i].id)), all[i].text}
	}, nil)
}

// noWordCame begins what is told then.
const noWordCame = "no receipt came in time"

// NoWord reports whether the delivery of the moment waited for a receipt in vain.
func (m Moment) NoWord() bool { return m.Kind == kindNoWord && strings.HasPrefix(m.Text, noWordCame) }

// noWord is what is told when a delivery waited for a receipt in vain.
func noWord(r Resolution) string {
	switch {
	case r.Status == tidings.Parked:
		return noWordCame + ", so it is tried again"
	case r.Why != "":
		return noWordCame + ", and it is not tried again, since " + r.Why
	}
	return noWordCame
}
