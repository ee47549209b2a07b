// Package preferences decides whether an event may reach a user, where and when.
//
// It promises that Decide and Recheck are pure: the same facts and the same instant give the
// same answer. It must never read a clock, a database or a network.
package preferences

import (
	"time"

	"tidings"
)

// Preferences are what a user wants. The zero value refuses nothing.
type Preferences struct {
	All        *bool                    `json:"all,omitempty"` // false: nothing that is not critical
	Channels   map[tidings.Channel]bool `json:"channels,omitempty"`
	Categories map[string]Choice        `json:"categories,omitempty"`
	Version    int64                    `json:"version"`
}

// A Choice is what a user wants of one category: all of it, or channel by channel.
type Choice struct {
	All      *bool
	Channels map[tidings.Channel]bool
}

// A Suppression is a hard stop on an address value: the person said stop to a carrier, or mail to it bounced.
type Suppression struct {
	Channel tidings.Channel
	Reason  tidings.Reason // opted_out_channel, suppressed_bounce or suppressed_complaint
	At      time.Time
}

// Facts are what a decision depends on.
type Facts struct {
	User        tidings.User
	Addresses   []tidings.Address // of all channels and statuses, oldest first
	Preferences Preferences
	Suppressed  map[tidings.AddressID]Suppression
	Providers   map[tidings.Channel]bool // channels with a configured provider
}

// A Request is what is asked: one event of a type, at most on the channels named, not before SendAt.
type Request struct {
	Event     *tidings.EventType
	Channels  []tidings.Channel // nil: all of the event type
	SendAt    time.Time         // zero: at once
	ExpiresAt time.Time
}

// Decide answers for each channel of the event type, in its order.
func Decide(r Request, f Facts, now time.Time) []tidings.Decision { panic("not built") }

// A Recheck is what is looked at again right before a provider is called.
type Recheck struct {
	Kind        tidings.CategoryKind
	Category    string
	Channel     tidings.Channel
	Preferences Preferences
	Address     tidings.Address // as it is now; Status empty: deleted
	Owner       string          // the user the delivery is for
	Suppressed  *Suppression
	ExpiresAt   time.Time
	Cancelled   bool
}

// Check says whether a delivery may still go out: an empty status means yes, else what it
// ends as and why.
func Check(r Recheck, now time.Time) (tidings.Status, tidings.Reason) { panic("not built") }

// Patch applies a JSON merge patch (RFC 7396) to preferences; what it does not name stays.
// critical says whether a category is critical or unknown to the catalogue. Errors are *PatchError.
func (p Preferences) Patch(patch []byte, kind func(category string) (tidings.CategoryKind, bool)) (Preferences, error) {
	panic("not built")
}

// A PatchError is a member of a patch that cannot be taken.
type PatchError struct {
	Code    string // invalid_input, category_critical or not_supported
	Pointer string // RFC 6901
	Detail  string
}

// Error is the detail.
func (e *PatchError) Error() string { return e.Detail }
