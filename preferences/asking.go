package preferences

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"tidings"
)

// An Asking is a yes to a channel that waits for the person to confirm it.
type Asking struct {
	Line   tidings.ConsentID `json:"line,omitzero"`    // whose link confirms it; zero: none, until it is asked for
	Stands bool              `json:"stands,omitempty"` // the user agreed before, in other words: that goes on meanwhile
}

// Waits reports whether a channel is asked for and not agreed to yet.
func (c Consent) Waits(channel tidings.Channel) bool {
	asking, asked := c.Asked[channel]
	return asked && !asking.Stands
}

// Newest is the newest line whose link would confirm something; zero: nothing waits.
func (c Consent) Newest() (line tidings.ConsentID) {
	if c.State == ConsentAsked && c.Asked == nil {
		return c.Line
	}
	for _, asking := range c.Asked {
		if bytes.Compare(asking.Line[:], line[:]) > 0 {
			line = asking.Line
		}
	}
	return line
}

// SameConsent reports whether two agreed to the same of a category, and wait for the same links.
func (p *Preferences) SameConsent(q *Preferences, category string) bool {
	return (p.Consents[category].State == ConsentGiven) == (q.Consents[category].State == ConsentGiven) &&
		maps.Equal(p.asked(category), q.asked(category)) &&
		!slices.ContainsFunc(tidings.Channels(), func(channel tidings.Channel) bool {
			return p.Agrees(category, channel) != q.Agrees(category, channel)
		})
}

// asked is what waits for a link, in a map that shares nothing. A consent that was stored before
// that was kept by channel asks for all that the choice says yes to.
func (p *Preferences) asked(category string) map[tidings.Channel]Asking {
	stands, asked := p.Consents[category], map[tidings.Channel]Asking{}
	if stands.Asked != nil || stands.State != ConsentAsked {
		maps.Copy(asked, stands.Asked)
		return asked
	}
	choice, named := p.Categories[category]
	for _, channel := range tidings.Channels() {
		if !named || choice.asks(channel) {
			asked[channel] = Asking{Line: stands.Line}
		}
	}
	return asked
}

// Confirm makes what a line of the ledger asked for a consent that is given, and gives the lines that
// say so: none when nothing waits for it, since it was taken back or asked for by another line.
func (p *Preferences) Confirm(category string, line tidings.ConsentID, by Origin, now time.Time) []Entry {
	if line.IsZero() {
		return nil
	}
	asked := p.asked(category)
	var given []tidings.Channel
	for _, channel := range tidings.Channels() {
		if asking, waits := asked[channel]; waits && asking.Line == line {
			given = append(given, channel)
			delete(asked, channel)
		}
	}
	if len(given) == 0 {
		return nil
	}
	p.stand(category, Consent{State: ConsentGiven, At: now, Line: line, Asked: some(asked)})
	if len(given) == len(tidings.Channels()) {
		given = []tidings.Channel{""}
	}
	s := settling{by: by, now: now}
	for _, channel := range given {
		s.add(category, channel, ConsentGiven)
	}
	return s.entries
}

// Confirmed reports whether the consent that a user has given was confirmed last by a line's link.
func (p *Preferences) Confirmed(category string, line tidings.ConsentID) bool {
	stands := p.Consents[category]
	return stands.State == ConsentGiven && stands.Line == line
}

// restand brings the consent of a category, to some of which the user says yes, to where the lines
// about it lead. Where it asks twice they become lines that ask, unless they only say again what was
// agreed to: what was agreed to before goes on, and the rest waits for the link to the first of them.
func (s *settling) restand(c *tidings.Category, before, after *Preferences, lines []Entry) {
	stood, said := before.Consents[c.Name], func(e Entry) bool { return e.Action == ConsentGiven }
	if stood.State != ConsentGiven && stood.State != ConsentAsked && !slices.ContainsFunc(lines, said) {
		return
	}
	asked := before.asked(c.Name)
	next := Consent{State: ConsentAsked, At: stood.At, Line: stood.Line}
	if line := s.ask(c, before, lines, asked); !line.IsZero() && stood.State != ConsentGiven {
		next.At, next.Line = s.now, line
	}
	is := after.Categories[c.Name]
	for _, channel := range tidings.Channels() {
		switch asking, waits := asked[channel]; {
		case !is.asks(channel):
			delete(asked, channel)
		case waits && !asking.Stands:
		case c.AsksTwice() && !before.Agrees(c.Name, channel):
			asked[channel] = Asking{} // chosen when nothing had to be confirmed, which is no consent
		default:
			next.State = ConsentGiven
		}
	}
	if next.State != stood.State && next.At.Equal(stood.At) {
		next.At, next.Line = s.now, tidings.ConsentID{}
	}
	next.Asked = some(asked)
	after.stand(c.Name, next)
}

// ask enters in asked what the lines say yes to, and gives the line whose link confirms it; zero: none has to.
func (s *settling) ask(c *tidings.Category, before *Preferences, lines []Entry, asked map[tidings.Channel]Asking) (line tidings.ConsentID) {
	for i := range lines {
		e := &lines[i]
		covered := e.covers()
		news := slices.ContainsFunc(covered, func(channel tidings.Channel) bool { return !before.Agrees(c.Name, channel) })
		switch {
		case e.Action != ConsentGiven:
		case !c.AsksTwice():
			for _, channel := range covered {
				delete(asked, channel)
			}
		case news || s.again:
			if e.Action = ConsentAsked; line.IsZero() {
				line = e.ID
			}
			for _, channel := range covered {
				asked[channel] = Asking{Line: line, Stands: before.Agrees(c.Name, channel)}
			}
		}
	}
	return line
}

// covers are the channels that a line about a category is true of.
func (e *Entry) covers() []tidings.Channel {
	if e.Channel == "" {
		return tidings.Channels()
	}
	return []tidings.Channel{e.Channel}
}

// some is a map, nil when nothing is in it.
func some(asked map[tidings.Channel]Asking) map[tidings.Channel]Asking {
	if len(asked) == 0 {
		return nil
	}
	return asked
}
