package awssms_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels/channeltest"
	"tidings/channels/simulator"
	"tidings/channels/sms/awssms"
)

func TestAWSSMSKeepsTheProvidersPromises(t *testing.T) {
	channeltest.Run(t, channeltest.Harness{
		Vendor:       awssms.Vendor(),
		Address:      "+15550142",
		Content:      tidings.Content{Body: "Your parcel 4711 is on its way"},
		ShowsAttempt: true,
		RetryAfter:   true,
		Expires: func(e simulator.Entry, at time.Time) bool {
			seconds, err := strconv.Atoi(e.Headers["time_to_live"])
			left := at.Sub(e.At) - time.Duration(seconds)*time.Second
			return err == nil && left >= 0 && left < 2*time.Second
		},
		Answers: answers(),
	})
}

// answers are the rows of the fault table.
func answers() []channeltest.Answer {
	named := func(status int, reason string) channeltest.Answer {
		return channeltest.Answer{Do: simulator.Do{Status: status, Reason: reason}}
	}
	bare := func(status int, name, body string) channeltest.Answer {
		return channeltest.Answer{Name: name, Do: simulator.Do{Status: status, Body: jsontext.Value(body)}}
	}
	slow := channeltest.Answer{Name: "ThrottlingException, again after 7 s", Do: simulator.Do{
		Status: 400, Reason: "ThrottlingException", Headers: map[string]string{"Retry-After": "7"}}}
	return []channeltest.Answer{
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_OPTED_OUT"),
		named(400, "ConflictException.DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION"),
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE"),
		named(400, "ConflictException.DESTINATION_PHONE_NUMBER_NOT_VERIFIED"),
		named(400, "ConflictException.NO_ORIGINATION_IDENTITIES_FOUND"),
		named(400, "ConflictException.RESOURCE_NOT_ACTIVE"),
		named(400, "AccessDeniedException.ACCOUNT_DISABLED"),
		named(400, "AccessDeniedException.INSUFFICIENT_ACCOUNT_REPUTATION"),
		named(400, "ServiceQuotaExceededException.MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT"),
		named(400, "ServiceQuotaExceededException.DAILY_DESTINATION_CALL_LIMIT"),
		named(400, "ValidationException.SENDER_ID_NOT_REGISTERED"), named(400, "ValidationException.SENDER_ID_NOT_SUPPORTED"),
		named(400, "ValidationException.SENDER_ID_REQUIRES_REGISTRATION"),
		named(400, "ValidationException.INVALID_IDENTITY_FOR_DESTINATION_COUNTRY"),
		named(400, "ValidationException.INVALID_ARN"), named(400, "ValidationException.RESOURCE_NOT_ACCESSIBLE"),
		named(400, "ValidationException.COUNTRY_NOT_ENABLED"), named(400, "ValidationException.DESTINATION_COUNTRY_BLOCKED"),
		named(400, "ValidationException.INTERNATIONAL_SENDING_NOT_SUPPORTED"),
		named(400, "ValidationException.PRICE_OVER_THRESHOLD"), named(400, "ValidationException.MAXIMUM_SIZE_EXCEEDED"),
		named(400, "ValidationException.INVALID_PARAMETER"), named(400, "ValidationException.NEVER_HEARD_OF"),
		named(400, "ResourceNotFoundException"), slow, named(400, "TooManyRequestsException"),
		named(500, "InternalServerException"), named(503, "ServiceUnavailableException"),
		named(403, "UnrecognizedClientException"), named(403, "InvalidSignatureException"), named(403, "ExpiredTokenException"),
		named(400, "IncompleteSignatureException"), named(400, "NeverHeardOfException"),
		bare(200, "a body that is no message", `"fine"`), bare(200, "an answer without an id", `{"MessageId":null}`),
		bare(302, "a redirect", `""`), bare(400, "a body without an exception", `"no"`), bare(403, "a body without an exception", `"no"`),
		bare(404, "a body without an exception", `"no"`), bare(429, "a body without an exception", `"no"`),
		bare(500, "a body without an exception", `"no"`), bare(502, "something in between", `"no"`),
		bare(503, "a body without an exception", `"no"`), bare(504, "something in between", `"no"`),
	}
}
