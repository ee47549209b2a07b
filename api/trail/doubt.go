package trail

import (
	"slices"
	"time"

	"tidings"
)

// maybeArrived reports whether nobody knows what came of some attempt: neither a late answer nor
// a receipt has told.
func maybeArrived(attempts []tidings.Attempt) bool {
	return slices.ContainsFunc(attempts, func(a tidings.Attempt) bool {
		answered := !a.Late && slices.ContainsFunc(attempts, func(b tidings.Attempt) bool { return b.Late && b.Number == a.Number })
		return a.Outcome == tidings.OutcomeUnknown && !a.Refused && !answered
	})
}

// doubtful reports whether it is over, and may have arrived although no provider is known to have
// taken it.
func (s stand) doubtful() bool { return s.maybe && s.final && !s.reached() }

// doubtful is what is said of an end that came after a try of which nobody knows what came; empty:
// the end leaves no doubt. why is the reason of the end, in words.
func doubtful(s stand, why string) string {
	if !s.doubtful() {
		return ""
	}
	text := "may or may not have arrived"
	switch s.status {
	case tidings.Unknown:
		return text + ": the provider gave no clear answer"
	case tidings.Cancelled:
		return "was called off" + offSince(s.reason, why) + ", but may have arrived: the provider gave no clear answer"
	case tidings.Expired:
		return text + ": the provider gave no clear answer, and it is too late for another try"
	case tidings.Bounced:
		return text + ": a try was left without a clear answer, and another came back"
	case tidings.Dead:
		text += " and needs a person"
	}
	switch {
	case s.reason == tidings.ReasonRetriesSpent:
		return text + ": " + why + orUnclear
	case s.reason == tidings.ReasonPoison:
		return text + ": " + why
	case s.reason == tidings.ReasonOutcomeUnknown || why == "":
		return text + ": the provider gave no clear answer"
	}
	return text + ": a try was left without a clear answer, and it was not tried again, since " + why
}

// orUnclear is said after that all tries failed, where some may not have.
const orUnclear = " or were left without a clear answer"

// offSince says what called it off, where that was not a request.
func offSince(r tidings.Reason, why string) string {
	if r == tidings.ReasonCancelled || why == "" {
		return ""
	}
	return " since " + why
}

// yet is said of what was tried and will be again; maybe it has arrived.
func yet(maybe bool) string {
	if maybe {
		return "may or may not have got through yet"
	}
	return "has not got through yet"
}

// unknown is what is said when nobody knows.
func unknown(s stand, now time.Time) string {
	if s.final {
		return "may or may not have arrived: the provider gave no clear answer"
	}
	text := "was handed over without a clear answer; a receipt that tells is awaited until " + at(s.due, now)
	if s.off {
		return text + ", and it was called off meanwhile, so it is not tried again"
	}
	return text + ", and nothing else is done before"
}
