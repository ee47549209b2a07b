package intake

import (
	"time"

	"tidings"
)

// observe counts what became of an event that was posted at began.
func (in *Intake) observe(o outcome, began time.Time) {
	word := o.word()
	in.Metrics.Events.WithLabelValues(word).Inc()
	if word == "accepted" {
		in.Metrics.Accept.Observe(time.Since(began).Seconds())
		in.countDecisions(o.result.Decisions)
	}
}

// word is the outcome's in the events metric.
func (o *outcome) word() string {
	switch r := o.result; {
	case o.err != nil:
		return "failed"
	case r.Refusal == nil && r.Duplicate:
		return "duplicate"
	case r.Refusal == nil && r.ID.IsZero():
		return "dry_run"
	case r.Refusal == nil:
		return "accepted"
	case r.Refusal.Code == "dedupe_conflict":
		return "conflict"
	}
	return "refused"
}

func (in *Intake) countDecisions(decisions []tidings.Decision) {
	for _, d := range decisions {
		in.Metrics.Decisions.WithLabelValues(string(d.Channel), string(d.Action), string(d.Reason)).Inc()
	}
}
