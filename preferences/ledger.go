package preferences

import (
	"maps"
	"slices"
	"time"

	"tidings"
)

// An Entry is one line of the consent ledger, which is only ever added to: an opt-in or an opt-out
// of a cell of the preferences, a thread that was muted, or a setting beside them.
type Entry struct {
	ID       tidings.ConsentID
	Category string          // empty: all of them
	Channel  tidings.Channel // empty: all of them
	Action   ConsentState
	About    string // the key of a thread, or which setting; else empty
	Value    string // of a setting; empty: it was forgotten
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

// Actions are all that a line can say.
func Actions() []ConsentState {
	return []ConsentState{ConsentAsked, ConsentGiven, ConsentWithdrawn, ThreadMuted, ThreadHeard, SettingSet}
}

// Sources are all of them.
func Sources() []Source {
	return []Source{SourceAPI, SourcePage, SourceUnsubscribe, SourceStop, SourceStart, SourceComplaint, SourceOperator, SourceRepair}
}

// Settle compares what a user wanted with what they want now, brings the consents of after to where
// they stand thereby, and gives what the ledger must keep of it, widest first. categories knows
// those of the catalogue. A yes to a category that asks twice is asked until it is confirmed, for the
// channels that were not agreed to before. What only repeats what was so before leaves no line, and neither does taking back a choice that said
// what silence says. A line without a channel is true of every channel of its category.
func Settle(before Preferences, after *Preferences, categories func(name string) (tidings.Category, bool), by Origin, now time.Time) []Entry {
	s := settling{by: by, now: now}
	return s.settle(&before, after, categories)
}

func (s *settling) settle(before, after *Preferences, categories func(name string) (tidings.Category, bool)) []Entry {
	s.add("", "", turned(before.All, after.All, true))
	for _, channel := range tidings.Channels() {
		s.add("", channel, turned(cell(before.Channels, channel), cell(after.Channels, channel), true))
	}
	after.Consents = maps.Clone(after.Consents)
	for _, name := range names(before.Categories, after.Categories) {
		c, _ := categories(name)
		c.Name = name
		s.category(&c, before, after)
	}
	s.threads(before.Threads, after.Threads)
	s.quiet(before.QuietHours, after.QuietHours)
	return s.entries
}

// names are the keys of two maps, in their order.
func names[V any](a, b map[string]V) []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, m := range []map[string]V{a, b} {
			for name := range m {
				if !yield(name) {
					return
				}
			}
		}
	}))
}

// Answer takes what a person answered when they were asked for their consent to a category, or to a
// channel of it. The first line is the answer, which is kept also when nothing changes by it: it may
// have been asked in other words, and where a category asks twice, a yes is to be confirmed in those.
// An earlier no to a channel stays; the ledger says so again after a yes to the whole.
func (p *Preferences) Answer(c *tidings.Category, channel tidings.Channel, yes bool, by Origin, now time.Time) []Entry {
	before := p.Clone()
	if channel == "" {
		p.Agree(c.Name, yes)
	} else {
		choice := p.Categories[c.Name]
		choice.set(channel, yes)
		p.choose(c.Name, choice)
	}
	s := settling{by: by, now: now, again: true}
	lines := s.settle(&before, p, func(string) (tidings.Category, bool) { return *c, true })
	if len(lines) > 0 && lines[0].Channel == channel {
		return lines
	}
	s.entries = nil
	s.add(c.Name, channel, action(yes))
	if channel == "" && yes {
		s.refusals(c.Name, p.Categories[c.Name])
	}
	switch {
	case c.Kind != tidings.Marketing:
	case yes:
		s.restand(c, &before, p, s.entries[:1])
	case channel == "" && p.Consents[c.Name].State != ConsentWithdrawn:
		p.stand(c.Name, Consent{State: ConsentWithdrawn, At: now, Line: s.entries[0].ID})
	}
	return s.entries
}

// settling gathers the lines of one change.
type settling struct {
	by      Origin
	now     time.Time
	again   bool // a person was asked: also what they agreed to before is to be confirmed in these words
	entries []Entry
}

// add adds a line about a cell.
func (s *settling) add(category string, channel tidings.Channel, action ConsentState) {
	if action != "" {
		s.append(s.by.Entry(category, channel, action, s.now))
	}
}

// append adds a line. The ids of the lines of one change have its instant and their order.
func (s *settling) append(e Entry) {
	e.ID = tidings.NewConsentID(s.now.Add(time.Duration(len(s.entries)) * time.Microsecond))
	s.entries = append(s.entries, e)
}

// category adds the lines of one category, and lets its consent follow from them.
func (s *settling) category(c *tidings.Category, before, after *Preferences) {
	is := after.Categories[c.Name]
	first := len(s.entries)
	s.cells(c, before.Categories[c.Name], is)
	lines := s.entries[first:]
	switch {
	case len(lines) == 0 || c.Kind != tidings.Marketing && after.Consents[c.Name].State == "":
	case !is.asksAny() && is.All == nil && !c.AsksFirst():
		delete(after.Consents, c.Name) // nothing is said of the whole, and nothing has to be
	case !is.asksAny():
		after.stand(c.Name, Consent{State: ConsentWithdrawn, At: s.now})
	default:
		s.restand(c, before, after, lines)
	}
}

// cells adds a line for each cell of a category that was turned. What was said of the whole is one
// line, unless a channel goes its own way: then each of the others has one.
func (s *settling) cells(c *tidings.Category, was, is Choice) {
	whole := turned(was.All, is.All, !c.AsksFirst())
	split := whole != "" && slices.ContainsFunc(tidings.Channels(), func(channel tidings.Channel) bool {
		on, named := is.Channels[channel]
		return action(named && on || !named && is.without(c, channel)) != whole
	})
	if !split {
		s.add(c.Name, "", whole)
	}
	for _, channel := range tidings.Channels() {
		own := cell(is.Channels, channel)
		line := turned(cell(was.Channels, channel), own, is.without(c, channel))
		switch {
		case line != "" || own != nil:
		case split && is.All != nil:
			line = whole
		case (split || whole == "") && cell(was.Channels, channel) == nil && was.without(c, channel) != is.without(c, channel):
			line = action(is.without(c, channel))
		}
		s.add(c.Name, channel, line)
	}
}

// without is what holds on a channel of a category that the choice does not name.
func (c Choice) without(category *tidings.Category, channel tidings.Channel) bool {
	if c.All != nil {
		return *c.All
	}
	on, named := category.Channels[channel]
	return !category.AsksFirst() && (on || !named)
}

// refusals adds a line for each channel of a category that stays refused.
func (s *settling) refusals(category string, choice Choice) {
	for _, channel := range tidings.Channels() {
		if on, named := choice.Channels[channel]; named && !on {
			s.add(category, channel, ConsentWithdrawn)
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
