package apns

import (
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/http2"

	"tidings"
	"tidings/channels"
)

const expiredProviderToken = "ExpiredProviderToken"

// classify makes sense of an answer, by its reason, else by its status. Reasons are from Apple's
// "Handling notification responses from APNs", and from what APNs answers in practice.
func classify(call *channels.Call, m *channels.Message, now time.Time) *channels.Error {
	var body struct {
		Reason    string `json:"reason"`
		Timestamp int64  `json:"timestamp"` // milliseconds
	}
	_ = json.Unmarshal(call.Body, &body) // what has no reason is judged by its status
	e := &channels.Error{
		HTTPStatus: call.HTTPStatus,
		Code:       channels.CleanText(body.Reason, m.Address),
		After:      channels.RetryAfter(call.Header, now),
	}
	e.Fault = ofReason(body.Reason)
	if e.Fault == "" {
		e.Fault = ofStatus(call.HTTPStatus)
	}
	if e.Fault == tidings.Throttled {
		e.Scope = channels.ScopeDevice
	}
	if e.Fault == tidings.RecipientDead && body.Timestamp > 0 {
		e.DeadSince = time.UnixMilli(body.Timestamp)
	}
	return e
}

// ofReason is the fault of a reason that is known.
func ofReason(reason string) tidings.Outcome {
	switch reason {
	case "Unregistered", "ExpiredToken":
		return tidings.RecipientDead
	case "BadDeviceToken", "DeviceTokenNotForTopic":
		// Also what a mix-up of environments or topics gives for every device, so no proof.
		return tidings.RecipientSuspect
	case "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic", "DuplicateHeaders",
		"InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty", "PayloadTooLarge", "BadPath", "MethodNotAllowed":
		return tidings.ContentRejected
	case "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
		expiredProviderToken, "TopicDisallowed", "TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken",
		"BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken": // documented, and as answered
		return tidings.ConfigFault
	case "TooManyRequests":
		return tidings.Throttled
	case "IdleTimeout", "InternalServerError", "ServiceUnavailable", "Shutdown":
		return tidings.Transient
	}
	return ""
}

// ofStatus is the fault of an answer without a known reason. It never proves an address dead.
func ofStatus(status int) tidings.Outcome {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge:
		return tidings.ContentRejected
	case http.StatusUnauthorized, http.StatusForbidden:
		return tidings.ConfigFault
	case http.StatusGone:
		return tidings.RecipientSuspect
	case http.StatusTooManyRequests:
		return tidings.Throttled
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		return tidings.Transient
	}
	return tidings.OutcomeUnknown // among them 502 and 504 of something in between
}

// unanswered is the error of a request without an answer. A stream that APNs refused was not
// looked at (RFC 9113, section 8.7).
func unanswered(call *channels.Call, err error, m *channels.Message) *channels.Error {
	e := call.Unanswered(err, m.Address)
	if s := (http2.StreamError{}); errors.As(err, &s) && s.Code == http2.ErrCodeRefusedStream {
		e.Fault = tidings.NotSent
	}
	return e
}
