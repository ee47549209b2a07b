package twilio

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"tidings"
	"tidings/channels"
)

// classify makes sense of a refusal, by Twilio's code, else by the HTTP status.
func classify(call *channels.Call, address string, now time.Time) *channels.Error {
	var body struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(call.Body, &body) // what has no code is judged by its status
	e := &channels.Error{
		HTTPStatus: call.HTTPStatus,
		Text:       channels.CleanText(body.Message, address),
		After:      channels.RetryAfter(call.Header, now),
		Fault:      ofCode(body.Code),
	}
	if body.Code != 0 {
		e.Code = strconv.Itoa(body.Code)
	}
	if e.Fault == "" {
		e.Fault = ofStatus(call.HTTPStatus, body.Code)
	}
	switch e.Fault {
	case tidings.Throttled:
		e.Scope = scopeOf(body.Code)
	case tidings.RecipientDead:
		e.Twice = true // carriers err about handsets that are only switched off or being ported
	}
	return e
}

// ofCode is the fault of a code that is known, of an answer or of a receipt. The codes are
// those of https://www.twilio.com/docs/api/errors.
func ofCode(code int) tidings.Outcome {
	switch code {
	case 20003, // authentication failed
		20404,        // no such resource: the account or the API version is wrong
		30002,        // account suspended
		21606, 21612, // From cannot send, or not to this number
		21608, // trial account, unverified number
		30034: // unregistered sender
		return tidings.ConfigFault
	case 20429, // too many requests
		21611, // the sender's queue is full
		30001, // queue overflow
		30022: // rate of the registered sender
		return tidings.Throttled
	case 30023, // daily cap of the registered sender
		63038: // daily cap of the account
		return tidings.QuotaSpent
	case 21211, 21217, 21401, 21421, // not a valid number
		21614,        // not a mobile number
		30005, 30006: // unknown handset; landline or unreachable carrier
		return tidings.RecipientDead
	case 21610: // the person said STOP
		return tidings.RecipientOptout
	case 21408, // no permission for this region
		30004, 30007: // blocked; filtered by the carrier
		return tidings.PolicyBlocked
	case 21617, 21618, // body too long; body blocked
		30010: // price above the maximum
		return tidings.ContentRejected
	case 30003, 30008, 30009: // unreachable handset; unknown error; missing segment
		return tidings.RecipientTemp
	case 30036: // validity period over
		return tidings.OutcomeExpired
	}
	return ""
}

// ofStatus is the fault of an answer without a known code. It never proves a number dead.
func ofStatus(status, code int) tidings.Outcome {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return tidings.ConfigFault
	case http.StatusTooManyRequests:
		return tidings.Throttled
	case http.StatusServiceUnavailable:
		return tidings.Transient
	case http.StatusInternalServerError:
		if code != 0 { // Twilio itself says that it failed
			return tidings.Transient
		}
	}
	switch {
	case status < http.StatusBadRequest: // a redirect: not Twilio's API
		return tidings.ConfigFault
	case status < http.StatusInternalServerError:
		return tidings.ContentRejected
	}
	return tidings.OutcomeUnknown // among them 502 and 504 of something in between
}

func scopeOf(code int) channels.Scope {
	switch code {
	case 21611, 30001, 30022:
		return channels.ScopeSender
	}
	return channels.ScopeAccount
}
