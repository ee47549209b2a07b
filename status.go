package tidings

// A Status is where a delivery stands. The first four are live while the delivery has a due
// time; unknown without a due time, and all others, are ends.
type Status string

// The statuses of a delivery as stored.
const (
	Parked     Status = "parked"     // due_at is when it may enter its lane
	Queued     Status = "queued"     // due_at is the stamp of its last publish
	Sending    Status = "sending"    // due_at is the end of the lease
	Unknown    Status = "unknown"    // due_at is how long to wait for a receipt; none means given up
	Sent       Status = "sent"       // a provider accepted it
	Delivered  Status = "delivered"  // a receipt says that it arrived
	Bounced    Status = "bounced"    // accepted, then refused by the far end
	Failed     Status = "failed"     // refused for good
	Expired    Status = "expired"    // too late to be of use
	Cancelled  Status = "cancelled"  // called off, superseded, or its user erased
	Suppressed Status = "suppressed" // the user may not get it
	Dead       Status = "dead"       // needs a person, who redrives it or calls it off
)

// Retrying is how a delivery shows that waits for another try; it is never stored.
const Retrying Status = "retrying"

// A NotificationStatus sums up the deliveries and holds of a notification.
type NotificationStatus string

// The statuses of a notification: held if nothing is left and something is held, else the best of the others in this order.
const (
	NotificationHeld       NotificationStatus = "held"
	NotificationDelivered  NotificationStatus = "delivered"
	NotificationSent       NotificationStatus = "sent"
	NotificationAccepted   NotificationStatus = "accepted"
	NotificationFailed     NotificationStatus = "failed"
	NotificationExpired    NotificationStatus = "expired"
	NotificationCancelled  NotificationStatus = "cancelled"
	NotificationSuppressed NotificationStatus = "suppressed"
)

// NotificationStatuses is every status of a notification.
func NotificationStatuses() []NotificationStatus {
	return []NotificationStatus{NotificationHeld, NotificationDelivered, NotificationSent, NotificationAccepted, NotificationFailed,
		NotificationExpired, NotificationCancelled, NotificationSuppressed}
}

// A Reason says why a delivery, decision or hold is as it is. The list is closed.
type Reason string

// The reasons.
const (
	ReasonSimulated           Reason = "simulated"
	ReasonNoAddress           Reason = "no_address"
	ReasonNoProvider          Reason = "no_provider"
	ReasonNotRequested        Reason = "not_requested"
	ReasonAddressRetired      Reason = "address_retired"
	ReasonAddressMoved        Reason = "address_moved"
	ReasonQuarantined         Reason = "quarantined"
	ReasonOptedOutChannel     Reason = "opted_out_channel"
	ReasonOptedOutCategory    Reason = "opted_out_category"
	ReasonOptedOutAll         Reason = "opted_out_all"
	ReasonConsentMissing      Reason = "consent_missing"
	ReasonSuppressedBounce    Reason = "suppressed_bounce"
	ReasonSuppressedComplaint Reason = "suppressed_complaint"
	ReasonQuietHours          Reason = "quiet_hours"
	ReasonScheduled           Reason = "scheduled"
	ReasonDigested            Reason = "digested"
	ReasonEscalation          Reason = "escalation"
	ReasonRateLimitedUser     Reason = "rate_limited_user"
	ReasonRateLimitedCategory Reason = "rate_limited_category"
	ReasonExpired             Reason = "expired"
	ReasonCancelled           Reason = "cancelled"
	ReasonSuperseded          Reason = "superseded"
	ReasonTemplateError       Reason = "template_error"
	ReasonContentTooLarge     Reason = "content_too_large"
	ReasonRecipientDead       Reason = "recipient_dead"
	ReasonRecipientRejected   Reason = "recipient_rejected"
	ReasonProviderRejected    Reason = "provider_rejected"
	ReasonProviderBroken      Reason = "provider_broken"
	ReasonRetriesSpent        Reason = "retries_spent"
	ReasonPoison              Reason = "poison"
	ReasonOutcomeUnknown      Reason = "outcome_unknown"
	ReasonRedriven            Reason = "redriven"
	ReasonSidelined           Reason = "sidelined"
	ReasonLoopBrake           Reason = "loop_brake"
	ReasonErased              Reason = "erased"
)

// Reasons is every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonSimulated, ReasonNoAddress, ReasonNoProvider, ReasonNotRequested, ReasonAddressRetired, ReasonAddressMoved,
		ReasonQuarantined, ReasonOptedOutChannel, ReasonOptedOutCategory, ReasonOptedOutAll, ReasonConsentMissing,
		ReasonSuppressedBounce, ReasonSuppressedComplaint, ReasonQuietHours, ReasonScheduled, ReasonDigested,
		ReasonEscalation, ReasonRateLimitedUser, ReasonRateLimitedCategory, ReasonExpired, ReasonCancelled,
		ReasonSuperseded, ReasonTemplateError, ReasonContentTooLarge, ReasonRecipientDead, ReasonRecipientRejected,
		ReasonProviderRejected, ReasonProviderBroken, ReasonRetriesSpent, ReasonPoison, ReasonOutcomeUnknown,
		ReasonRedriven, ReasonSidelined, ReasonLoopBrake, ReasonErased,
	}
}

// An Outcome is how one attempt ended: ok, or one of the faults.
type Outcome string

// The outcomes. Every outcome but OK is a fault.
const (
	OK               Outcome = "ok"
	RecipientDead    Outcome = "recipient_dead"    // the address is gone for good
	RecipientOptout  Outcome = "recipient_optout"  // the person said stop to the provider
	RecipientSuspect Outcome = "recipient_suspect" // the address may be gone; two strikes
	RecipientTemp    Outcome = "recipient_temp"    // mailbox full, handset off
	Throttled        Outcome = "throttled"         // too many calls; see the scope
	Transient        Outcome = "transient"         // the provider is in trouble
	ConfigFault      Outcome = "config_fault"      // our credentials or set-up are wrong
	QuotaSpent       Outcome = "quota_spent"       // the day's or month's allowance is used up
	ContentRejected  Outcome = "content_rejected"  // this message will never be taken
	PolicyBlocked    Outcome = "policy_blocked"    // not by this sender or to this country
	OutcomeExpired   Outcome = "expired"           // too late, said the provider
	NotSent          Outcome = "not_sent"          // no bytes of the message left: safe to repeat
	OutcomeUnknown   Outcome = "unknown"           // bytes left and no answer came
)

// Faults is every outcome but OK.
func Faults() []Outcome {
	return []Outcome{RecipientDead, RecipientOptout, RecipientSuspect, RecipientTemp, Throttled, Transient, ConfigFault,
		QuotaSpent, ContentRejected, PolicyBlocked, OutcomeExpired, NotSent, OutcomeUnknown}
}

// OptedOut reports whether the user asked not to be told.
func (r Reason) OptedOut() bool {
	return r == ReasonOptedOutAll || r == ReasonOptedOutChannel || r == ReasonOptedOutCategory
}
