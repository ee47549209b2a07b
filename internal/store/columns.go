package store

import (
	"strings"

	"tidings"
)

// The columns that several statements read, in the order in which the functions beside them
// scan. Statements name them as {{notification}}, of n, and {{delivery}}, of d; {{dead}}, {{turn}}, {{any turn}}, {{broken}} and {{listed}} are conditions.
const (
	notificationColumns = "n.id, n.app, n.test, n.type, n.user_id, n.category, n.catalog_version, n.collapse_key, n.sensitive, " +
		"n.data, n.accepted_at, n.expires_at, n.parts, n.cancelled_at"
	deliveryColumns = "d.ntf, d.n, d.lane, d.address_id, d.status, d.reason, d.due_at, d.claim_no, d.tries, d.tried, d.queued_at, d.finished_at"
	// deadCondition selects dead deliveries d, of notifications n, by the members of a DeadFilter from $3 on.
	deadCondition = "d.status = 'dead' AND ($3 = '' OR d.lane LIKE $3 || '.%') AND ($4 = '' OR d.lane = $4) AND ($5 = '' OR d.reason = $5)" +
		" AND ($6 = '' OR n.app = $6) AND ($7 = '' OR n.type = $7) AND ($8 = '' OR n.user_id = $8)" +
		" AND ($9 = '' OR EXISTS (SELECT 1 FROM attempts o WHERE o.ntf = d.ntf AND o.n = d.n AND o.provider = $9))" +
		" AND d.finished_at >= $10 AND d.finished_at < $11"
	// anyTurnCondition selects what was not tried and waits for its turn at a provider, where it is due later, and turnCondition
	// what of that is not late; they have an index.
	anyTurnCondition = "status = 'parked' AND reason = '' AND claim_no = 0"
	turnCondition    = anyTurnCondition + " AND sidelined_at IS NULL"
	// brokenCondition selects deliveries whose last attempt a provider refused since our account or set-up is broken. Their
	// time is over, and somebody must know.
	brokenCondition = "(deliveries.reason <> 'redriven' AND (SELECT a.outcome FROM attempts a WHERE a.ntf = deliveries.ntf AND a.n = deliveries.n" +
		" ORDER BY a.claim_no DESC LIMIT 1) IN ('config_fault', 'quota_spent'))"
	// listCondition selects notifications n by the members of a Filter from $5 on. What was only held bears
	// the reason for which it was called off beside that for which it was held.
	listCondition = "($5 = '' OR n.app = $5) AND ($6 = '' OR n.type = $6) AND ($7 = '' OR n.dedupe_key = $7)" +
		" AND (($8 = '' AND $9 = '')" +
		" OR EXISTS (SELECT 1 FROM deliveries x WHERE x.ntf = n.id AND ($8 = '' OR x.lane LIKE $8 || '.%') AND ($9 = '' OR x.reason = $9))" +
		" OR EXISTS (SELECT 1 FROM holds h WHERE h.ntf = n.id AND ($8 = '' OR h.channel = $8) AND ($9 = '' OR h.reason = $9 OR h.called_off = $9))" +
		` OR ($9 <> '' AND (n.decisions LIKE $10 ESCAPE '\' OR n.decisions LIKE $11 ESCAPE '\')))`
)

// lanes is every lane, quoted: with it the statements over all lanes can use the index of live
// deliveries, which begins with the lane.
func lanes() string {
	var names []string
	for _, l := range tidings.Lanes() {
		names = append(names, "'"+string(l)+"'")
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
		truth{&n.Sensitive}, &n.data, instant{&n.AcceptedAt}, instant{&n.ExpiresAt}, &n.Parts, instant{&n.CancelledAt}}
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
