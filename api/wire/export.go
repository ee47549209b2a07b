package wire

import (
	"encoding/json"

	"tidings"
)

// Export is everything held about a person.
type Export struct {
	User          User               `json:"user"`
	Addresses     []FullAddress      `json:"addresses"`
	Preferences   Preferences        `json:"preferences"`
	Suppressions  []Suppression      `json:"suppressions"`
	Consents      []Consent          `json:"consents" doc:"The ledger, newest first."`
	Notifications []FullNotification `json:"notifications"`
	Deliveries    []FullDelivery     `json:"deliveries" doc:"Of the notifications and in their order, with attempts and receipts, and when they were opened, clicked and so on."`
	Holds         []HeldBack         `json:"holds" doc:"What was decided to wait, newest first."`
	Digests       []Digest           `json:"digests" doc:"What was gathered to be told of together, newest first."`
	Counters      []Counter          `json:"counters" doc:"When the user was told something, as far as caps and cooldowns must know."`
}

// FullDelivery is a delivery with the notification that it is of.
type FullDelivery struct {
	NotificationID tidings.NotificationID `json:"notification_id"`
	Delivery
}

// HeldBack is a hold with the notification that it is of.
type HeldBack struct {
	NotificationID tidings.NotificationID `json:"notification_id"`
	Hold
}

// Digest gathers events of one type under one key.
type Digest struct {
	ID             tidings.DigestID         `json:"id"`
	App            string                   `json:"app"`
	Type           string                   `json:"type"`
	Key            string                   `json:"key"`
	Channels       []tidings.Channel        `json:"channels"`
	Test           bool                     `json:"test"`
	State          string                   `json:"state" doc:"open, closed or flushed: then it became a notification."`
	OpenedAt       Time                     `json:"opened_at"`
	ClosesAt       Time                     `json:"closes_at"`
	NotificationID tidings.NotificationID   `json:"notification_id,omitzero" doc:"That it became."`
	Items          []tidings.NotificationID `json:"items"`
}

// Counter counts what a user was told under a limit.
type Counter struct {
	Scope string `json:"scope" doc:"user, category:NAME or type:NAME."`
	Test  bool   `json:"test" doc:"By test keys."`
	Times []Time `json:"times" doc:"Oldest first."`
	Until Time   `json:"until" doc:"From then on it counts nothing any more."`
}

// FullAddress is an address with its value in the clear.
type FullAddress struct {
	Address
	Full string `json:"full_value"`
}

// FullNotification is a notification with what it told.
type FullNotification struct {
	Notification
	Data json.RawMessage `json:"data,omitempty" doc:"Absent when sensitive or erased."`
}

// Suppression is a hard stop on an address.
type Suppression struct {
	Channel tidings.Channel `json:"channel"`
	Reason  tidings.Reason  `json:"reason"`
	At      Time            `json:"at"`
}
