package fcm_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels/channeltest"
	"tidings/channels/push/fcm"
	"tidings/channels/simulator"
)

func harness() channeltest.Harness {
	return channeltest.Harness{
		Vendor:     fcm.Vendor(),
		Address:    "fQx0registration:APA91b-of_a_made_up_phone",
		Content:    tidings.Content{Title: "Your order is on its way", Body: "UPS brings order 4711.", URL: "https://shop.example.test/4711"},
		RetryAfter: true,
		Collapse:   "tag",
		Expires: func(e simulator.Entry, at time.Time) bool {
			ttl, err := time.ParseDuration(e.Headers["ttl"])
			return err == nil && e.At.Add(ttl).Sub(at).Abs() < 2*time.Second
		},
		Answers: answers(),
	}
}

func TestFCMKeepsThePromisesOfAProvider(t *testing.T) { channeltest.Run(t, harness()) }

// answers is Google's table of error codes, with what is seen beside it.
func answers() []channeltest.Answer {
	coded := func(status int, code string) channeltest.Answer {
		return channeltest.Answer{Do: simulator.Do{Status: status, Reason: code}}
	}
	worded := func(status int, name, body string) channeltest.Answer {
		return channeltest.Answer{Name: name, Do: simulator.Do{Status: status, Body: jsontext.Value(body)}}
	}
	const fcmError = `{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}`
	return []channeltest.Answer{
		coded(400, "INVALID_ARGUMENT"),
		worded(400, "INVALID_ARGUMENT, message.token is not valid", `{"error":{"details":[`+fcmError+`,{"fieldViolations":[{"field":"message.token"}]}]}}`),
		worded(400, "INVALID_ARGUMENT, message.data is not valid", `{"error":{"details":[`+fcmError+`,{"fieldViolations":[{"field":"message.data[0].value"}]}]}}`),
		worded(400, "INVALID_ARGUMENT, message is too big", `{"error":{"message":"Android message is too big","details":[`+fcmError+`]}}`),
		worded(400, "INVALID_ARGUMENT of google.rpc alone", `{"error":{"status":"INVALID_ARGUMENT","details":[{"fieldViolations":[{"field":"message"}]}]}}`),
		coded(401, "THIRD_PARTY_AUTH_ERROR"),
		worded(401, "UNAUTHENTICATED, new access token", `{"error":{"status":"UNAUTHENTICATED"}}`),
		coded(403, "SENDER_ID_MISMATCH"),
		worded(403, "PERMISSION_DENIED", `{"error":{"status":"PERMISSION_DENIED"}}`),
		coded(404, "UNREGISTERED"),
		worded(404, "NOT_FOUND without FCM's code", `{"error":{"status":"NOT_FOUND"}}`),
		coded(429, "QUOTA_EXCEEDED"),
		{Name: "QUOTA_EXCEEDED, Retry-After: 60", Do: simulator.Do{Status: 429, Reason: "QUOTA_EXCEEDED", Headers: map[string]string{"Retry-After": "60"}}},
		worded(429, "QUOTA_EXCEEDED of a device", `{"error":{"details":[{"errorCode":"QUOTA_EXCEEDED"},{"violations":[{"subject":"device:1"}]}]}}`),
		coded(500, "INTERNAL"),
		coded(500, "UNSPECIFIED_ERROR"),
		coded(503, "UNAVAILABLE"),
		{Name: "UNAVAILABLE, Retry-After: 10", Do: simulator.Do{Status: 503, Reason: "UNAVAILABLE", Headers: map[string]string{"Retry-After": "10"}}},
		{Name: "a code never heard of", Do: simulator.Do{Status: 400, Reason: "NEVER_HEARD_OF"}},
		{Name: "a code never heard of", Do: simulator.Do{Status: 404, Reason: "NEVER_HEARD_OF"}},
		worded(502, "a page of a proxy", `"<html>"`),
		worded(504, "a page of a proxy", `"<html>"`),
	}
}
