package tidings

import (
	"cmp"
	"encoding/json"
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
	OptIn       = "opt_in"        // a recorded consent comes first
	OptOut      = "opt_out"       // on until refused
	DoubleOptIn = "double_opt_in" // a consent that the person confirmed by a link comes first
)

// A QuietRule says what quiet hours do to a category that is not critical.
type QuietRule string

// The rules for quiet hours.
const (
	QuietHold QuietRule = "hold" // wait for their end; the default
	QuietDrop QuietRule = "drop" // of no use later: not sent
)

// A Scope is how much an opt-out from outside the preferences covers.
type Scope string

// The scopes of an opt-out.
const (
	ScopeCategory Scope = "category" // the category that it answers; the default
	ScopeChannel  Scope = "channel"  // all on the channel that is not critical
	ScopeAll      Scope = "all"      // all that is not critical
)

// A Category is what a user can opt out of.
type Category struct {
	Name       string
	Kind       CategoryKind
	Consent    string           // OptIn, OptOut or DoubleOptIn; marketing only
	Channels   map[Channel]bool // what holds until the user says otherwise; absent: true
	CapPerUser Cap
	QuietHours QuietRule     // empty: QuietHold
	OptOut     Scope         // of an unsubscribe or a complaint; empty: ScopeCategory
	Retention  time.Duration // how long the detail is kept; 0: as long as the deployment says
	// Titles and Descriptions are what people read of it, by locale; without a title they read its name.
	Titles, Descriptions map[string]string
	FreshFor             time.Duration // later than this after it came to be, a delivery waits aside; 0: never
	OnUnknown            *OnUnknown
}

// AsksFirst reports whether the category needs a yes of the user before the first message.
func (c *Category) AsksFirst() bool { return c.Kind == Marketing && c.Consent != OptOut }

// AsksTwice reports whether a yes to the category counts once it is confirmed.
func (c *Category) AsksTwice() bool { return c.Kind == Marketing && c.Consent == DoubleOptIn }

// A Cap is at most Count notifications in any span of Per; the zero Cap is none. Above it they
// are dropped, or with Hold wait until there is room again.
type Cap struct {
	Count int
	Per   time.Duration
	Hold  bool
}

// A Limit is a Cap with what it counts. Users have a count of their own for each Scope.
type Limit struct {
	Cap
	Scope  string // "user", "category:NAME" or "type:NAME"
	Reason Reason // why what is above it is not sent
}

// Free is the first instant from now on at which the limit lets one more through, given the
// instants, oldest first, of those before it.
func (l *Limit) Free(told []time.Time, now time.Time) time.Time {
	if len(told) < l.Count {
		return now
	}
	free := told[len(told)-l.Count].Add(l.Per) // when the oldest of the last Count counts no more
	if free.Before(now) {
		return now
	}
	return free
}

// A Window is when in the week phones of a country may be disturbed by marketing: a Span for each
// time.Weekday, on the clock of who is called.
type Window [7]Span

// A Span is a part of a day in minutes since midnight, from From up to and without To; From 0 and To 0: no part of it.
type Span struct{ From, To int }

// A Digest gathers the events of a type, for one user and one key, and tells of them at once.
type Digest struct {
	Key      string        // the member of the data whose value is the key; empty: one digest for all
	Window   time.Duration // it closes so long after its first event
	Max      int           // or with so many events
	Channels []Channel     // that are digested; the others of the event type are told of each event
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
	Digest       *Digest       // nil: each event is told of for itself
	Thread       string        // the member of the data whose value is the thread that a user can mute; empty: none
	Limits       []Limit       // all that count this type, narrowest first; none for critical ones
	// Windows are what the catalogue says of hours of marketing SMS, by country (ISO 3166) or "*", in place of the law as we know it.
	Windows map[string]Window
	Brake   Cap // above it a user is told no more of this type: somebody's loop; 0: none
	Data    map[string]Field
}

// Fresh is for how long a delivery of the event type is fresh work; 0: always.
func (e *EventType) Fresh() time.Duration { return cmp.Or(e.FreshFor, e.Category.FreshFor) }

// ThreadOf is the key of the thread that an event with this data belongs to; empty: none.
func (e *EventType) ThreadOf(data json.RawMessage) string {
	if e.Thread == "" {
		return ""
	}
	return memberText(data, e.Thread)
}

// KeyOf is the key of the digest that an event with this data joins.
func (d *Digest) KeyOf(data json.RawMessage) string {
	if d.Key == "" {
		return ""
	}
	return memberText(data, d.Key)
}

// memberText is one member of an object as a key: a text as it is, another value as its JSON,
// empty when there is none.
func memberText(data json.RawMessage, name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(members[name], &text) == nil {
		return text
	}
	return string(members[name])
}

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
