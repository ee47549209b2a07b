package store

import (
	"strings"

	"tidings"
)

// The columns that several statements read, in the order in which the functions beside them
// scan. Statements name them as {{notification}}, of n, and {{delivery}}, of d.
const (
	notificationColumns = "n.id, n.app, n.test, n.type, n.user_id, n.category, n.catalog_version, n.collapse_key, n.sensitive, " +
		"n.data, n.accepted_at, n.expires_at, n.cancelled_at"
	deliveryColumns = "d.ntf, d.n, d.lane, d.address_id, d.status, d.reason, d.due_at, d.claim_no, d.tries, d.tried, d.queued_at, d.finished_at"
)

// lanes is every lane, quoted: with it the statements over all lanes can use the index of live
// deliveries, which begins with the lane.
func lanes() string {
	var names []string
	for _, c := range tidings.Channels() {
		for _, p := range []tidings.Priority{tidings.Urgent, tidings.Bulk} {
			names = append(names, "'"+string(tidings.LaneOf(c, p))+"'")
		}
	}
	return strings.Join(names, ", ")
}

// A storedNotification receives notificationColumns.
type storedNotification struct {
	tidings.Notification
	data string
}

func (n *storedNotification) dest() []any {
	return []any{into(&n.ID), &n.App, truth{&n.Test}, &n.Type, &n.UserID, &n.Category, &n.CatalogVersion, &n.CollapseKey,
		truth{&n.Sensitive}, &n.data, instant{&n.AcceptedAt}, instant{&n.ExpiresAt}, instant{&n.CancelledAt}}
}

// A storedDelivery receives deliveryColumns.
type storedDelivery struct {
	tidings.Delivery
	ntf   tidings.NotificationID
	n     int
	tried string
}

func (d *storedDelivery) dest() []any {
	return []any{into(&d.ntf), &d.n, &d.Lane, into(&d.AddressID), &d.Status, &d.Reason, instant{&d.DueAt}, &d.ClaimNo, &d.Tries,
		&d.tried, instant{&d.QueuedAt}, instant{&d.FinishedAt}}
}

// whole is the delivery with what follows from its columns.
func (d *storedDelivery) whole() tidings.Delivery {
	d.ID = tidings.DeliveryOf(d.ntf, d.n)
	d.Channel = d.Lane.Channel()
	if d.tried != "" {
		d.Tried = strings.Split(d.tried, ",")
	}
	return d.Delivery
}

// keyArgs are the first two arguments of statements about one delivery: its notification and ordinal.
func keyArgs(id tidings.DeliveryID, more ...any) []any {
	ntf := tidings.NotificationOf(id)
	return append([]any{ntf[:], int64(tidings.OrdinalOf(id))}, more...)
}
