package preferences

import (
	"cmp"
	"time"

	"tidings"
)

// Decide answers for each channel of the event type, in its order. The rules are asked in this
// order, and the first that says no is the answer:
//
//	rule         says no when                                          answer    reason
//	requested    the request names channels, and not this one          suppress  not_requested
//	provider     none carries the channel, or to any usable address    suppress  no_provider
//	expiry       it would be sent at or after ExpiresAt                suppress  expired
//	all          the user's all is false                               suppress  opted_out_all
//	channel      the user's channel is false                           suppress  opted_out_channel
//	category     the user's category is false here                     suppress  opted_out_category
//	thread       the user has muted the thread                         suppress  opted_out_category
//	consent      it needs a yes of the user, and has none              suppress  consent_missing
//	address      there is none that is active and not suppressed       suppress  why there is none
//	brake        too many of the type to this user: somebody's loop    suppress  loop_brake
//	schedule     SendAt lies ahead                                     hold      scheduled
//	digest       the event type gathers its events on this channel     hold      digested
//	quiet_hours  their clock shows quiet hours, theirs or the law's    hold      quiet_hours
//	limits       a cap on this user's notifications is used up         either    rate_limited_…
//	else: to every usable address that a provider carries to           send
//
// An address is usable that is active and not suppressed.
//
// What is critical passes all, channel, category, thread, consent, quiet_hours and limits. The wider
// refusal goes first, so a true never undoes a false of a wider rule. Only inside one
// category a channel goes before all: {all: false, push: true} means push alone.
//
// What the user chose stands above where they can be reached, since a new address would
// change nothing. What is held would be sent by today's facts; what they forbid is suppressed
// at once, and the held part is decided again when its time comes. Until is the first instant
// that no rule about time refuses by these facts; when it is too late, the answer is expired, but
// for a digest's: one that is open may close sooner.
func Decide(r Request, f Facts, now time.Time) []tidings.Decision {
	decisions := make([]tidings.Decision, len(r.Event.Channels))
	for i, channel := range r.Event.Channels {
		q := question{Request: &r, Facts: &f, channel: channel, now: now, at: now}
		decisions[i] = q.decide()
		decisions[i].Channel = channel
		decisions[i].At = now
	}
	return decisions
}

// A question is whether one channel may be used.
type question struct {
	*Request
	*Facts
	channel tidings.Channel
	now     time.Time

	to     []tidings.Address // to whom, once provider was asked
	nobody tidings.Reason    // why to nobody
	at     time.Time         // when it would be sent, as far as the rules were asked
	reason tidings.Reason    // why not before
	cause  tidings.Cause     // of reason

	refusal tidings.Cause // of the reason that the rule asked last gave, if it gave any
}

func (q *question) decide() tidings.Decision {
	for i := range rules {
		if reason := rules[i].ask(q); reason != "" {
			return refuse(reason, q.refusal)
		}
	}
	return q.conclude()
}

func refuse(reason tidings.Reason, cause tidings.Cause) tidings.Decision {
	return tidings.Decision{Action: tidings.ActionSuppress, Reason: reason, Cause: cause}
}

// conclude is the decision once no rule has said no. What joins a digest may find one that closes
// sooner than a new one would, so whether it is late is seen when that closes.
func (q *question) conclude() tidings.Decision {
	switch {
	case expired(q.ExpiresAt, q.at) && q.reason != tidings.ReasonDigested:
		return refuse(tidings.ReasonExpired, outlasting(q.reason, q.cause))
	case q.at.After(q.now):
		return tidings.Decision{Action: tidings.ActionHold, Reason: q.reason, Cause: q.cause, Until: q.at, Shifted: q.Shifted && q.SendAt.After(q.now)}
	}
	return tidings.Decision{Action: tidings.ActionSend, Addresses: len(q.to), To: q.to}
}

// outlasting is what keeps something waiting for longer than it is of use, by what would have been
// the reason of its wait and the cause of that.
func outlasting(reason tidings.Reason, cause tidings.Cause) tidings.Cause {
	switch reason {
	case tidings.ReasonQuietHours:
		return cmp.Or(cause, tidings.CauseQuiet)
	case tidings.ReasonRateLimitedUser, tidings.ReasonRateLimitedCategory:
		return tidings.CauseLimits
	}
	return ""
}

// postpone moves the instant of sending; an earlier one changes nothing.
func (q *question) postpone(at time.Time, reason tidings.Reason, cause tidings.Cause) {
	if at.After(q.at) {
		q.at, q.reason, q.cause = at, reason, cause
	}
}

// expired reports whether at is too late; an expiry is the first instant that is.
func expired(expiry, at time.Time) bool { return !expiry.IsZero() && !at.Before(expiry) }
