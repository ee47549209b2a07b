// Package trail tells what became of a notification: as JSON, as a timeline in plain words, and
// in one sentence that a support person can read out.
//
// It promises to be a pure function of what the log knows, of how the service stands, and an instant. It must never show
// an address unmasked, or what a message said.
package trail

import (
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
)

// A Provider is what trails tell of a configured provider.
type Provider struct {
	Type      string // its vendor's
	Channel   tidings.Channel
	Carries   preferences.Carries // to which addresses its routes let it carry; nil: to all of its channel
	PerSecond float64             // calls; 0: no limit
}

// A Service is what trails tell of the service itself.
type Service struct {
	Providers map[string]Provider // the configured ones, by name
	Lease     time.Duration       // after which a call is over, whatever came of it
	// Down reports that the broker cannot be used at present. It is asked of what might be sent and is
	// not; nil: it can be used.
	Down func() bool
}

// A telling is of which trail is told, and when.
type telling struct {
	Service
	trail *store.Trail
	now   time.Time
}

// Present is a trail as the API shows it at now.
func Present(t *store.Trail, s Service, now time.Time) wire.Trail {
	n := &t.Notification
	out := wire.Trail{
		Notification: Notification(n, status(t, now)),
		Decisions:    wire.Decisions(n.Decisions),
		Holds:        make([]wire.Hold, 0, len(t.Holds)),
		Deliveries:   make([]wire.Delivery, 0, len(t.Deliveries)),
		Timeline:     timeline(t, s, now),
		Summary:      Summary(t, s, now),
		Parts:        t.Parts,
		Digest:       t.Digest(),
	}
	for i := range t.Holds {
		out.Holds = append(out.Holds, Hold(&t.Holds[i]))
	}
	for i := range t.Deliveries {
		out.Deliveries = append(out.Deliveries, Delivery(&t.Deliveries[i], n.ExpiresAt, now))
	}
	return out
}

// Notification is a notification as lists and trails show it.
func Notification(n *tidings.Notification, status tidings.NotificationStatus) wire.Notification {
	return wire.Notification{
		ID: n.ID, App: n.App, Type: n.Type, UserID: n.UserID, Category: n.Category, Status: status, DedupeKey: n.DedupeKey,
		CollapseKey: n.CollapseKey, CatalogVersion: n.CatalogVersion, AcceptedAt: wire.At(n.AcceptedAt),
		ExpiresAt: wire.At(n.ExpiresAt), CancelledAt: wire.At(n.CancelledAt), Test: n.Test,
	}
}

// Hold is a hold as trails show it.
func Hold(h *tidings.Hold) wire.Hold {
	return wire.Hold{Channel: h.Channel, Reason: h.Reason, Until: wire.At(h.Until), State: h.State}
}

// Status is the status of a delivery in words of the API where its tries are not known.
func Status(s tidings.Status) tidings.Status {
	if s == tidings.Parked {
		return tidings.Queued
	}
	return s
}

func status(t *store.Trail, now time.Time) tidings.NotificationStatus {
	all := make([]tidings.Delivery, 0, len(t.Deliveries))
	for i := range t.Deliveries {
		all = append(all, t.Deliveries[i].Delivery)
	}
	holding := false
	for _, h := range t.Holds {
		holding = holding || h.State == tidings.HoldWaiting
	}
	n := t.Notification
	for i := range t.Digests { // what a digest tells of stands as the digest does
		p := &t.Digests[i]
		for j := range p.Deliveries {
			all = append(all, p.Deliveries[j].Delivery)
		}
		holding = holding || len(p.Holds) > 0
		if n.CancelledAt.IsZero() {
			n.CancelledAt = p.Digest.CancelledAt
		}
	}
	return tidings.Summarise(&n, all, holding, now)
}

// Delivery is a delivery as trails show it at now; expires is when its notification does.
func Delivery(d *store.TrailDelivery, expires, now time.Time) wire.Delivery {
	status, final := d.Shown(expires, now)
	out := wire.Delivery{
		ID: d.ID, Channel: d.Channel, Lane: d.Lane, AddressID: d.AddressID, Address: observe.Masked(d.Channel, d.Address),
		Status: status, Final: final, Reason: reason(d, status), DueAt: wire.At(d.DueAt), QueuedAt: wire.At(d.QueuedAt), FinishedAt: wire.At(d.FinishedAt),
		OpenedAt: wire.At(d.OpenedAt), ClickedAt: wire.At(d.ClickedAt), ReadAt: wire.At(d.ReadAt),
		ComplainedAt: wire.At(d.ComplainedAt), UnsubscribedAt: wire.At(d.UnsubscribedAt),
		Attempts: make([]wire.Attempt, 0, len(d.Attempts)), Receipts: make([]wire.Receipt, 0, len(d.Receipts)),
	}
	if final {
		out.DueAt = wire.Time{} // expired, and the sweep has not come by
	}
	for i := range d.Attempts {
		out.Attempts = append(out.Attempts, attempt(&d.Attempts[i]))
	}
	for _, r := range d.Receipts {
		out.Receipts = append(out.Receipts, wire.Receipt{Provider: r.Provider, Status: r.Status, Code: r.Code, At: wire.At(r.At), ReceivedAt: wire.At(r.ReceivedAt)})
	}
	return out
}

// reason is the reason beside a shown status: what shows as expired before the sweep says so too.
func reason(d *store.TrailDelivery, shown tidings.Status) tidings.Reason {
	if shown == tidings.Expired && d.Status != tidings.Expired {
		return tidings.ReasonExpired
	}
	return d.Reason
}

func attempt(a *tidings.Attempt) wire.Attempt {
	return wire.Attempt{
		Number: a.Number, Provider: a.Provider, StartedAt: wire.At(a.StartedAt), EndedAt: wire.At(a.EndedAt), Outcome: a.Outcome,
		HTTPStatus: a.HTTPStatus, Code: a.Code, RetryAt: wire.At(a.RetryAt), Ref: a.Ref, Late: a.Late,
	}
}

// DeadLetter is a dead delivery as its list shows it.
func DeadLetter(l *store.DeadLetter) wire.DeadLetter {
	n := &l.Notification
	out := wire.DeadLetter{
		ID: l.ID, NotificationID: n.ID, App: n.App, Type: n.Type, UserID: n.UserID, Category: n.Category, Test: n.Test,
		Channel: l.Channel, Lane: l.Lane, AddressID: l.AddressID, Address: observe.Masked(l.Channel, l.Address), Status: l.Status, Reason: l.Reason,
		QueuedAt: wire.At(l.QueuedAt), DiedAt: wire.At(l.FinishedAt), ExpiresAt: wire.At(n.ExpiresAt),
	}
	if l.Last.Number > 0 {
		last := attempt(&l.Last)
		out.LastAttempt = &last
	}
	return out
}
