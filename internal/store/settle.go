package store

import (
	"slices"
	"strings"
	"time"

	"tidings"
)

// A standing is what the rules below know of a delivery, and what they change.
type standing struct {
	status     tidings.Status
	reason     tidings.Reason
	dueAt      time.Time
	claimNo    int
	tries      int
	tried      string
	finishedAt time.Time

	expiresAt time.Time
	cancelled bool // the notification bears the mark of a cancel
}

// evidence is all that is known of a delivery's attempts.
type evidence struct {
	attempts []tidings.Attempt
	receipts []tidings.Receipt
}

// refused reports whether a receipt refused the attempt.
func (e evidence) refused(attempt int) bool {
	return slices.ContainsFunc(e.receipts, func(r tidings.Receipt) bool {
		return r.Attempt == attempt && r.Refuses()
	})
}

// expired reports whether a provider said that it was too late.
func (e evidence) expired() bool {
	return slices.ContainsFunc(e.receipts, func(r tidings.Receipt) bool { return r.Refuses() && r.Outcome == tidings.OutcomeExpired })
}

func (s standing) live() bool { return s.status.Live(!s.dueAt.IsZero()) }

// mark is why a delivery is called off, so that it may not be tried again; empty: it may. What is
// under way bears the mark of an erasure, or of a newer one in its place, as its reason.
func (s standing) mark() tidings.Reason {
	switch {
	case s.live() && s.reason == tidings.ReasonErased:
		return tidings.ReasonErased
	case s.cancelled:
		return tidings.ReasonCancelled
	case s.live() && s.reason == tidings.ReasonSuperseded:
		return tidings.ReasonSuperseded
	}
	return ""
}

// move gives the standing another status. An end keeps the instant at which the first end came.
// What is called off ends as cancelled where it would be tried again, now or by a person.
func (s standing) move(status tidings.Status, reason tidings.Reason, due, now time.Time) standing {
	mark := s.mark()
	switch {
	case mark == "":
	case status == tidings.Unknown && !due.IsZero():
		reason = mark // it stays while word is awaited
	case status == tidings.Parked, status == tidings.Dead:
		status, reason, due = tidings.Cancelled, mark, time.Time{}
	}
	s.status, s.reason, s.dueAt = status, reason, due
	switch {
	case s.live():
		s.finishedAt = time.Time{}
	case s.finishedAt.IsZero():
		s.finishedAt, s.dueAt = now, time.Time{}
	default:
		s.dueAt = time.Time{}
	}
	return s
}

// rises reports whether a dead delivery is so no more.
func (s standing) rises(after standing) bool {
	return s.status == tidings.Dead && after.status != tidings.Dead
}

// held reports whether the result comes from the claim that the delivery is sending under.
func (s standing) held(r *Result) bool {
	return s.status == tidings.Sending && s.claimNo == r.Attempt.Number
}

// afterRecord is the standing once a result is known; the evidence holds the result's attempt.
func (s standing) afterRecord(r *Result, e evidence, now time.Time) standing {
	if s.held(r) {
		return s.afterHeld(r, e, now)
	}
	return s.afterLate(r, e, now)
}

// afterHeld follows the result, unless the evidence knows a better end or a refusal that came first.
func (s standing) afterHeld(r *Result, e evidence, now time.Time) standing {
	s.tried = strings.Join(r.Tried, ",")
	if r.Refund {
		s.tries--
	}
	end, why := tidings.Fold(e.attempts, e.receipts)
	switch {
	case end == tidings.Sent && r.Status == tidings.Sent:
		return s.move(tidings.Sent, r.Reason, time.Time{}, now)
	case positive(end), r.Status == tidings.Sent, e.refused(r.Attempt.Number):
		return s.move(end, why, time.Time{}, now)
	}
	return s.move(r.Status, r.Reason, r.DueAt, now)
}

// afterLate follows news of a claim that was lost. An acceptance always counts; a failure only
// while nothing newer is under way.
func (s standing) afterLate(r *Result, e evidence, now time.Time) standing {
	if next := s.afterNews(e, now); next.status != s.status || r.Attempt.Number != s.claimNo {
		return next
	}
	switch waiting := s.status == tidings.Unknown; {
	case s.live() && s.reason == tidings.ReasonRedriven: // newer than the newest claim
	case r.Status == tidings.Parked && waiting && r.Attempt.Outcome != tidings.OutcomeUnknown:
		s.tried = strings.Join(r.Tried, ",")
		if r.Refund {
			s.tries--
		}
		if !now.Before(s.expiresAt) {
			return s.move(tidings.Expired, tidings.ReasonExpired, time.Time{}, now)
		}
		return s.move(tidings.Parked, r.Reason, r.DueAt, now)
	case r.Status == tidings.Failed, r.Status == tidings.Suppressed:
		if waiting || s.status == tidings.Parked || s.status == tidings.Queued {
			return s.move(r.Status, r.Reason, time.Time{}, now)
		}
	case r.Status == tidings.Expired, r.Status == tidings.Dead:
		if waiting {
			return s.move(r.Status, r.Reason, time.Time{}, now)
		}
	}
	return s
}

// afterNews is the standing after receipts, or after an answer that came late. What was accepted
// or arrived is so in any status. A refusal ends what is live only if it is of the newest
// attempt and no redrive came after it, and changes no end that the providers had no part in:
// that it expired may be their word, too.
func (s standing) afterNews(e evidence, now time.Time) standing {
	end, why := tidings.Fold(e.attempts, e.receipts)
	switch {
	case end == "" || end == s.status && !s.live():
		return s
	case positive(end):
		return s.move(end, why, time.Time{}, now)
	case s.live() && (!e.refused(s.claimNo) || s.reason == tidings.ReasonRedriven):
		return s // a redrive is newer than the newest claim
	}
	switch s.status {
	case tidings.Cancelled, tidings.Dead, tidings.Suppressed:
		return s
	case tidings.Expired:
		if !e.expired() {
			return s
		}
	}
	return s.move(end, why, time.Time{}, now)
}

func positive(s tidings.Status) bool { return s == tidings.Sent || s == tidings.Delivered }

func settleArgs(id tidings.DeliveryID, s standing) []any {
	return keyArgs(id, string(s.status), string(s.reason), micros(s.dueAt), int64(s.tries), s.tried, micros(s.finishedAt))
}
