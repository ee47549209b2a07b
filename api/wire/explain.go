package wire

import (
	"tidings"
	"tidings/preferences"
)

// Explained is what would become of an event for a user, and why.
type Explained struct {
	UserID    string                 `json:"user_id"`
	Type      string                 `json:"type"`
	Category  string                 `json:"category"`
	Timezone  string                 `json:"timezone" doc:"Whose wall clock the user lives by."`
	ZoneFrom  preferences.ZoneSource `json:"timezone_from" doc:"How it is known: the user named it, it is guessed from their phone number, or it is the default."`
	At        Time                   `json:"at" doc:"The instant decided for."`
	ExpiresAt Time                   `json:"expires_at"`
	Channels  []Explanation          `json:"channels" doc:"One a channel of the event type, in its order."`
}

// Explanation is the decision about one channel and what each rule said.
type Explanation struct {
	Channel  tidings.Channel `json:"channel"`
	Decision Decision        `json:"decision" doc:"Of the rules that say suppress the first counts, and without any the last that says hold."`
	Rules    []Rule          `json:"rules" doc:"In the order in which they are asked. What is held ends with expiry asked again, at the instant it is held until."`
}

// Rule is one rule as it was asked.
type Rule struct {
	Rule    string              `json:"rule"`
	Input   string              `json:"input,omitempty" doc:"What it looked at, in words that show no address and no data."`
	Verdict preferences.Verdict `json:"verdict" doc:"Rules about time are not asked after one that says suppress."`
	Reason  tidings.Reason      `json:"reason,omitzero" doc:"Of suppress and hold."`
	Until   Time                `json:"until,omitzero" doc:"Of hold: the first instant that neither it nor a rule before it refuses."`
}

// Explanations are explanations as the API shows them.
func Explanations(all []preferences.Explanation) []Explanation {
	out := make([]Explanation, 0, len(all))
	for _, e := range all {
		rules := make([]Rule, len(e.Steps))
		for i, s := range e.Steps {
			rules[i] = Rule{Rule: s.Rule, Input: s.Input, Verdict: s.Verdict, Reason: s.Reason, Until: At(s.Until)}
		}
		out = append(out, Explanation{Channel: e.Decision.Channel, Decision: Decisions([]tidings.Decision{e.Decision})[0], Rules: rules})
	}
	return out
}
