package preferences

import (
	"maps"
	"slices"
	"time"

	"tidings"
)

// An Entry is one line of the consent ledger, which is only ever added to: an opt-in or an opt-out
// of a cell of the preferences.
type Entry struct {
	ID       tidings.ConsentID
	Category string          // empty: all of them
	Channel  tidings.Channel // empty: all of them
	Action   ConsentState
	Origin
	At time.Time
}

// An Origin says by which way a wish of a user came, and what the person was shown.
type Origin struct {
	Source  Source
	App     string // whose key it was; empty: nobody's
	Wording string // what the person was shown; empty: not told
	Version string // of that wording
}

// A Source is a way by which a wish of a user comes.
type Source string

// The sources of wishes.
const (
	SourceAPI         Source = "api"         // an app said so
	SourcePage        Source = "page"        // the person, on a page of this service
	SourceUnsubscribe Source = "unsubscribe" // the person, by the unsubscribe of a mail
	SourceStop        Source = "stop"        // the person, by a text message that says stop
	SourceStart       Source = "start"       // the person, by a text message that takes that back
	SourceComplaint   Source = "complaint"   // the person called a message spam
	SourceOperator    Source = "operator"    // whoever runs the service
	SourceRepair      Source = "repair"      // the service, which could not read what was stored
)

// ConsentStates are all states of a consent.
func ConsentStates() []ConsentState {
	return []ConsentState{ConsentAsked, ConsentGiven, ConsentWithdrawn}
}

// Sources are all of them.
func Sources() []Source {
	return []Source{SourceAPI, SourcePage, SourceUnsubscribe, SourceStop, SourceStart, SourceComplaint, SourceOperator, SourceRepair}
}

// repairWording is what the ledger keeps of a repair.
const repairWording = "what was stored could not be read: the choices are those of this ledger, quiet hours and muted threads are lost"

// Recall is what a user wants as far as a ledger tells, oldest line first: it knows the opt-ins and
// opt-outs, and neither quiet hours nor threads. Where its lines leave a doubt, less gets through.
func Recall(ledger []Entry) Preferences {
	var p Preferences
	for _, e := range ledger {
		yes := e.Action != ConsentWithdrawn
		switch {
		case e.Source == SourceStop, e.Source == SourceStart: // of a number, whoever has it
		case e.Source == SourceRepair: // it says again what the lines before it say
		case e.Category == "" && e.Channel == "":
			p.All = &yes
		case e.Category == "":
			p.Channels = put(p.Channels, e.Channel, &yes)
		default:
			p.recall(&e, yes)
		}
	}
	return p
}

// recall takes a line about a category.
func (p *Preferences) recall(e *Entry, yes bool) {
	choice := p.Categories[e.Category]
	switch confirmed := e.Action == ConsentGiven && p.Consents[e.Category].State == ConsentAsked && choice.asksAny(); {
	case e.Channel != "":
		next := Choice{All: choice.All, Channels: maps.Clone(choice.Channels)}
		next.set(e.Channel, yes)
		p.choose(e.Category, next)
	case !confirmed: // a confirmation is of what was asked for, be it some channels
		p.Agree(e.Category, yes)
	}
	switch asks := p.Categories[e.Category].asksAny(); {
	case !asks:
		p.stand(e.Category, ConsentWithdrawn, e.At)
	case yes && (e.Action == ConsentGiven || p.Consents[e.Category].State != ConsentGiven):
		p.stand(e.Category, e.Action, e.At)
	}
}

// Repaired is the line that tells that preferences were recalled from the ledger.
func (p *Preferences) Repaired(now time.Time) Entry {
	by := Origin{Source: SourceRepair, Wording: repairWording}
	return by.Entry("", "", action(p.refusesAll() == ""), now)
}

// Settle compares what a user wanted with what they want now, brings the consents of after to where
// they stand thereby, and gives what the ledger must keep of it, widest first. categories knows
// those of the catalogue. A yes to a category that asks twice is asked until it is confirmed. What
// only repeats what was so before leaves no line, and neither does taking back a choice that said
// what silence says.
func Settle(before Preferences, after *Preferences, categories func(name string) (tidings.Category, bool), by Origin, now time.Time) []Entry {
	s := settling{by: by, now: now}
	s.add("", "", turned(before.All, after.All, true))
	for _, channel := range tidings.Channels() {
		s.add("", channel, turned(cell(before.Channels, channel), cell(after.Channels, channel), true))
	}
	after.Consents = maps.Clone(after.Consents)
	names := slices.Concat(slices.Collect(maps.Keys(before.Categories)), slices.Collect(maps.Keys(after.Categories)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		c, _ := categories(name)
		c.Name = name
		s.category(&c, before.Categories[name], after)
	}
	return s.entries
}

// Answer takes what a person answered when they were asked for their consent to a category. The first
// line is the answer, which is kept also when nothing changes by it: it may have been asked in other words.
func (p *Preferences) Answer(c *tidings.Category, yes bool, by Origin, now time.Time) []Entry {
	before := p.Clone()
	p.Agree(c.Name, yes)
	lines := Settle(before, p, func(string) (tidings.Category, bool) { return *c, true }, by, now)
	if len(lines) > 0 && lines[0].Channel == "" {
		return lines
	}
	state := action(yes)
	if yes && c.Consent == tidings.DoubleOptIn && p.Consents[c.Name].State != ConsentGiven {
		state = ConsentAsked
	}
	if c.Kind == tidings.Marketing && p.Consents[c.Name].State != state {
		p.stand(c.Name, state, now)
	}
	return append([]Entry{by.Entry(c.Name, "", state, now)}, lines...)
}

// settling gathers the lines of one change.
type settling struct {
	by      Origin
	now     time.Time
	entries []Entry
}

// add adds a line. The ids of the lines of one change have its instant and their order.
func (s *settling) add(category string, channel tidings.Channel, action ConsentState) {
	if action == "" {
		return
	}
	e := s.by.Entry(category, channel, action, s.now)
	e.ID = tidings.NewConsentID(s.now.Add(time.Duration(len(s.entries)) * time.Microsecond))
	s.entries = append(s.entries, e)
}

// category adds the lines of one category, and lets its consent follow from them.
func (s *settling) category(c *tidings.Category, was Choice, after *Preferences) {
	is := after.Categories[c.Name]
	first := len(s.entries)
	s.add(c.Name, "", turned(was.All, is.All, !asksFirst(c)))
	for _, channel := range tidings.Channels() {
		on, named := c.Channels[channel]
		s.add(c.Name, channel, turned(cell(was.Channels, channel), cell(is.Channels, channel), !asksFirst(c) && (on || !named)))
	}
	lines := s.entries[first:]
	stood := after.Consents[c.Name].State
	if len(lines) == 0 || c.Kind != tidings.Marketing && stood == "" {
		return
	}
	switch {
	case !is.asksAny() && is.All == nil && !asksFirst(c):
		delete(after.Consents, c.Name) // nothing is said of the whole, and nothing has to be
	case !is.asksAny():
		after.stand(c.Name, ConsentWithdrawn, s.now)
	case stood == ConsentGiven:
	case c.Consent == tidings.DoubleOptIn:
		if stood != ConsentAsked {
			after.stand(c.Name, ConsentAsked, s.now)
		}
		await(lines)
	default:
		after.stand(c.Name, ConsentGiven, s.now)
	}
}

// await makes of each yes one that is to be confirmed.
func await(lines []Entry) {
	for i := range lines {
		if lines[i].Action == ConsentGiven {
			lines[i].Action = ConsentAsked
		}
	}
}

// Entry is a line of the ledger with this origin.
func (o Origin) Entry(category string, channel tidings.Channel, action ConsentState, now time.Time) Entry {
	return Entry{ID: tidings.NewConsentID(now), Category: category, Channel: channel, Action: action, Origin: o, At: now}
}

// turned says what became of a cell of which silence means on, or off.
func turned(was, is *bool, silence bool) ConsentState {
	switch {
	case is != nil && (was == nil || *was != *is):
		return action(*is)
	case is == nil && was != nil && *was != silence:
		return action(silence)
	}
	return ""
}

func action(on bool) ConsentState {
	if on {
		return ConsentGiven
	}
	return ConsentWithdrawn
}

func cell(m map[tidings.Channel]bool, channel tidings.Channel) *bool {
	on, named := m[channel]
	if !named {
		return nil
	}
	return &on
}
