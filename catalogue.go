package tidings

import (
	"cmp"
	"time"
)

// CategoryKind says how far a user's preferences reach into a category.
type CategoryKind string

// The kinds of category.
const (
	Critical      CategoryKind = "critical"      // preferences never silence it
	Transactional CategoryKind = "transactional" // on until refused
	Marketing     CategoryKind = "marketing"     // consent and opt-out rules apply
)

// The consents that a marketing category can ask for.
const (
	OptIn  = "opt_in"  // a recorded consent comes first
	OptOut = "opt_out" // on until refused
)

// A Category is what a user can opt out of.
type Category struct {
	Name       string
	Kind       CategoryKind
	Consent    string // OptIn or OptOut; marketing only
	CapPerUser Cap
	FreshFor   time.Duration // later than this after it came to be, a delivery waits aside; 0: never
	OnUnknown  *OnUnknown
}

// A Cap is at most Count notifications in any span of Per; the zero Cap is none.
type Cap struct {
	Count int
	Per   time.Duration
}

// OnUnknown says what to do when nobody knows whether a provider accepted: wait for a
// receipt as long as Wait, then retry or give up.
type OnUnknown struct {
	Wait  time.Duration
	Retry bool
}

// An EventType is what apps may post.
type EventType struct {
	Name         string
	Category     Category
	Channels     []Channel // in the order of decisions
	Priority     Priority
	Sensitive    bool
	ExpiresIn    time.Duration // 0: the deployment's default
	DedupeWindow time.Duration // 0: the deployment's default
	FreshFor     time.Duration // 0: the category's
	OnUnknown    *OnUnknown    // nil: the category's, else the channel's
	Data         map[string]Field
}

// Fresh is for how long a delivery of the event type is fresh work; 0: always.
func (e *EventType) Fresh() time.Duration { return cmp.Or(e.FreshFor, e.Category.FreshFor) }

// A Field describes one member of an event's data, for lint, preview and the demo.
type Field struct {
	Type    string // string, number, integer, boolean, array, object
	Example any
}

// Unknown is the rule for an unknown outcome on a channel: the event type's, else its
// category's, else the channel's. Push, inbox and webhook repeat, since the id makes a copy
// replace the first; SMS and e-mail wait for a receipt first, marketing then gives up.
func (e *EventType) Unknown(c Channel) OnUnknown {
	switch {
	case e.OnUnknown != nil:
		return *e.OnUnknown
	case e.Category.OnUnknown != nil:
		return *e.Category.OnUnknown
	case c == SMS || c == Email:
		if e.Category.Kind == Marketing {
			return OnUnknown{Wait: 15 * time.Minute}
		}
		return OnUnknown{Wait: 2 * time.Minute, Retry: true}
	}
	return OnUnknown{Retry: true}
}

// Content is what a template renders to for one channel; each channel uses its own members.
type Content struct {
	Title string            // push, inbox
	Body  string            // push, inbox, SMS
	URL   string            // push, inbox
	Data  map[string]string // push

	Subject string // e-mail
	From    string // e-mail; empty: the provider's
	HTML    string // e-mail
	Text    string // e-mail
}
