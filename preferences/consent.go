package preferences

import (
	"time"

	"tidings"
)

// A Consent is where the ledger of a category stands for a user.
type Consent struct {
	State ConsentState      `json:"state"`
	At    time.Time         `json:"at"`
	Line  tidings.ConsentID `json:"line,omitzero"` // the newest that asked for it; of a given one, the last that was confirmed

	Asked map[tidings.Channel]Asking `json:"asked,omitempty"` // what waits for a link, beside what is given; never changed in place
}

// A ConsentState says whether somebody agreed, or what else a line of the ledger tells.
type ConsentState string

// The states of a consent, which are also the actions of the ledger.
const (
	ConsentAsked     ConsentState = "asked"     // agreed once, to all that was agreed to, and is to confirm it by a link
	ConsentGiven     ConsentState = "given"     // agreed, and confirmed it where that is asked for
	ConsentWithdrawn ConsentState = "withdrawn" // took it back
)

// What else a line of the ledger tells.
const (
	ThreadMuted ConsentState = "muted"
	ThreadHeard ConsentState = "unmuted"
	SettingSet  ConsentState = "set" // a setting was changed
)

// Agrees reports whether the user agreed to a category that asks first, on a channel, and confirmed
// that where it asks twice. Who said yes to some of its channels only agreed to those.
func (p *Preferences) Agrees(category string, channel tidings.Channel) bool {
	if stands := p.Consents[category]; stands.State != ConsentGiven || stands.Waits(channel) {
		return false
	}
	choice, named := p.Categories[category]
	return !named || choice.asks(channel)
}

// Agree says yes to a category, no to it with yes false: what a person answered to a question
// about the whole category. An earlier no to one of its channels stays; no ends every earlier yes.
func (p *Preferences) Agree(category string, yes bool) {
	choice := p.Categories[category]
	next := Choice{All: &yes}
	for channel, on := range choice.Channels {
		if yes || !on {
			next.set(channel, on)
		}
	}
	p.choose(category, next)
}

// OptOut switches off as much as the category's opt-out covers: the category, the channel on which
// the person answered, or all. What is critical cannot be switched off. Without a channel an
// opt-out of the channel is one of the category.
func (p *Preferences) OptOut(c *tidings.Category, channel tidings.Channel) {
	off := false
	switch {
	case c.OptOut == tidings.ScopeAll:
		p.All = &off
	case c.OptOut == tidings.ScopeChannel && channel != "":
		p.Channels = put(p.Channels, channel, &off)
	case c.Kind != tidings.Critical:
		p.Agree(c.Name, false)
	}
}

func (p *Preferences) choose(category string, c Choice) {
	if p.Categories == nil {
		p.Categories = map[string]Choice{}
	}
	p.Categories[category] = c
}

func (p *Preferences) stand(category string, c Consent) {
	if p.Consents == nil {
		p.Consents = map[string]Consent{}
	}
	p.Consents[category] = c
}
