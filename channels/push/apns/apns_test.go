package apns_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
	"tidings/channels/channeltest"
	"tidings/channels/push/apns"
	"tidings/channels/simulator"
)

func harness() channeltest.Harness {
	return channeltest.Harness{
		Vendor:     apns.Vendor(),
		Address:    strings.Repeat("0a1b2c3d", 8),
		Content:    tidings.Content{Title: "Your order is on its way", Body: "UPS brings order 4711.", URL: "https://shop.example.test/4711"},
		RetryAfter: true,
		Collapse:   "apns-collapse-id",
		Expires: func(e simulator.Entry, at time.Time) bool {
			return e.Headers["apns-expiration"] == strconv.FormatInt(at.Unix(), 10)
		},
		Answers: answers(),
	}
}

func TestAPNsKeepsThePromisesOfAProvider(t *testing.T) { channeltest.Run(t, harness()) }

// answers is Apple's table of responses, with what is seen beside it.
func answers() []channeltest.Answer {
	var rows []channeltest.Answer
	add := func(status int, reasons ...string) {
		for _, reason := range reasons {
			rows = append(rows, channeltest.Answer{Do: simulator.Do{Status: status, Reason: reason}})
		}
	}
	add(400, "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
		"DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
		"MissingTopic", "PayloadEmpty", "TopicDisallowed")
	add(403, "BadCertificate", "BadCertificateEnvironment", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken",
		"MissingProviderToken", "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken")
	add(404, "BadPath")
	add(405, "MethodNotAllowed")
	rows = append(rows,
		channeltest.Answer{Do: simulator.Do{Status: 410, Reason: "Unregistered", Body: jsontext.Value(`{"timestamp": 946684799123}`)}},
		channeltest.Answer{Do: simulator.Do{Status: 410, Reason: "ExpiredToken", Body: jsontext.Value(`{"timestamp": 946684799123}`)}},
		channeltest.Answer{Name: "Unregistered, without a timestamp", Do: simulator.Do{Status: 410, Reason: "Unregistered"}},
	)
	add(413, "PayloadTooLarge")
	add(429, "TooManyProviderTokenUpdates", "TooManyRequests")
	rows = append(rows, channeltest.Answer{Name: "TooManyRequests, Retry-After: 30", Do: simulator.Do{
		Status: 429, Reason: "TooManyRequests", Headers: map[string]string{"Retry-After": "30"},
	}})
	add(500, "InternalServerError")
	add(503, "ServiceUnavailable", "Shutdown")
	for _, status := range []int{400, 403, 410, 418, 429, 500, 502, 503, 504} {
		rows = append(rows, channeltest.Answer{Name: "a reason never heard of", Do: simulator.Do{Status: status, Reason: "NeverHeardOf"}})
	}
	return rows
}
