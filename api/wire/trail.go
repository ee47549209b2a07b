package wire

import "tidings"

// Notification is the record of one event for one user.
type Notification struct {
	ID             tidings.NotificationID     `json:"id"`
	App            string                     `json:"app"`
	Type           string                     `json:"type"`
	UserID         string                     `json:"user_id"`
	Category       string                     `json:"category"`
	Status         tidings.NotificationStatus `json:"status"`
	DedupeKey      string                     `json:"dedupe_key"`
	CollapseKey    string                     `json:"collapse_key"`
	CatalogVersion int64                      `json:"catalog_version"`
	AcceptedAt     Time                       `json:"accepted_at"`
	ExpiresAt      Time                       `json:"expires_at"`
	CancelledAt    Time                       `json:"cancelled_at,omitzero"`
	Test           bool                       `json:"test" doc:"Posted with a test key: no provider was called."`
}

// Listed is a notification as lists show it.
type Listed struct {
	Notification
	Summary string `json:"summary" doc:"What became of it, in one sentence; empty where its record is damaged."`
}

// Page is a page of a list, newest first.
type Page struct {
	Data       []Listed `json:"data"`
	NextCursor *string  `json:"next_cursor" doc:"The cursor of the next page; null: this is the last."`
}

// Trail is all that is known of a notification.
type Trail struct {
	Notification
	Summary    string     `json:"summary" doc:"What became of it, in one sentence."`
	Decisions  []Decision `json:"decisions"`
	Holds      []Hold     `json:"holds"`
	Deliveries []Delivery `json:"deliveries"`
	Timeline   []Moment   `json:"timeline" doc:"What happened, oldest first, in plain words."`

	Parts  []tidings.NotificationID `json:"parts,omitzero" doc:"Of a digest: the notifications that it tells of."`
	Digest tidings.NotificationID   `json:"digest,omitzero" doc:"The digest that told of this notification, together with others."`
}

// Hold is a decision postponed to a time.
type Hold struct {
	Channel tidings.Channel   `json:"channel"`
	Reason  tidings.Reason    `json:"reason"`
	Until   Time              `json:"until"`
	State   tidings.HoldState `json:"state"`
}

// Delivery is the notification on one channel to one address.
type Delivery struct {
	ID             tidings.DeliveryID `json:"id"`
	Channel        tidings.Channel    `json:"channel"`
	Lane           tidings.Lane       `json:"lane"`
	AddressID      tidings.AddressID  `json:"address_id"`
	Address        string             `json:"address" doc:"Masked."`
	Status         tidings.Status     `json:"status"`
	Final          bool               `json:"final" doc:"Nothing more will be tried; a late receipt may still tell more."`
	Reason         tidings.Reason     `json:"reason"`
	DueAt          Time               `json:"due_at"`
	QueuedAt       Time               `json:"queued_at"`
	FinishedAt     Time               `json:"finished_at"`
	OpenedAt       Time               `json:"opened_at"`
	ClickedAt      Time               `json:"clicked_at"`
	ReadAt         Time               `json:"read_at"`
	ComplainedAt   Time               `json:"complained_at"`
	UnsubscribedAt Time               `json:"unsubscribed_at"`
	Attempts       []Attempt          `json:"attempts"`
	Receipts       []Receipt          `json:"receipts"`
}

// Attempt is one provider call.
type Attempt struct {
	Number     int             `json:"number"`
	Provider   string          `json:"provider"`
	StartedAt  Time            `json:"started_at"`
	EndedAt    Time            `json:"ended_at"`
	Outcome    tidings.Outcome `json:"outcome"`
	HTTPStatus int             `json:"http_status"`
	Code       string          `json:"code" doc:"The provider's own code."`
	RetryAt    Time            `json:"retry_at"`
	Ref        string          `json:"ref" doc:"The provider's reference of the message."`
	Late       bool            `json:"late,omitzero" doc:"The answer came after the lease had ended; it counts as evidence."`
}

// Receipt is what a provider reported later.
type Receipt struct {
	Provider   string                `json:"provider"`
	Status     tidings.ReceiptStatus `json:"status"`
	Code       string                `json:"code"`
	At         Time                  `json:"at"`
	ReceivedAt Time                  `json:"received_at"`
}

// Moment is one thing that happened.
type Moment struct {
	At         Time               `json:"at"`
	Kind       string             `json:"kind" doc:"accepted, decided, held, released, queued, attempt, receipt, address_retired, address_moved, cancelled, redriven or expired."`
	DeliveryID tidings.DeliveryID `json:"delivery_id,omitzero"`
	Text       string             `json:"text"`
}

// Cancelled is what a cancel did.
type Cancelled struct {
	Cancelled  []tidings.DeliveryID `json:"cancelled" doc:"Will not be sent."`
	Cancelling []tidings.DeliveryID `json:"cancelling" doc:"Being sent at this moment; will not be tried again."`
	Holds      int                  `json:"holds" doc:"How many held decisions were called off."`
	Kept       []Kept               `json:"kept" doc:"Too late for these."`
}

// Kept is a delivery that a cancel could not stop.
type Kept struct {
	ID     tidings.DeliveryID `json:"id"`
	Status tidings.Status     `json:"status"`
}
