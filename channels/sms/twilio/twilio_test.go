package twilio_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels/channeltest"
	"tidings/channels/simulator"
	"tidings/channels/sms/twilio"
)

func TestTwilioKeepsTheProvidersPromises(t *testing.T) {
	channeltest.Run(t, channeltest.Harness{
		Vendor:       twilio.Vendor(),
		Address:      "+15550142",
		Content:      tidings.Content{Body: "Your parcel 4711 is on its way"},
		ShowsAttempt: true,
		RetryAfter:   true,
		Expires: func(e simulator.Entry, at time.Time) bool {
			seconds, err := strconv.Atoi(e.Headers["validity_period"])
			left := at.Sub(e.At) - time.Duration(seconds)*time.Second
			return err == nil && left >= 0 && left < 2*time.Second
		},
		Answers: answers(),
	})
}

// answers are the rows of the fault table.
func answers() []channeltest.Answer {
	coded := func(status int, code, name string) channeltest.Answer {
		return channeltest.Answer{Name: code + " " + name, Do: simulator.Do{Status: status, Reason: code}}
	}
	bare := func(status int, name, body string) channeltest.Answer {
		return channeltest.Answer{Name: name, Do: simulator.Do{Status: status, Body: jsontext.Value(body)}}
	}
	slow := coded(429, "20429", "too many requests, again after 7 s")
	slow.Do.Headers = map[string]string{"Retry-After": "7"}
	return []channeltest.Answer{
		coded(401, "20003", "authentication failed"), coded(404, "20404", "no such resource"),
		coded(403, "30002", "account suspended"), coded(400, "21606", "From cannot send"),
		coded(400, "21612", "no route between From and To"), coded(400, "21608", "unverified number of a trial account"),
		coded(400, "30034", "unregistered sender"),
		slow, coded(400, "21611", "queue of the sender is full"), coded(400, "30001", "queue overflow"),
		coded(429, "30022", "rate of the registered sender"), coded(429, "30023", "daily cap of the registered sender"),
		coded(429, "63038", "daily cap of the account"),
		coded(400, "21211", "invalid To"), coded(400, "21217", "phone number seems invalid"), coded(400, "21401", "invalid phone number"),
		coded(400, "21421", "phone number is invalid"), coded(400, "21614", "not a mobile number"),
		coded(400, "30005", "unknown handset"), coded(400, "30006", "landline or unreachable carrier"),
		coded(400, "21610", "the person said STOP"),
		coded(400, "21408", "no permission for this region"), coded(400, "30004", "blocked"), coded(400, "30007", "filtered by the carrier"),
		coded(400, "21617", "body too long"), coded(400, "21618", "body blocked"), coded(400, "30010", "price above the maximum"),
		coded(400, "30003", "unreachable handset"), coded(400, "30008", "unknown error"), coded(400, "30009", "missing segment"),
		coded(400, "30036", "validity period over"),
		coded(400, "29999", "a code never heard of"), coded(500, "20500", "Twilio failed"), coded(503, "20503", "Twilio is unavailable"),
		bare(200, "a body that is no message", `"fine"`), bare(302, "a redirect", `""`),
		bare(400, "a body without a code", `"no"`), bare(401, "a body without a code", `"no"`), bare(403, "a body without a code", `"no"`),
		bare(404, "a body without a code", `"no"`), bare(429, "a body without a code", `"no"`), bare(500, "a body without a code", `"no"`),
		bare(502, "something in between", `"no"`), bare(503, "a body without a code", `"no"`), bare(504, "something in between", `"no"`),
	}
}
