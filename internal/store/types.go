package store

import (
	"encoding/json"
	"time"

	"tidings"
	"tidings/preferences"
)

// An Acceptance is one notification to be written, with all that the decision gave. Addresses
// of the decision that the log does not have yet come in NewAddresses.
type Acceptance struct {
	Notification tidings.Notification
	User         *tidings.User // as it shall be; nil: as it is. An unknown user is made either way
	Seen         tidings.User  // what User was made from, as it was read; without CreatedAt: there was none
	NewAddresses []tidings.Address
	OldAddresses []tidings.AddressID // addresses that the user's new fields retire
	Dedupe       *Dedupe
	Deliveries   []NewDelivery
	Holds        []tidings.Hold
	Count        *Count        // nil: no limit counts what is sent of it
	Join         *Join         // nil: no hold waits for a digest
	Flush        *Flush        // nil: it is no digest
	Leave        []Leaving     // of the digest whose hold it consumes: what that does not tell of any more
	Release      *tidings.Hold // the hold that this acceptance consumes: Notification exists then, and only deliveries, holds and decisions are added
}

// Dedupe is the memory of an accepted request.
type Dedupe struct {
	Hash      [32]byte // of the canonical request without its key
	ExpiresAt time.Time
}

// A NewDelivery is a delivery to be written; its ordinal is its place, after those that exist.
type NewDelivery struct {
	Lane    tidings.Lane
	Address tidings.AddressID
	Status  tidings.Status // Queued or Parked
	DueAt   time.Time      // the stamp, or when it may enter its lane
	// FreshUntil is when it becomes late work, which waits aside; zero: never.
	FreshUntil time.Time
}

// Accepted is what became of one Acceptance.
type Accepted struct {
	ID         tidings.NotificationID // the first one's, when Duplicate or Conflict
	Duplicate  bool                   // the same request was accepted before
	Conflict   bool                   // another request was accepted under the same key
	Consumed   bool                   // the hold to release or the digest to flush was gone: nothing was written
	Deliveries []tidings.DeliveryID   // in the order of Acceptance.Deliveries
	Err        error                  // this one is not known to be written; the others stand. ErrChanged: it is not, for its user is not as seen
	Decided    *Decided               // where limits or digests changed what was decided: what was written
}

// A ClaimRequest asks to take deliveries of one lane for sending.
type ClaimRequest struct {
	Lane  tidings.Lane
	IDs   []tidings.DeliveryID
	Now   time.Time
	Lease time.Duration
	// Seized is the number under which the one delivery of the request was seized; 0: it was not.
	Seized int
	// Check is asked inside the transaction, with the rows locked: an empty status lets the
	// claim pass, Parked puts it off until due, anything else ends it.
	Check func(c *Claimed) (status tidings.Status, reason tidings.Reason, due time.Time)
	// Stale is asked about a digest that passes the check: what it is not to tell of any more; nil: nothing.
	Stale func(c *Claimed) []Leaving
	// PutOff is when what quiet hours put off until an instant is due; nil: then.
	PutOff func(until, expires time.Time) time.Time
}

// Claimed is a delivery with what is needed to check, render and send it.
type Claimed struct {
	Delivery     tidings.Delivery     // ClaimNo and Tries are the new ones once claimed
	Notification tidings.Notification // Data is open
	User         tidings.User
	Address      tidings.Address // as it is now; zero Status: deleted
	Preferences  preferences.Preferences
	Suppressed   *preferences.Suppression
	Late         bool // it was set aside
	// Why is what a check that answers Parked may say for the timeline, in words for people.
	Why string
	// Cause is more of the reason that a check gave, for the timeline.
	Cause tidings.Cause
}

// A Result is what a claim came to. The transition is fenced by Attempt.Number; the attempt is
// kept in any case.
type Result struct {
	Attempt tidings.Attempt
	Lane    tidings.Lane
	Called  string         // the provider that was called, or may have been; empty: none was
	Status  tidings.Status // what the delivery becomes if the claim still holds
	Reason  tidings.Reason
	DueAt   time.Time // for Parked and Unknown
	Refund  bool      // the try does not count
	Tried   []string  // providers tried since the last pause
	// OnlyHeld drops the attempt when the claim no longer holds: it is no news of the call, only
	// of nobody having told of it.
	OnlyHeld bool

	Address tidings.AddressID
	Effect  AddressEffect
}

// An AddressEffect is what a result does to the address.
type AddressEffect struct {
	Kind      EffectKind
	DeadSince time.Time // Retire only what was registered before; zero: whatever
}

// EffectKind names an AddressEffect.
type EffectKind string

// The effects on an address.
const (
	EffectNone      EffectKind = ""
	EffectOK        EffectKind = "ok"        // it worked: last_ok_at, strikes forgotten
	EffectRetire    EffectKind = "retire"    // proven dead
	EffectStrike    EffectKind = "strike"    // the second within 24 hours quarantines
	EffectStrikeOut EffectKind = "strikeout" // the second within 24 hours retires
	EffectSuppress  EffectKind = "suppress"  // the person said stop
)

// Recorded is what a Result came to.
type Recorded struct {
	Late    bool           // the claim was no longer held: kept as evidence
	Status  tidings.Status // as it stands now
	Retired bool           // the address was retired by this result
}

// A Return gives a claim back without a call having been made: parked until DueAt, the try refunded.
type Return struct {
	ID      tidings.DeliveryID
	Lane    tidings.Lane
	ClaimNo int
	DueAt   time.Time
	At      time.Time
	Why     string // for the timeline, in words for people; empty: it is not told
}

// Overdue is a row whose lease or wait for a receipt is over.
type Overdue struct {
	Delivery     tidings.Delivery // Status is Sending or Unknown
	Address      tidings.Address  // what routes go by: its channel, provider and value; the last two empty: it is gone
	Notification tidings.Notification
	Died         int // of a sending row: how many claims right before this one died too, in a row
}

// A Resolution ends or retries a row that waited for a receipt in vain.
type Resolution struct {
	ID      tidings.DeliveryID
	Lane    tidings.Lane
	ClaimNo int
	Status  tidings.Status // Parked, or Unknown with zero DueAt: given up
	Reason  tidings.Reason
	DueAt   time.Time
	Tried   []string // providers tried since the last pause
	Why     string   // of Unknown: why it is not tried again, for the timeline, in words for people
}

// LaneStats are the counts of one lane in the log.
type LaneStats struct {
	Parked  int       // waiting for their due time
	Due     int       // parked and due, not in the lane yet
	Turn    int       // parked until their turn at a provider, never tried and not late: due but for that
	Queued  int       // in the lane
	Sending int       // claimed
	Unknown int       // waiting for a receipt
	Oldest  time.Time // due time of the oldest parked-due or queued delivery, or when one that waits for its turn was queued; zero: none
	NextDue time.Time // earliest due time of what is parked; zero: none
	Late    time.Time // when the first of what is parked is fresh work no more; zero: never
	Aside   bool      // some of what is parked waits aside, since it is late
	Turns   bool      // some of what is not late waits for its turn at a provider
}

// LaneState is what an operator set for a lane.
type LaneState struct {
	Lane   tidings.Lane
	Paused bool
	Since  time.Time
	Rate   float64 // deliveries a second, over all processes; 0: as fast as the providers
}

// Cancellation is what a cancel did.
type Cancellation struct {
	Cancelled  []tidings.DeliveryID
	Cancelling []tidings.DeliveryID // in flight: not retried
	Holds      int
	Kept       []Kept
}

// Kept is a delivery that a cancel could not stop.
type Kept struct {
	ID     tidings.DeliveryID
	Status tidings.Status
}

// Trail is all that is known of one notification.
type Trail struct {
	Notification tidings.Notification // Data is nil when sensitive
	Deliveries   []TrailDelivery
	Holds        []tidings.Hold
	Timeline     []Moment                 // what the other members do not tell, by time
	Pauses       []Pause                  // that lasted since it was accepted, of all providers and lanes
	Rates        map[tidings.Lane]float64 // deliveries a second that operators set for lanes; 0: none
	WorkedAt     time.Time                // when a process that works the lanes was seen last; zero: none runs
	OptOuts      []preferences.Entry      // what the user switched off, newest first; read when that stopped something

	Parts   []tidings.NotificationID // of a digest: what it tells of
	Digests []PartOf                 // that tell of it, on the channels whose holds waited for them; mostly none or one

	broken error // why it cannot be read; nil: it can
}

// PartOf is how a digest stands on the channels on which it tells of a notification.
type PartOf struct {
	Digest     tidings.Notification // ID, Decisions, ExpiresAt and CancelledAt of it
	Channels   []tidings.Channel
	Deliveries []TrailDelivery // on those: ID, Channel, Lane, Status, Reason, DueAt, Tries, FinishedAt, Attempts and Receipts
	Holds      []tidings.Hold  // on those, that wait: Channel, Reason and Until

	Causes map[tidings.Channel]tidings.Cause // on those: more of why what was not sent there was not
}

// TrailDelivery is a delivery with its attempts and receipts.
type TrailDelivery struct {
	tidings.Delivery
	SidelinedAt time.Time // when it was set aside, since it was late; zero: never
	Provider    string    // of the address
	Attempts    []tidings.Attempt
	Receipts    []tidings.Receipt
}

// A Moment is an entry of the timeline.
type Moment struct {
	At       time.Time
	Kind     string             // held, released, queued (put back, and why), decided, address_retired, address_moved, cancelled, redriven, expired
	Delivery tidings.DeliveryID // zero: the notification as a whole
	Text     string
}

// A Filter selects notifications, newest first. Zero members select all.
type Filter struct {
	App       string
	UserID    string
	Type      string
	DedupeKey string
	Status    tidings.NotificationStatus
	Channel   tidings.Channel
	Reason    tidings.Reason
	Since     time.Time
	Until     time.Time
	Before    tidings.NotificationID // page on: only older ones
	Limit     int
	Scan      int // how many notifications are looked at; 0: 10,000
}

// Listed is a notification with its status and reach, without its trail.
type Listed struct {
	Notification tidings.Notification
	Status       tidings.NotificationStatus
}

// A Key is an API key without its secret.
type Key struct {
	ID        string // tid_live_… or tid_test_…
	App       string
	Hash      [32]byte // SHA-256 of the secret
	Scopes    []string
	Test      bool
	CreatedAt time.Time
	RevokedAt time.Time
}

// Catalog is one stored version of the catalogue.
type Catalog struct {
	Version   int64
	Hash      string
	Files     map[string]string
	CreatedAt time.Time
}

// UserChange is a user as PUT: fields that go away retire their addresses.
type UserChange struct {
	ID         string
	Locale     string
	Timezone   string
	Email      string
	Phone      string
	Attributes json.RawMessage
	By         preferences.Origin // by which way it came, for the ledger
}
