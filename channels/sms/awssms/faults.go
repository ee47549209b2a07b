package awssms

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/pinpointsmsvoicev2/types"
	"github.com/aws/smithy-go"

	"tidings"
	"tidings/channels"
)

// unanswered is the error of a request without an answer, among them one that was never made
// for want of credentials.
func unanswered(call *channels.Call, err error, address string) *channels.Error {
	if e := (*channels.Error)(nil); errors.As(err, &e) {
		return e
	}
	return call.Unanswered(err, address)
}

// classify makes sense of a refusal: by the reason within the exception, else by the exception,
// else by the HTTP status.
func classify(call *channels.Call, err error, address string, now time.Time) *channels.Error {
	e := &channels.Error{HTTPStatus: call.HTTPStatus, After: channels.RetryAfter(call.Header, now)}
	exception := ""
	if api := (smithy.APIError)(nil); errors.As(err, &api) {
		exception = api.ErrorCode()
		e.Text = channels.CleanText(api.ErrorMessage(), address)
	}
	reason := reasonOf(err)
	e.Code = channels.CleanText(strings.Trim(exception+" "+reason, " "), address)
	for _, fault := range []tidings.Outcome{ofReason(reason), ofException(exception), ofStatus(call.HTTPStatus)} {
		if fault != "" {
			e.Fault = fault
			break
		}
	}
	if e.Fault == tidings.Throttled {
		e.Scope = channels.ScopeAccount
	}
	return e
}

// reasonOf is the reason within an exception that has one.
func reasonOf(err error) string {
	if e := (*types.ConflictException)(nil); errors.As(err, &e) {
		return string(e.Reason)
	}
	if e := (*types.ValidationException)(nil); errors.As(err, &e) {
		return string(e.Reason)
	}
	if e := (*types.AccessDeniedException)(nil); errors.As(err, &e) {
		return string(e.Reason)
	}
	if e := (*types.ServiceQuotaExceededException)(nil); errors.As(err, &e) {
		return string(e.Reason)
	}
	return ""
}

// ofReason is the fault of a reason that says more than its exception.
func ofReason(reason string) tidings.Outcome {
	switch reason {
	case string(types.ConflictExceptionReasonDestinationPhoneNumberOptedOut):
		return tidings.RecipientOptout
	case string(types.ConflictExceptionReasonDestinationCountryBlockedByProtectConfiguration),
		string(types.ConflictExceptionReasonDestinationPhoneNumberBlockedByProtectNumberOverride),
		string(types.ValidationExceptionReasonCountryNotEnabled),
		string(types.ValidationExceptionReasonDestinationCountryBlocked),
		string(types.ValidationExceptionReasonInternationalSendingNotSupported):
		return tidings.PolicyBlocked
	case string(types.ValidationExceptionReasonSenderIdNotRegistered),
		string(types.ValidationExceptionReasonSenderIdNotSupported),
		string(types.ValidationExceptionReasonSenderIdRequiresRegistration),
		string(types.ValidationExceptionReasonInvalidIdentityForDestinationCountry),
		string(types.ValidationExceptionReasonInvalidArn),
		string(types.ValidationExceptionReasonResourceNotAccessible):
		return tidings.ConfigFault
	}
	return ""
}

// ofException is the fault of an exception, of the service or of the way requests are signed.
func ofException(name string) tidings.Outcome {
	switch name {
	case "AccessDeniedException", "ConflictException", "ResourceNotFoundException",
		"UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "IncompleteSignatureException",
		"MissingAuthenticationTokenException", "OptInRequired", "RequestExpired", "NotAuthorized":
		return tidings.ConfigFault
	case "ServiceQuotaExceededException":
		return tidings.QuotaSpent
	case "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded":
		return tidings.Throttled
	case "ValidationException":
		return tidings.ContentRejected
	case "InternalServerException", "InternalFailure", "ServiceUnavailable", "ServiceUnavailableException":
		return tidings.Transient
	}
	return ""
}

// ofStatus is the fault of an answer without a known exception.
func ofStatus(status int) tidings.Outcome {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return tidings.ConfigFault
	case http.StatusTooManyRequests:
		return tidings.Throttled
	case http.StatusServiceUnavailable:
		return tidings.Transient
	}
	switch {
	case status < http.StatusMultipleChoices: // accepted, it seems, but unreadable
		return tidings.OutcomeUnknown
	case status < http.StatusBadRequest: // a redirect: not AWS's API
		return tidings.ConfigFault
	case status < http.StatusInternalServerError:
		return tidings.ContentRejected
	}
	return tidings.OutcomeUnknown // among them 502 and 504 of something in between
}
