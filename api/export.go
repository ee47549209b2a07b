package api

import (
	"time"

	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

// export is everything held about a person, addresses in the clear.
func export(e *store.UserExport, now time.Time) wire.Export {
	out := wire.Export{
		User: user(e.User), Preferences: preferencesOf(e.Preferences, e.User),
		Addresses: []wire.FullAddress{}, Suppressions: []wire.Suppression{}, Consents: []wire.Consent{}, Notifications: []wire.FullNotification{},
	}
	for _, a := range e.Addresses {
		out.Addresses = append(out.Addresses, wire.FullAddress{Address: address(a), Full: a.Value})
	}
	for _, s := range e.Suppressions {
		out.Suppressions = append(out.Suppressions, wire.Suppression{Channel: s.Channel, Reason: s.Reason, At: wire.At(s.At)})
	}
	for _, line := range e.Consents {
		out.Consents = append(out.Consents, consent(line))
	}
	for i := range e.Notifications {
		n := &e.Notifications[i]
		full := wire.FullNotification{Notification: trail.Notification(n, "")}
		if !n.Sensitive {
			full.Data = n.Data
		}
		out.Notifications = append(out.Notifications, full)
	}
	return out
}
