package preferences

import (
	"slices"
	"time"

	"tidings"
)

// A Verdict is what one rule made of a question.
type Verdict string

// The verdicts of a rule.
const (
	VerdictPasses   Verdict = "passes"
	VerdictSuppress Verdict = "suppress"  // it says no
	VerdictHold     Verdict = "hold"      // not before a time
	VerdictNotAsked Verdict = "not_asked" // about the time of what is not sent at any
)

// Verdicts is every Verdict.
func Verdicts() []Verdict {
	return []Verdict{VerdictPasses, VerdictSuppress, VerdictHold, VerdictNotAsked}
}

// A Step is one rule as it was asked: what it looked at, in words that show no address and nothing
// of the event's data, and what it said.
type Step struct {
	Rule    string // as in Decide's table
	Input   string
	Verdict Verdict
	Reason  tidings.Reason // of suppress and hold
	Until   time.Time      // of hold: the first instant that neither it nor a rule before it refuses
}

// An Explanation is the decision about one channel with every rule of Decide's table, in its order.
type Explanation struct {
	Steps    []Step
	Decision tidings.Decision
}

// Explain is Decide with what each rule said, one Explanation a channel of the event type. The
// decision is the one of Decide: of the rules that say suppress the first counts, and without any
// the last that says hold. The rules after the first no are asked all the same, since a reader wants
// to know what else stands in the way; only those about time, from schedule on, are not, for nothing
// waits. What is held ends with one step more: expiry asked again, at the instant that it is held until.
func Explain(r Request, f Facts, now time.Time) []Explanation {
	all := make([]Explanation, len(r.Event.Channels))
	for i, channel := range r.Event.Channels {
		q := question{Request: &r, Facts: &f, channel: channel, now: now, at: now}
		all[i] = q.explain()
		all[i].Decision.Channel = channel
		all[i].Decision.At = now
	}
	return all
}

func (q *question) explain() Explanation {
	e := Explanation{Steps: make([]Step, 0, len(rules)+1)}
	var no tidings.Reason
	var cause tidings.Cause
	late := slices.IndexFunc(rules[:], func(r rule) bool { return r.name == "schedule" })
	for i := range rules {
		if no != "" && i >= late {
			e.Steps = append(e.Steps, Step{Rule: rules[i].name, Verdict: VerdictNotAsked})
			continue
		}
		step := q.ask(&rules[i])
		if no == "" {
			no, cause = step.refusal(), q.refusal
		}
		e.Steps = append(e.Steps, step)
	}
	if no != "" {
		e.Decision = refuse(no, cause)
		return e
	}
	if e.Decision = q.conclude(); q.at.After(q.now) {
		step := Step{Rule: "expiry", Input: q.usefulAt(q.at), Verdict: VerdictPasses}
		if e.Decision.Action == tidings.ActionSuppress {
			step.Verdict, step.Reason = VerdictSuppress, e.Decision.Reason
		}
		e.Steps = append(e.Steps, step)
	}
	return e
}

// ask puts the question to one rule. The input is read first: it is what the rule will look at.
func (q *question) ask(r *rule) Step {
	step := Step{Rule: r.name, Input: q.input(r.name), Verdict: VerdictPasses}
	before := q.at
	switch reason := r.ask(q); {
	case reason != "":
		step.Verdict, step.Reason = VerdictSuppress, reason
	case q.at.After(before):
		step.Verdict, step.Reason, step.Until = VerdictHold, q.reason, q.at
	}
	return step
}

// refusal is why the step says no; empty: it does not.
func (s *Step) refusal() tidings.Reason {
	if s.Verdict != VerdictSuppress {
		return ""
	}
	return s.Reason
}
