package tidings

import (
	"encoding/json"
	"slices"
	"time"
)

// A User is the person to be told something. Users are shared by all apps of a deployment.
type User struct {
	ID         string
	Locale     string // BCP 47; empty: the deployment's default
	Timezone   string // IANA name; empty: the likeliest of the phone's area, else the deployment's default
	Email      string
	Phone      string // E.164
	Attributes json.RawMessage
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// AddressStatus says whether an address may be used.
type AddressStatus string

// The statuses of an address.
const (
	AddressActive      AddressStatus = "active"
	AddressQuarantined AddressStatus = "quarantined" // two suspicious refusals; registering it again lifts it
	AddressRetired     AddressStatus = "retired"     // proven dead, deleted, or moved to another user
)

// An Address is one place where a user can be reached.
type Address struct {
	ID           AddressID
	UserID       string
	Channel      Channel
	Provider     string // configured provider name of a push token; empty elsewhere
	Value        string // token, e-mail address, phone number or URL
	Status       AddressStatus
	Reason       Reason // why it is not active
	Strikes      int    // suspicious refusals since it last worked or was registered
	StruckAt     time.Time
	RegisteredAt time.Time
	LastOKAt     time.Time
	RetiredAt    time.Time
}

// A Notification is the record of one event for one user, with the decision taken.
type Notification struct {
	ID             NotificationID
	App            string
	Test           bool // posted with a test key: no provider is called
	Type           string
	UserID         string
	Category       string
	CatalogVersion int64
	DedupeKey      string
	CollapseKey    string
	Data           json.RawMessage // as posted; sealed at rest when Sensitive
	Sensitive      bool
	Decisions      []Decision
	AcceptedAt     time.Time
	ExpiresAt      time.Time
	Parts          int       // how many notifications it tells of; 0: it is no digest
	CancelledAt    time.Time // the mark of a cancel; deliveries in flight are not retried after it
}

// PlaceOf is the place of a channel among the decisions, in whose order everything of a notification
// is listed to people; a channel without one comes last.
func (n *Notification) PlaceOf(c Channel) int {
	if i := slices.IndexFunc(n.Decisions, func(d Decision) bool { return d.Channel == c }); i >= 0 {
		return i
	}
	return len(n.Decisions)
}

// An Action is what was decided for one channel.
type Action string

// The actions.
const (
	ActionSend     Action = "send"
	ActionHold     Action = "hold"
	ActionSuppress Action = "suppress"
)

// A Decision is what was decided for one channel of a notification.
type Decision struct {
	Channel   Channel   `json:"channel"`
	Action    Action    `json:"action"`
	Addresses int       `json:"addresses,omitzero"` // how many, when sending
	Reason    Reason    `json:"reason,omitzero"`    // why, when holding or suppressing
	Until     time.Time `json:"until,omitzero"`     // the first instant at which it may go out, when holding
	Shifted   bool      `json:"shifted,omitzero"`   // it was asked for a time that the user's clock is put forward over
	Cause     Cause     `json:"cause,omitzero"`     // more of why, where the reason covers several things
	At        time.Time `json:"at,omitzero"`

	To []Address `json:"-"` // the addresses, when sending
}

// A Cause says more of why than a Reason that covers several things; empty: the reason says it all.
type Cause string

// The causes.
const (
	CauseThread  Cause = "thread"  // of opted_out_category: one thread is muted
	CauseChannel Cause = "channel" // of consent_missing: a yes to this channel is, whatever there is to others
	CauseLaw     Cause = "law"     // of quiet_hours: the law has marketing SMS wait; of expired: for longer than they are of use
	CauseWindow  Cause = "window"  // of quiet_hours: the catalogue has them wait; of expired: for longer than they are of use
	CauseQuiet   Cause = "quiet"   // of expired: the user's quiet hours last for longer than it is of use
	CauseRoute   Cause = "route"   // of no_provider: those of the channel do not carry to the address
	CauseLimits  Cause = "limits"  // of expired: the user's limits are used up for longer than it is of use
	CauseNever   Cause = "never"   // of quiet_hours: the hours in which they may come leave no moment
)

// A Hold is a decision postponed to a time.
type Hold struct {
	ID           HoldID
	Notification NotificationID
	Channel      Channel
	Reason       Reason
	Until        time.Time // the first instant at which it may go out, by what was known
	DueAt        time.Time // when it is decided again: Until or a little later; zero: Until, of a digest: when that closes
	State        HoldState
	CalledOff    Reason // why, of a cancelled one
}

// HoldState says what became of a hold.
type HoldState string

// The states of a hold.
const (
	HoldWaiting   HoldState = "waiting"
	HoldReleased  HoldState = "released"
	HoldCancelled HoldState = "cancelled"
)

// A Delivery is a notification on one channel to one address, through one lane.
type Delivery struct {
	ID         DeliveryID
	Channel    Channel
	Lane       Lane
	AddressID  AddressID
	Address    string // as stored; mask it before showing
	Status     Status
	Reason     Reason
	DueAt      time.Time // zero: finished
	ClaimNo    int       // rises at every claim: the fence
	Tries      int       // what the retry budget counts
	Tried      []string  // providers tried since the last pause; with ! behind the name where our account or set-up is at fault
	QueuedAt   time.Time
	FinishedAt time.Time

	OpenedAt, ClickedAt, ReadAt, ComplainedAt, UnsubscribedAt time.Time
}

// An Attempt is one provider call for a delivery.
type Attempt struct {
	Delivery   DeliveryID
	Number     int // the claim's number
	Late       bool
	Provider   string
	StartedAt  time.Time
	EndedAt    time.Time
	Outcome    Outcome
	HTTPStatus int
	Code       string // the provider's own code
	Text       string // the provider's own words, without secrets or addresses
	RetryAt    time.Time
	Ref        string // the provider's reference, by which receipts find the attempt
	Refused    bool   // accepted, then refused by a receipt
	Delivered  bool   // a receipt says that it arrived
}

// ReceiptStatus is what a provider reports after it accepted.
type ReceiptStatus string

// The statuses of a receipt. Those from ReceiptOpened on are engagement and never change a delivery's status.
const (
	ReceiptAccepted   ReceiptStatus = "accepted"  // queued at the provider
	ReceiptSent       ReceiptStatus = "sent"      // handed to the carrier
	ReceiptDelivered  ReceiptStatus = "delivered" // arrived
	ReceiptFailed     ReceiptStatus = "failed"    // will not arrive
	ReceiptBounced    ReceiptStatus = "bounced"   // refused by the far end
	ReceiptOpened     ReceiptStatus = "opened"
	ReceiptClicked    ReceiptStatus = "clicked"
	ReceiptComplained ReceiptStatus = "complained"
)

// CodeCut is the code of an attempt whose call was cut since the process was stopped and had no time left.
const CodeCut = "stopped"

// A Receipt is what a provider or client reports about an attempt after it was accepted.
type Receipt struct {
	Provider   string     // configured name
	Ref        string     // the provider's reference
	Delivery   DeliveryID // when the callback carries it; else found by Ref
	Attempt    int        // when the callback carries it; 0: found by Ref
	Status     ReceiptStatus
	Outcome    Outcome // for failed and bounced: which fault it amounts to
	Code       string
	At         time.Time // the provider's time; else when it arrived
	ReceivedAt time.Time
}

// Refuses reports whether the receipt says that the message will not arrive.
func (r Receipt) Refuses() bool { return r.Status == ReceiptFailed || r.Status == ReceiptBounced }
