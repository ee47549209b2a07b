package api

import (
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

// export is everything held about a person, addresses in the clear.
func export(e *store.UserExport, stand map[tidings.NotificationID]store.Standing, now time.Time) wire.Export {
	out := wire.Export{
		User: user(e.User), Preferences: preferencesOf(e.Preferences, e.User),
		Addresses: []wire.FullAddress{}, Suppressions: []wire.Suppression{}, Consents: []wire.Consent{}, Notifications: []wire.FullNotification{},
		Deliveries: []wire.FullDelivery{}, Holds: []wire.HeldBack{}, Digests: []wire.Digest{}, Counters: []wire.Counter{},
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
	expires := make(map[tidings.NotificationID]time.Time, len(e.Notifications))
	for i := range e.Notifications {
		n := &e.Notifications[i]
		expires[n.ID] = n.ExpiresAt
		full := wire.FullNotification{Notification: trail.Notification(n, stand[n.ID].Status)}
		if !n.Sensitive {
			full.Data = n.Data
		}
		out.Notifications = append(out.Notifications, full)
	}
	for i := range e.Deliveries {
		id := tidings.NotificationOf(e.Deliveries[i].ID)
		out.Deliveries = append(out.Deliveries, wire.FullDelivery{NotificationID: id, Delivery: trail.Delivery(&e.Deliveries[i], expires[id], now)})
	}
	for i := range e.Holds {
		out.Holds = append(out.Holds, wire.HeldBack{NotificationID: e.Holds[i].Notification, Hold: trail.Hold(&e.Holds[i])})
	}
	for i := range e.Digests {
		out.Digests = append(out.Digests, digest(&e.Digests[i]))
	}
	for i := range e.Counters {
		out.Counters = append(out.Counters, counter(&e.Counters[i]))
	}
	return out
}

func digest(d *store.UserDigest) wire.Digest {
	out := wire.Digest{
		ID: d.ID, App: d.App, Type: d.Type, Key: d.Key, Channels: d.Channels, Test: d.Test, State: d.State,
		OpenedAt: wire.At(d.OpenedAt), ClosesAt: wire.At(d.ClosesAt), NotificationID: d.Notification, Items: []tidings.NotificationID{},
	}
	out.Items = append(out.Items, d.Items...)
	return out
}

func counter(c *store.UserCounter) wire.Counter {
	out := wire.Counter{Scope: c.Scope, Test: c.Test, Times: []wire.Time{}, Until: wire.At(c.IdleAt)}
	for _, at := range c.Times {
		out.Times = append(out.Times, wire.At(at))
	}
	return out
}
