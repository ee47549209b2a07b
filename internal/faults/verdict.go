// Package faults breaks the service on purpose and judges what it did: seams that fail, schedules
// that say when, and the invariants that must hold whatever happened.
//
// It promises that a verdict rests on what others saw: the answers that callers got, the trails that
// the API shows, and the ledger of the providers. It must never be needed by the service itself.
package faults

import (
	"fmt"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
)

// A History is what is known of a run once it has come to rest.
type History struct {
	Posts      []Post            // every event that was answered with 202, or 200 for one posted again
	Unanswered int               // events whose callers never got an answer: each may be in the log or not
	Trails     []wire.Trail      // every notification in the log, as the API shows it at the end
	Ledger     []simulator.Entry // every send that a provider accepted
	Sightings  []Sighting        // looks at trails during the run, in the order of time
	Stops      []Stop            // what people were promised not to get any more
	Leaks      []Leak            // secrets and addresses found where they must not be; see FindLeaks
	Ended      time.Time         // when the trails were read
	Alive      []Span            // when a process that delivers lived; nil: all the time
	Patience   time.Duration     // how long after the end of its lease a claim may be open: the sweep, and what a restart takes
	Slack      time.Duration     // how long after a stop a provider may still accept: a second, and its longest delay
}

// A Span is from one instant to another.
type Span struct{ From, To time.Time }

// A Post is an event and the notification that its caller was told of.
type Post struct {
	Key  string // dedupe key; empty: none
	ID   tidings.NotificationID
	Mark string // a message that tells of the event has this word between # and a semicolon; empty: none can be told by its text
}

// A Sighting is a delivery as it was shown during the run.
type Sighting struct {
	At       time.Time
	Delivery wire.Delivery
}

// A Stop is an opt-out that was answered at an instant.
type Stop struct {
	At       time.Time
	User     string
	Category string          // empty: all of them
	Channel  tidings.Channel // empty: all of them
}

// An Invariant is a promise that must hold whatever happened.
type Invariant string

// The invariants.
const (
	Ends         Invariant = "ends"          // every accepted notification comes to an end, be it as a part of a digest
	Sent         Invariant = "sent"          // what was not suppressed was accepted by a provider, or the trail says why not
	Once         Invariant = "once"          // more than one accept only where the trail shows an unknown attempt, and one digest at most
	Told         Invariant = "told"          // every accept is in the trail, and every success of the trail in the ledger
	Stopped      Invariant = "stopped"       // nothing is accepted after an opt-out, a cancel or the expiry
	Conserved    Invariant = "conserved"     // an event is one notification, with all of its deliveries
	Forward      Invariant = "forward"       // statuses never go back, attempts are never forgotten
	Discreet     Invariant = "discreet"      // no secret and no address in logs and lanes
	NotAbandoned Invariant = "not_abandoned" // no claim stays open long after its lease
)

// Invariants is every invariant.
func Invariants() []Invariant {
	return []Invariant{Ends, Sent, Once, Told, Stopped, Conserved, Forward, Discreet, NotAbandoned}
}

// A Violation is one promise that was broken.
type Violation struct {
	Invariant    Invariant
	Notification tidings.NotificationID // zero: of none
	Delivery     tidings.DeliveryID     // zero: of none
	Text         string
}

// String is the violation in one line.
func (v Violation) String() string {
	at := ""
	if !v.Notification.IsZero() {
		at = v.Notification.String() + " "
	}
	if !v.Delivery.IsZero() {
		at = v.Delivery.String() + " "
	}
	return string(v.Invariant) + ": " + at + v.Text
}

// A Verdict is what came of a run.
type Verdict struct {
	Violations []Violation
	Figures    Figures
}

// Figures count what came of a run.
type Figures struct {
	Accepted    int `json:"accepted"`    // events answered with an id
	Deliveries  int `json:"deliveries"`  // of all notifications in the log
	Accepts     int `json:"accepts"`     // sends that providers accepted
	Lost        int `json:"lost"`        // notifications answered with an id that the log lacks, or that came to no end
	Unknown     int `json:"unknown"`     // attempts whose outcome nobody knows
	Doubled     int `json:"doubled"`     // accepts above one that the trail shows as possible
	Unexplained int `json:"unexplained"` // accepts above one that it does not
	Digests     int `json:"digests"`     // notifications that tell of others
	Gathered    int `json:"gathered"`    // times that a notification is told of by one, channel by channel
}

// Holds is true where no invariant is broken.
func (v Verdict) Holds() bool { return len(v.Violations) == 0 }

// Check judges a run by every invariant.
func Check(h History) Verdict {
	c := newChecker(h)
	c.posts()
	for i := range h.Trails {
		c.trail(&h.Trails[i])
	}
	c.strangers()
	c.digests()
	c.sightings()
	for _, l := range h.Leaks {
		c.broken(Discreet, tidings.NotificationID{}, "%s is in %s", l.What, l.Where)
	}
	return Verdict{Violations: c.violations, Figures: c.figures}
}

// A checker collects what is broken.
type checker struct {
	History
	trails     map[tidings.NotificationID]*wire.Trail
	accepts    map[tidings.DeliveryID][]simulator.Entry
	violations []Violation
	figures    Figures
}

func newChecker(h History) *checker {
	c := &checker{History: h, trails: map[tidings.NotificationID]*wire.Trail{}, accepts: map[tidings.DeliveryID][]simulator.Entry{}}
	for i := range h.Trails {
		c.trails[h.Trails[i].ID] = &h.Trails[i]
	}
	for _, e := range h.Ledger {
		id, err := tidings.ParseDeliveryID(e.DeliveryID)
		if err != nil {
			c.broken(Told, tidings.NotificationID{}, "%s accepted something that names no delivery: %q", e.Provider, e.DeliveryID)
			continue
		}
		c.accepts[id] = append(c.accepts[id], e)
	}
	c.figures.Accepts = len(h.Ledger)
	return c
}

func (c *checker) broken(i Invariant, n tidings.NotificationID, format string, args ...any) {
	c.violations = append(c.violations, Violation{Invariant: i, Notification: n, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) brokenBy(i Invariant, d *wire.Delivery, format string, args ...any) {
	v := Violation{Invariant: i, Notification: tidings.NotificationOf(d.ID), Delivery: d.ID, Text: fmt.Sprintf(format, args...)}
	c.violations = append(c.violations, v)
}
