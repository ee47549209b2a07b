package trail

import (
	"fmt"
	"time"

	"tidings"
	"tidings/internal/store"
)

func events(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

// ofDigest is how the digest stands that a notification is a part of.
func ofDigest(t *store.Trail, now time.Time) string {
	switch tidings.Summarise(&tidings.Notification{}, t.Told, t.Held, now) {
	case tidings.NotificationDelivered:
		return "was delivered"
	case tidings.NotificationSent:
		return "was sent"
	case tidings.NotificationAccepted:
		return "is on its way"
	case tidings.NotificationHeld:
		return "is held"
	case tidings.NotificationFailed:
		return "could not be delivered"
	case tidings.NotificationExpired:
		return "was not sent in time"
	case tidings.NotificationCancelled:
		return "was called off"
	}
	return "was not sent"
}
