// Package channels says what a provider is: one outside service that takes one message at a
// time. Vendors implement Provider in packages of their own below this one.
//
// It promises to know nothing of any vendor and to import net/http at most. It must never
// retry, wait, or store anything: what to do about a fault is decided by Next, once, for all.
package channels

import (
	"context"
	"net/http"
	"time"

	"tidings"
)

// A Provider hands one message to one outside service, once.
//
// Send must not retry, must return soon after ctx ends, must be safe for concurrent use, and
// must wrap every failure in *Error with a fault. The message is the caller's: Send must not
// change it or keep it.
type Provider interface {
	Send(ctx context.Context, m *Message) (Answer, error)
}

// A ReceiptReader is a Provider whose service calls back. ReadReceipts verifies the signature
// of a callback and parses it; an unverifiable one gives ErrForged and nothing else happens.
// url is the public URL that the service was told to call, with its query; body is the whole
// body, already bounded.
type ReceiptReader interface {
	ReadReceipts(r *http.Request, url string, body []byte) ([]tidings.Receipt, error)
}

// A Message is one rendered delivery, as handed to a provider.
type Message struct {
	Delivery     tidings.DeliveryID
	Attempt      int    // the number of the claim; rides along so that receipts find their attempt
	Address      string // token, e-mail address or phone number
	RegisteredAt time.Time
	Content      tidings.Content
	CollapseID   string // at most 32 base64url characters: hash of the collapse key, else of the delivery id; a later message with the same one replaces this
	Urgent       bool
	Marketing    bool
	Event        string    // the event type
	Unsubscribe  string    // where the reader opts out of what is not critical (RFC 8058); empty: nowhere
	ExpiresAt    time.Time // of no use after this instant; pass it on to the service
}

// An Answer is what a service says when it accepts a message.
type Answer struct {
	Ref        string // the service's reference for the message
	HTTPStatus int    // 0 where the protocol has none
	Code       string
}
