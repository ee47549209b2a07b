package trail

import (
	"time"

	"tidings"
	"tidings/internal/store"
)

// refusedAt is when the user switched off what a channel was stopped for at an instant; zero: for
// another reason, or it was so long ago that the ledger was not read so far.
func refusedAt(t *store.Trail, r tidings.Reason, cause tidings.Cause, c tidings.Channel, stopped time.Time) time.Time {
	if cause != "" { // the ledger tells of whole categories
		return time.Time{}
	}
	for _, e := range t.OptOuts { // newest first
		if e.At.After(stopped) {
			continue
		}
		whole := e.Channel == "" || e.Channel == c
		switch {
		case r == tidings.ReasonOptedOutAll && e.Category == "" && e.Channel == "",
			r == tidings.ReasonOptedOutChannel && e.Category == "" && e.Channel == c,
			r == tidings.ReasonOptedOutCategory && e.Category == t.Notification.Category && whole:
			return e.At
		}
	}
	return time.Time{}
}

// since says when the user opted out, where that is known.
func since(refused, now time.Time) string {
	if refused.IsZero() {
		return ""
	}
	return " at " + at(refused, now)
}
