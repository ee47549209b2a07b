package channels

import (
	"errors"
	"fmt"
	"time"

	"tidings"
)

// ErrForged is returned by ReadReceipts for a callback whose signature is missing or wrong.
var ErrForged = errors.New("callback is not signed by the provider")

// A Scope says what a provider throttles.
type Scope string

// The scopes of throttling.
const (
	ScopeDevice  Scope = "device"
	ScopeSender  Scope = "sender"
	ScopeAccount Scope = "account"
)

// An Error is a failed call with its classification. Text never holds a secret or an address.
type Error struct {
	Fault      tidings.Outcome
	Scope      Scope         // of tidings.Throttled
	After      time.Duration // what Retry-After asked for; 0: nothing
	HTTPStatus int           // 0: no answer, or a protocol without one
	Code       string        // the service's own code
	Text       string        // the service's own words, at most 200 bytes
	DeadSince  time.Time     // for tidings.RecipientDead: the service last saw the address work before this; zero: no time given
	Twice      bool          // for tidings.RecipientDead: the service errs at times, so only the second in 24 hours is proof
	Err        error
}

// Error says what failed.
func (e *Error) Error() string {
	switch {
	case e.HTTPStatus > 0:
		return fmt.Sprintf("%s: answered %d %s", e.Fault, e.HTTPStatus, e.Code)
	case e.Code != "":
		return fmt.Sprintf("%s: %s", e.Fault, e.Code)
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Fault, e.Err)
	}
	return string(e.Fault)
}

// Unwrap is the error beneath.
func (e *Error) Unwrap() error { return e.Err }

// Classify finds the *Error in err; any other failure is of unknown outcome, never "retry".
func Classify(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Fault: tidings.OutcomeUnknown, Err: err}
}

// WantsFewer reports whether the service wants fewer calls altogether, rather than fewer to one
// address.
func (e *Error) WantsFewer() bool { return e.Fault == tidings.Throttled && e.Scope != ScopeDevice }

// Pause is how long the service wants no calls at all; 0: it named no span, or spoke of one
// address.
func (e *Error) Pause() time.Duration {
	if e.WantsFewer() || e.Fault == tidings.Transient {
		return e.After
	}
	return 0
}
