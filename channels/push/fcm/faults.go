package fcm

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tidings"
	"tidings/channels"
)

// problem is Google's error body: a google.rpc.Status with details, of which FcmError has the code.
type problem struct {
	Error struct {
		Message string   `json:"message"`
		Status  string   `json:"status"`
		Details []detail `json:"details"`
	} `json:"error"`
}

type detail struct {
	Type            string `json:"@type"`
	ErrorCode       string `json:"errorCode"` // of FcmError
	FieldViolations []struct {
		Field string `json:"field"`
	} `json:"fieldViolations"` // of google.rpc.BadRequest
	Violations []struct {
		Subject string `json:"subject"`
	} `json:"violations"` // of google.rpc.QuotaFailure
}

// leastPause is what Google wants after QUOTA_EXCEEDED where it names no span ("Best practices when sending FCM
// messages at scale").
const leastPause = time.Minute

// classify makes sense of an answer, by FCM's code, else by its status. The codes are those of
// Google's "ErrorCode" of FCM v1.
func classify(call *channels.Call, now time.Time, hide ...string) *channels.Error {
	var p problem
	_ = json.Unmarshal(call.Body, &p) // what is no problem is judged by its status
	code := p.code()
	e := &channels.Error{
		HTTPStatus: call.HTTPStatus,
		Code:       channels.CleanText(code, hide...),
		Text:       channels.CleanText(p.Error.Message, hide...),
		After:      channels.RetryAfter(call.Header, now),
	}
	e.Fault = p.ofCode(code)
	if e.Fault == "" {
		e.Fault = ofStatus(call.HTTPStatus)
	}
	if e.Code == "" {
		e.Code = channels.CleanText(p.Error.Status, hide...)
	}
	if e.Fault == tidings.Throttled {
		e.Scope = p.scope()
	}
	if code == "QUOTA_EXCEEDED" && e.After == 0 {
		e.After = leastPause
	}
	return e
}

// code is FCM's own, or empty.
func (p *problem) code() string {
	for _, d := range p.Error.Details {
		if d.ErrorCode != "" {
			return d.ErrorCode
		}
	}
	return ""
}

// ofCode is the fault of a code that is known.
func (p *problem) ofCode(code string) tidings.Outcome {
	switch code {
	case "UNREGISTERED":
		return tidings.RecipientDead
	case "SENDER_ID_MISMATCH":
		return tidings.RecipientSuspect // also what a wrong project gives for every device
	case "INVALID_ARGUMENT":
		if p.blamesContent() {
			return tidings.ContentRejected
		}
		return tidings.RecipientSuspect
	case "QUOTA_EXCEEDED":
		return tidings.Throttled
	case "UNAVAILABLE", "INTERNAL":
		return tidings.Transient
	case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR":
		return tidings.ConfigFault
	case "UNSPECIFIED_ERROR":
		return tidings.OutcomeUnknown
	}
	return ""
}

// blamesContent tells a bad message from a bad token, which share the code INVALID_ARGUMENT.
func (p *problem) blamesContent() bool {
	for _, d := range p.Error.Details {
		for _, v := range d.FieldViolations {
			if v.Field != "message.token" {
				return true
			}
		}
	}
	return strings.Contains(p.Error.Message, "too big")
}

// scope is what ran out: Google counts by project, device and topic, and says so in the subject.
func (p *problem) scope() channels.Scope {
	for _, d := range p.Error.Details {
		for _, v := range d.Violations {
			if strings.HasPrefix(v.Subject, "device") {
				return channels.ScopeDevice
			}
		}
	}
	return channels.ScopeAccount
}

// ofStatus is the fault of an answer without a known code. It never proves an address dead.
func ofStatus(status int) tidings.Outcome {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return tidings.ContentRejected
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return tidings.ConfigFault
	case http.StatusTooManyRequests:
		return tidings.Throttled
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		return tidings.Transient
	}
	return tidings.OutcomeUnknown // among them 502 and 504 of something in between
}
