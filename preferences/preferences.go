// Package preferences decides whether an event may reach a user, where and when.
//
// It promises that Decide and Check are pure: the same facts and the same instant give the
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

// A Choice is what a user wants of one category. A channel named here goes before All.
type Choice struct {
	All      *bool
	Channels map[tidings.Channel]bool
}

// allows reports whether the choice lets a channel through; silence is consent.
func (c Choice) allows(channel tidings.Channel) bool {
	if on, named := c.Channels[channel]; named {
		return on
	}
	return c.All == nil || *c.All
}

// refuses says why the user does not want a category on a channel; an empty reason means that
// they do not refuse it. Nobody can refuse what is critical.
func (p *Preferences) refuses(kind tidings.CategoryKind, category string, channel tidings.Channel) tidings.Reason {
	if kind == tidings.Critical {
		return ""
	}
	if p.All != nil && !*p.All {
		return tidings.ReasonOptedOutAll
	}
	if on, named := p.Channels[channel]; named && !on {
		return tidings.ReasonOptedOutChannel
	}
	if choice, named := p.Categories[category]; named && !choice.allows(channel) {
		return tidings.ReasonOptedOutCategory
	}
	return ""
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
	ExpiresAt time.Time         // zero: never
}
