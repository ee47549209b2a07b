package preferences

import (
	"tidings"
	"tidings/internal/numbers"
)

// lawful is when marketing SMS may come, by country, as far as we know of a rule. It is a start,
// not legal advice: states and carriers may want less, public holidays are not in it, and the
// catalogue's windows go before it.
//
//	US  8 to 21 at the called party's location: 47 CFR 64.1200(c)(1). Some states want less (Florida: to 20).
//	AS, GU, MP, PR, VI: as US, whose rule it is
//	FR  8 to 22, never on Sundays: the operators' rules for commercial SMS, as providers enforce them (Brevo)
//	IN  10 to 21: TRAI's TCCCPR 2018, whose default time bands the operators enforce for all promotional
//	    messages since October 2025; the regulations of 2010 began at 9
//	AE  7 to 21: TDRA's rules for marketing by telephone
//	JO  7 to 21: TRC's instructions on promotional messages
//	CO  7 to 19, Saturdays 8 to 15, never on Sundays: article 3 of Ley 2300 of 2023 ("dejen de fregar"),
//	    which is of advertising by SMS too, and forbids public holidays as well
var lawful = map[string]tidings.Window{
	"US": daily(8, 21), "AS": daily(8, 21), "GU": daily(8, 21), "MP": daily(8, 21), "PR": daily(8, 21), "VI": daily(8, 21),
	"FR": {hours(0, 0), hours(8, 22), hours(8, 22), hours(8, 22), hours(8, 22), hours(8, 22), hours(8, 22)},
	"IN": daily(10, 21),
	"AE": daily(7, 21),
	"JO": daily(7, 21),
	"CO": {hours(0, 0), hours(7, 19), hours(7, 19), hours(7, 19), hours(7, 19), hours(7, 19), hours(8, 15)},
}

func hours(from, to int) tidings.Span { return tidings.Span{From: from * 60, To: to * 60} }

func daily(from, to int) (w tidings.Window) {
	for day := range w {
		w[day] = hours(from, to)
	}
	return w
}

// windowOf is when a phone may get an event's marketing, and by whose word: by the catalogue's word for
// its country, else by law, else by the catalogue's word for all others. Nobody's: at any time.
func windowOf(e *tidings.EventType, phone string) (w tidings.Window, by tidings.Cause) {
	country := numbers.Country(phone)
	if w, ok := e.Windows[country]; ok {
		return w, tidings.CauseWindow
	}
	if w, ok := lawful[country]; ok {
		return w, tidings.CauseLaw
	}
	if w, ok := e.Windows["*"]; ok {
		return w, tidings.CauseWindow
	}
	return w, ""
}
