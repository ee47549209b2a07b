// Package preferences decides whether an event may reach a user, where and when.
//
// It promises that Decide and Check are pure: the same facts and the same instant give the
// same answer. It must never read a clock, a database or a network.
package preferences

import (
	"maps"
	"time"

	"tidings"
)

// Preferences are what a user wants. The zero value refuses nothing.
type Preferences struct {
	All        *bool                      `json:"all,omitempty"` // false: nothing that is not critical
	Channels   map[tidings.Channel]bool   `json:"channels,omitempty"`
	Categories map[string]Choice          `json:"categories,omitempty"`
	Threads    map[string]map[string]bool `json:"threads,omitempty"` // by category and key; only false, which mutes, is kept
	QuietHours *Hours                     `json:"quiet_hours,omitempty"`
	Consents   map[string]Consent         `json:"consents,omitempty"` // by category: where the consent ledger stands
	Version    int64                      `json:"version"`
}

// Same reports whether two show the same: all that is not said of them is as it is unless refused.
// Where consents stand is not shown, and neither is the version.
func (p *Preferences) Same(q *Preferences) bool {
	return (p.refusesAll() == "") == (q.refusesAll() == "") &&
		maps.Equal(p.Channels, q.Channels) && maps.EqualFunc(p.Categories, q.Categories, Choice.same) &&
		maps.EqualFunc(p.Threads, q.Threads, maps.Equal) && same(p.QuietHours, q.QuietHours)
}

func (c Choice) same(d Choice) bool { return same(c.All, d.All) && maps.Equal(c.Channels, d.Channels) }

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

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

// asks reports whether the choice says yes to a channel, by its name or to all.
func (c Choice) asks(channel tidings.Channel) bool {
	if on, named := c.Channels[channel]; named {
		return on
	}
	return c.All != nil && *c.All
}

// asksAny reports whether the choice says yes to anything.
func (c Choice) asksAny() bool {
	for _, on := range c.Channels {
		if on {
			return true
		}
	}
	return c.All != nil && *c.All
}

func (p *Preferences) refusesAll() tidings.Reason {
	if p.All != nil && !*p.All {
		return tidings.ReasonOptedOutAll
	}
	return ""
}

func (p *Preferences) refusesChannel(channel tidings.Channel) tidings.Reason {
	if on, named := p.Channels[channel]; named && !on {
		return tidings.ReasonOptedOutChannel
	}
	return ""
}

func (p *Preferences) refusesCategory(category string, channel tidings.Channel) tidings.Reason {
	if choice, named := p.Categories[category]; named && !choice.allows(channel) {
		return tidings.ReasonOptedOutCategory
	}
	return ""
}

func (p *Preferences) refusesThread(category, thread string) tidings.Reason {
	if on, named := p.Threads[category][thread]; named && !on {
		return tidings.ReasonOptedOutCategory
	}
	return ""
}

// lacksConsent says that a yes of the user is missing: to marketing that asks for one, or to a
// channel on which the category is off until the user switches it on.
func (p *Preferences) lacksConsent(c *tidings.Category, channel tidings.Channel) tidings.Reason {
	if c.Kind == tidings.Critical {
		return ""
	}
	if c.AsksFirst() && !p.Agrees(c.Name, channel) {
		return tidings.ReasonConsentMissing
	}
	if on, named := c.Channels[channel]; named && !on && !p.Categories[c.Name].asks(channel) {
		return tidings.ReasonConsentMissing
	}
	return ""
}

// consentCause is more of why a yes is missing on a channel: whether it is one to the channel alone.
func (p *Preferences) consentCause(c *tidings.Category) tidings.Cause {
	if c.AsksFirst() && p.Consents[c.Name].State != ConsentGiven {
		return ""
	}
	return tidings.CauseChannel
}

// disturbs reports whether a channel makes itself heard: the others wait quietly until they are looked at.
func disturbs(channel tidings.Channel) bool {
	return channel != tidings.Inbox && channel != tidings.Webhook
}

// A Suppression is a hard stop on an address value: the person said stop to a carrier, or mail to it bounced.
type Suppression struct {
	Channel tidings.Channel
	Reason  tidings.Reason // opted_out_channel, suppressed_bounce or suppressed_complaint
	At      time.Time
}

// Carries reports whether one of a channel's providers carries to an address of the channel. It must
// be pure: the same address, the same answer.
type Carries func(to *tidings.Address) bool

// Facts are what a decision depends on.
type Facts struct {
	User        tidings.User
	Addresses   []tidings.Address // of all channels and statuses, oldest first
	Preferences Preferences
	Suppressed  map[tidings.AddressID]Suppression
	Providers   map[tidings.Channel]Carries // of the channels with a configured provider
	Zone        *time.Location              // whose wall clock the user lives by; nil: UTC
	ZoneFrom    ZoneSource                  // how Zone was found; empty: not told
	Zones       *Zones                      // where their phones may be; nil: where the user is
	Told        map[string][]time.Time      // by scope of a limit: when the user was told something before, oldest first
	Braked      bool                        // the user gets too many of this type: somebody's loop
	Counted     time.Time                   // when Told and Braked were counted; zero: at the instant asked about
}

// called are the zones in one of which the user is when a phone rings.
func (f *Facts) called(phone string) []*time.Location {
	if f.Zones == nil {
		return []*time.Location{f.zone()}
	}
	return f.Zones.Called(&f.User, phone)
}

func (f *Facts) zone() *time.Location {
	if f.Zone == nil {
		return time.UTC
	}
	return f.Zone
}

// A Request is what is asked: one event of a type, at most on the channels named, not before SendAt.
type Request struct {
	Event     *tidings.EventType
	Channels  []tidings.Channel // nil: all of the event type
	SendAt    time.Time         // zero: at once
	Shifted   bool              // the user's clock never shows what SendAt was asked for as: it is the first instant after that
	ExpiresAt time.Time         // zero: never
	Thread    string            // what it belongs to, which a user can mute; empty: nothing
	Closes    time.Time         // when the digest closes that it joins where it is gathered; zero: a window from now
	Digest    bool              // it is itself a digest
	Continued bool              // it goes on with what the user was just told, which limits have counted
}
