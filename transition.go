package tidings

import "slices"

// An Event is what may happen to a delivery.
type Event string

// The events of a delivery's life.
const (
	EventDue        Event = "due"         // its time has come and its lane has room
	EventUnqueued   Event = "unqueued"    // its lane entry was refused or is lost
	EventClaimed    Event = "claimed"     // a worker took it and the checks passed
	EventRefused    Event = "refused"     // a worker took it and a check said no, or not now
	EventRecorded   Event = "recorded"    // the attempt of the claim came to this
	EventLeaseOver  Event = "lease_over"  // the claim is too old: nobody knows what came of it
	EventWaitOver   Event = "wait_over"   // no receipt came in time
	EventLateRecord Event = "late_record" // news of an attempt whose claim was lost
	EventReceipt    Event = "receipt"     // the provider reported
	EventExpiry     Event = "expiry"      // it is of no more use
	EventCancel     Event = "cancel"      // it is called off, or its user erased
	EventRedrive    Event = "redrive"     // a person tries it again
)

// A Transition is one change of status that may happen.
type Transition struct {
	From  Status
	Event Event
	To    []Status
}

// Transitions is the whole table. What it does not name never happens; an event that may leave
// the status as it is does not name it again.
func Transitions() []Transition {
	positive := []Status{Sent, Delivered}
	news := slices.Concat(positive, []Status{Failed, Bounced, Expired, Suppressed})
	return []Transition{
		{Parked, EventDue, []Status{Queued}},
		{Parked, EventLateRecord, news},
		{Parked, EventReceipt, news},
		{Parked, EventExpiry, []Status{Expired}},
		{Parked, EventCancel, []Status{Cancelled}},

		{Queued, EventUnqueued, []Status{Parked}},
		{Queued, EventClaimed, []Status{Sending}},
		{Queued, EventRefused, []Status{Parked, Expired, Cancelled, Suppressed, Failed, Dead}},
		{Queued, EventLateRecord, news},
		{Queued, EventReceipt, news},
		{Queued, EventExpiry, []Status{Expired}},
		{Queued, EventCancel, []Status{Cancelled}},

		{Sending, EventRecorded, []Status{Parked, Unknown, Sent, Delivered, Bounced, Failed, Expired, Cancelled, Suppressed, Dead}},
		{Sending, EventLeaseOver, []Status{Parked, Unknown, Cancelled, Dead}},
		{Sending, EventLateRecord, positive},
		{Sending, EventReceipt, news},

		{Unknown, EventWaitOver, []Status{Parked, Cancelled}},
		{Unknown, EventLateRecord, append(slices.Clip(news), Parked, Cancelled, Dead)},
		{Unknown, EventReceipt, news},
		{Unknown, EventRedrive, []Status{Parked, Expired, Cancelled}},

		{Sent, EventLateRecord, []Status{Delivered}},
		{Sent, EventReceipt, []Status{Delivered, Failed, Bounced, Expired, Suppressed}},
		{Bounced, EventLateRecord, positive},
		{Bounced, EventReceipt, []Status{Sent, Delivered, Failed, Expired, Suppressed}},
		{Failed, EventLateRecord, append(positive, Bounced)},
		{Failed, EventReceipt, []Status{Sent, Delivered, Bounced, Expired, Suppressed}},
		{Failed, EventRedrive, []Status{Parked, Expired, Cancelled}},
		{Dead, EventLateRecord, positive},
		{Dead, EventReceipt, positive},
		{Dead, EventCancel, []Status{Cancelled}},
		{Dead, EventRedrive, []Status{Parked, Expired, Cancelled}},
		{Expired, EventLateRecord, positive},
		{Expired, EventReceipt, []Status{Sent, Delivered, Failed, Bounced, Suppressed}},
		{Cancelled, EventLateRecord, positive},
		{Cancelled, EventReceipt, positive},
		{Suppressed, EventLateRecord, positive},
		{Suppressed, EventReceipt, positive},
	}
}

// CanBecome reports whether any event leads from one status to the other. A status can always stay.
func CanBecome(from, to Status) bool {
	return from == to || slices.ContainsFunc(Transitions(), func(t Transition) bool {
		return t.From == from && slices.Contains(t.To, to)
	})
}

// Live reports whether a delivery with this status and due time is unfinished. An unknown
// outcome is live while a receipt is waited for.
func (s Status) Live(due bool) bool {
	switch s {
	case Parked, Queued, Sending:
		return true
	case Unknown:
		return due
	}
	return false
}
