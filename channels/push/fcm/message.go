package fcm

import (
	"maps"
	"strconv"
	"time"

	"firebase.google.com/go/v4/messaging"

	"tidings/channels"
)

// maxPayload is Google's bound for the notification and the data of a message, in bytes.
const maxPayload = 4096

// maxTTL is how long FCM keeps a message at most.
const maxTTL = 28 * 24 * time.Hour

// deliveryKey is the member of the data that carries the delivery id to the phone app, so that
// it can report what was opened.
const deliveryKey = "tidings_delivery"

func dataOf(m *channels.Message) map[string]string {
	data := map[string]string{}
	maps.Copy(data, m.Content.Data)
	if m.Content.URL != "" {
		data["url"] = m.Content.URL
	}
	data[deliveryKey] = m.Delivery.String()
	return data
}

func sizeOf(m *channels.Message) int {
	size := len(m.Content.Title) + len(m.Content.Body)
	for key, value := range dataOf(m) {
		size += len(key) + len(value)
	}
	return size
}

// messageOf is the message as FCM wants it. A later message with the same collapse id replaces
// the shown one on all three platforms. It is not given as collapse_key: FCM keeps messages of
// only four of those for a device that is off.
func messageOf(m *channels.Message, now time.Time) *messaging.Message {
	ttl := min(max(0, m.ExpiresAt.Sub(now)), maxTTL).Truncate(time.Second)
	return &messaging.Message{
		Token:        m.Address,
		Data:         dataOf(m),
		Notification: &messaging.Notification{Title: m.Content.Title, Body: m.Content.Body},
		Android: &messaging.AndroidConfig{
			Priority:     "high",
			TTL:          &ttl,
			Notification: &messaging.AndroidNotification{Tag: m.CollapseID},
		},
		APNS: &messaging.APNSConfig{Headers: map[string]string{
			"apns-collapse-id": m.CollapseID,
			"apns-expiration":  strconv.FormatInt(m.ExpiresAt.Unix(), 10),
		}},
		Webpush: &messaging.WebpushConfig{
			Headers:      map[string]string{"TTL": strconv.FormatInt(int64(ttl/time.Second), 10)},
			Notification: &messaging.WebpushNotification{Tag: m.CollapseID},
		},
	}
}
