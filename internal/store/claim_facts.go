package store

import (
	"encoding/json"
	"errors"
	"time"

	"tidings"
	"tidings/preferences"
)

// claimFacts receives one row of claim_facts.
type claimFacts struct {
	d                                   storedDelivery
	n                                   storedNotification
	locale, timezone, phone, attributes *string
	owner, provider, value              *string
	status, reason                      *string
	registered, sidelined               time.Time
	doc, suppressed                     *string
	suppressedAt                        time.Time
}

func (f *claimFacts) dest() []any {
	d, n := &f.d, &f.n
	return []any{into(&d.AddressID), &d.Reason, &d.ClaimNo, &d.Tries, &d.tried, instant{&d.QueuedAt}, instant{&f.sidelined},
		&n.App, truth{&n.Test}, &n.Type, &n.UserID, &n.Category, &n.CatalogVersion, &n.CollapseKey, truth{&n.Sensitive}, &n.data,
		instant{&n.AcceptedAt}, instant{&n.ExpiresAt}, &n.Parts, instant{&n.CancelledAt}, &f.locale, &f.timezone, &f.phone, &f.attributes,
		&f.owner, &f.provider, &f.value, &f.status, &f.reason, instant{&f.registered}, &f.doc, &f.suppressed, instant{&f.suppressedAt}}
}

// claimed is the row of the delivery with that id, which was queued in that lane.
func (f *claimFacts) claimed(s *Store, id tidings.DeliveryID, lane tidings.Lane) (Claimed, error) {
	f.d.ntf, f.d.n, f.d.Lane, f.d.Status = tidings.NotificationOf(id), tidings.OrdinalOf(id), lane, tidings.Queued
	f.n.ID = f.d.ntf
	c := Claimed{Delivery: f.d.whole(), Notification: s.opened(&f.n), Late: !f.sidelined.IsZero()}
	c.User = tidings.User{ID: f.n.UserID, Locale: text(f.locale), Timezone: text(f.timezone), Phone: text(f.phone),
		Attributes: json.RawMessage(text(f.attributes))}
	if f.value != nil {
		c.Address = tidings.Address{ID: f.d.AddressID, UserID: text(f.owner), Channel: lane.Channel(), Provider: text(f.provider), Value: *f.value,
			Status: tidings.AddressStatus(text(f.status)), Reason: tidings.Reason(text(f.reason)), RegisteredAt: f.registered}
		c.Delivery.Address = *f.value
	}
	if f.suppressed != nil {
		c.Suppressed = &preferences.Suppression{Channel: c.Address.Channel, Reason: tidings.Reason(*f.suppressed), At: f.suppressedAt}
	}
	if f.doc == nil {
		return c, nil
	}
	var err error
	c.Preferences, err = readPreferences(*f.doc, 0)
	return c, err
}

// opened is a notification with its data open. Data that cannot be opened, because the secret is
// another one, is missing rather than in the way of all others.
func (s *Store) opened(n *storedNotification) tidings.Notification {
	data, err := s.seal.open(n.ID, n.data)
	if err != nil {
		s.log.Error("sensitive data is lost", "notification", n.ID.String(), "error", err)
	}
	n.Data = data
	return n.Notification
}

func readPreferences(doc string, version int64) (p preferences.Preferences, err error) {
	if err := json.Unmarshal([]byte(doc), &p); err != nil {
		return p, errors.New("read preferences: the stored document is damaged")
	}
	p.Version = version
	return p, nil
}

// text is a nullable text; NULL is empty.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
