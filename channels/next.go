package channels

import (
	"time"

	"tidings"
)

// A Policy is how a deployment retries.
type Policy struct {
	Base        time.Duration // first pause; doubled at each try, with full jitter
	Cap         time.Duration // longest pause
	MaxAttempts int
	Unknown     tidings.OnUnknown
}

// A Case is what Next must know of the delivery whose attempt failed.
type Case struct {
	Tries      int       // including the one that failed
	Others     int       // how many providers of the route are left to try before a pause
	Registered time.Time // when the address was last registered
	ExpiresAt  time.Time
	Now        time.Time
	Jitter     float64 // in [0,1)
}

// An Effect is what a fault does to the address.
type Effect string

// The effects on an address.
const (
	NoEffect Effect = ""
	Retire   Effect = "retire"
	Strike   Effect = "strike"   // two strikes quarantine
	Suppress Effect = "suppress" // the person said stop
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

// Next decides what follows a failed attempt. It is the only place that does.
func Next(c Case, fault *Error, p Policy) Step { panic("not built") }
