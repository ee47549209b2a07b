package channels

import (
	"math"
	"time"

	"tidings"
)

// A Policy is how a deployment retries.
type Policy struct {
	Base        time.Duration // longest first pause; doubled at each try, with full jitter
	Cap         time.Duration // longest pause
	MaxAttempts int
	Unknown     tidings.OnUnknown
}

// A Case is what Next must know of the delivery whose attempt failed.
type Case struct {
	Tries      int       // including the one that failed
	Others     int       // how many providers of the route are left to try before a pause
	Passing    bool      // another provider failed since the last pause, and not by our set-up: it may work soon
	Registered time.Time // when the address was last registered
	ExpiresAt  time.Time
	Now        time.Time
	Jitter     float64 // in [0,1)
}

// An Effect is what a fault does to the address.
type Effect string

// The effects on an address.
const (
	NoEffect  Effect = ""
	Retire    Effect = "retire"
	Strike    Effect = "strike"    // two strikes quarantine
	StrikeOut Effect = "strikeout" // two strikes within 24 hours retire
	Suppress  Effect = "suppress"  // the person said stop
)

// A Step is what to do after a failed attempt.
type Step struct {
	Status  tidings.Status // what the delivery becomes: parked, unknown or an end
	Reason  tidings.Reason // why, at an end
	DueAt   time.Time      // for parked: when it may be tried again; for unknown: how long to wait for a receipt (zero: give up)
	Another bool           // parked for the next provider of the route, not for a pause
	Refund  bool           // the attempt does not count against the budget
	Breaker bool           // it counts as a failure of the provider
	Page    bool           // somebody must mend our set-up
	Effect  Effect
}

// AddressKept begins the text of an attempt whose address is kept although the provider called it
// dead, since it calls too many so.
const AddressKept = "address kept, the provider calls too many dead"

// lastCall is how long before its expiry a delivery whose provider is broken is tried for the last time.
const lastCall = time.Second

// Next decides what follows a failed attempt. It is the only place that does. The table is
// testdata/next.golden.
func Next(c Case, fault *Error, p Policy) Step {
	switch fault.Fault {
	case tidings.RecipientDead:
		return dead(c, fault)
	case tidings.RecipientSuspect:
		return Step{Status: tidings.Failed, Reason: tidings.ReasonRecipientRejected, Effect: Strike}
	case tidings.RecipientOptout:
		return Step{Status: tidings.Suppressed, Reason: tidings.ReasonOptedOutChannel, Effect: Suppress}
	case tidings.RecipientTemp:
		return laterOnly(c, fault, p)
	case tidings.Throttled:
		return again(c, fault, p)
	case tidings.Transient, tidings.NotSent:
		return counted(again(c, fault, p))
	case tidings.ConfigFault, tidings.QuotaSpent:
		return mend(c, fault, p)
	case tidings.ContentRejected:
		return Step{Status: tidings.Failed, Reason: tidings.ReasonProviderRejected}
	case tidings.PolicyBlocked:
		return elsewhere(c, p)
	case tidings.OutcomeExpired:
		return Step{Status: tidings.Expired, Reason: tidings.ReasonExpired}
	}
	return counted(unknown(c, fault, p)) // also what nobody classified
}

// dead retires the address, unless it was registered again after the service last looked: then
// the news is old, the address is kept without a strike, and only this delivery has failed. It
// is not tried again, since the service would repeat itself until it learns of the new registration.
// Services tell the instant in milliseconds, so a registration within the same one proves nothing.
func dead(c Case, fault *Error) Step {
	since := fault.DeadSince
	if !since.IsZero() && c.Registered.Truncate(time.Millisecond).After(since) {
		return Step{Status: tidings.Failed, Reason: tidings.ReasonRecipientRejected}
	}
	effect := Retire
	if fault.Twice {
		effect = StrikeOut
	}
	return Step{Status: tidings.Failed, Reason: tidings.ReasonRecipientDead, Effect: effect}
}

// again tries the next provider at once, else the same ones after a pause.
func again(c Case, fault *Error, p Policy) Step {
	if end, ended := spent(c, p); ended {
		return end
	}
	if c.Others > 0 {
		return Step{Status: tidings.Parked, DueAt: c.Now, Another: true}
	}
	return Step{Status: tidings.Parked, DueAt: c.dueIn(p.pause(c, fault))}
}

// laterOnly pauses: another provider would meet the same full mailbox.
func laterOnly(c Case, fault *Error, p Policy) Step {
	if end, ended := spent(c, p); ended {
		if end.Status == tidings.Dead {
			end.Status = tidings.Failed // nobody here can mend it
		}
		return end
	}
	return Step{Status: tidings.Parked, DueAt: c.dueIn(p.pause(c, fault))}
}

// mend waits for somebody to mend our set-up, without spending attempts, up to a last try just
// before the expiry; as after any failure where another provider may work before that.
func mend(c Case, fault *Error, p Policy) Step {
	step := Step{Status: tidings.Parked, Refund: true, Breaker: true, Page: true}
	switch {
	case c.Others > 0 && !c.expired():
		step.Another, step.DueAt = true, c.Now
	case c.left() > lastCall:
		pause := max(p.Cap, fault.After)
		if c.Passing {
			pause = p.pause(c, fault)
		}
		step.DueAt = c.Now.Add(min(pause, c.left()-lastCall))
	default:
		step.Status, step.Reason = tidings.Dead, tidings.ReasonProviderBroken
	}
	return step
}

// elsewhere tries the next provider, once.
func elsewhere(c Case, p Policy) Step {
	switch {
	case c.Others == 0 || c.Tries >= p.MaxAttempts:
		return Step{Status: tidings.Failed, Reason: tidings.ReasonProviderRejected}
	case c.expired():
		return Step{Status: tidings.Expired, Reason: tidings.ReasonExpired}
	}
	return Step{Status: tidings.Parked, DueAt: c.Now, Another: true}
}

// unknown follows the rule of the event type for an outcome that nobody knows. What cannot be
// tried again stays unknown: it may have been accepted, so it is neither dead nor expired.
func unknown(c Case, fault *Error, p Policy) Step {
	switch _, ended := spent(c, p); {
	case p.Unknown.Wait > 0 && !c.expired():
		return Step{Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown, DueAt: c.dueIn(p.Unknown.Wait)}
	case p.Unknown.Wait == 0 && p.Unknown.Retry && !ended:
		return again(c, fault, p)
	}
	return Step{Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown}
}

// spent is the end of a delivery that may not be tried again.
func spent(c Case, p Policy) (end Step, ended bool) {
	switch {
	case c.expired():
		return Step{Status: tidings.Expired, Reason: tidings.ReasonExpired}, true
	case c.Tries >= p.MaxAttempts:
		return Step{Status: tidings.Dead, Reason: tidings.ReasonRetriesSpent}, true
	}
	return Step{}, false
}

// counted is a step that counts against the provider.
func counted(s Step) Step {
	s.Breaker = true
	return s
}

// pause is what the provider asked for, else exponential backoff with full jitter.
func (p Policy) pause(c Case, fault *Error) time.Duration {
	if fault.After > 0 {
		return fault.After
	}
	longest := math.Min(float64(p.Cap), float64(p.Base)*math.Pow(2, float64(c.Tries-1)))
	return time.Duration(c.Jitter * longest)
}

// dueIn is the instant after a pause, at most the expiry.
func (c Case) dueIn(pause time.Duration) time.Time {
	return c.Now.Add(min(pause, c.left()))
}

// left is how long the delivery is still of use.
func (c Case) left() time.Duration { return c.ExpiresAt.Sub(c.Now) }

func (c Case) expired() bool { return c.left() <= 0 }
