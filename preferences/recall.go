package preferences

import (
	"maps"
	"time"

	"tidings"
)

// repairWording is what the ledger keeps of a repair.
const repairWording = "what was stored could not be read: the choices are those of this ledger, quiet hours and muted threads are lost"

// Recall is what a user wants as far as a ledger tells, oldest line first: it knows the opt-ins and
// opt-outs, and neither quiet hours nor threads. Where its lines leave a doubt, less gets through.
func Recall(ledger []Entry) Preferences {
	var p Preferences
	var first Entry // of the lines of a change that ask
	for _, e := range ledger {
		if e.Action == ConsentAsked && (e.Category != first.Category || !e.At.Equal(first.At)) {
			first = e
		}
		yes := e.Action != ConsentWithdrawn
		switch {
		case e.About != "": // of a thread, or a setting
		case e.Source == SourceStop, e.Source == SourceStart: // of a number, whoever has it
		case e.Source == SourceRepair: // it says again what the lines before it say
		case e.Category == "" && e.Channel == "":
			p.All = &yes
		case e.Category == "":
			p.Channels = put(p.Channels, e.Channel, &yes)
		default:
			p.recall(&e, yes, first.ID)
		}
	}
	return p
}

// recall takes a line about a category; asking is the line whose link confirms it, when it asks.
func (p *Preferences) recall(e *Entry, yes bool, asking tidings.ConsentID) {
	before := p.Clone()
	stands, asked := p.Consents[e.Category], p.asked(e.Category)
	p.recallChoice(e, yes)
	is := p.Categories[e.Category]
	if !is.asksAny() {
		p.stand(e.Category, Consent{State: ConsentWithdrawn, At: e.At})
		return
	}
	switch {
	case e.Action == ConsentGiven:
		stands.State, stands.At = ConsentGiven, e.At
	case e.Action == ConsentAsked && stands.State != ConsentGiven:
		stands.State, stands.At, stands.Line = ConsentAsked, e.At, asking
	}
	for _, channel := range e.covers() {
		delete(asked, channel)
		if e.Action == ConsentAsked {
			asked[channel] = Asking{Line: asking, Stands: before.Agrees(e.Category, channel)}
		}
	}
	maps.DeleteFunc(asked, func(channel tidings.Channel, _ Asking) bool { return !is.asks(channel) })
	stands.Asked = some(asked)
	p.stand(e.Category, stands)
}

// recallChoice takes what a line about a category says of the choice.
func (p *Preferences) recallChoice(e *Entry, yes bool) {
	choice := p.Categories[e.Category]
	confirmed := e.Action == ConsentGiven && p.Consents[e.Category].State == ConsentAsked && choice.asksAny()
	switch {
	case e.Channel != "":
		next := Choice{All: choice.All, Channels: maps.Clone(choice.Channels)}
		next.set(e.Channel, yes)
		p.choose(e.Category, next)
	case !confirmed: // a confirmation is of what was asked for, be it some channels
		p.Agree(e.Category, yes)
	}
}

// Repaired is the line that tells that preferences were recalled from the ledger.
func (p *Preferences) Repaired(now time.Time) Entry {
	by := Origin{Source: SourceRepair, Wording: repairWording}
	return by.Entry("", "", action(p.refusesAll() == ""), now)
}
