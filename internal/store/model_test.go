package store_test

import (
	"time"

	"tidings"
)

// A modelled delivery is the table of transitions written down a second time, from its prose and
// apart from the product: what a delivery is after everything that happened to it. It knows no
// database, no other delivery and no order of evidence.
type modelled struct {
	id      tidings.DeliveryID
	of      *modelledNotification
	address int // which of the user's

	status   tidings.Status
	due      time.Time // zero: ended
	claimNo  int
	tries    int
	redriven bool            // and not claimed since: what was before ends it no more
	attempts map[answer]bool // recorded, in time or late
	told     map[int]*told   // by attempt
}

type modelledNotification struct {
	id        tidings.NotificationID
	expires   time.Time
	cancelled bool // marked
	all       []*modelled
	hold      tidings.HoldState // of its one hold; empty: it has none
	until     time.Time         // of the hold
}

// An answer is what somebody recorded of an attempt. The very same again is no other.
type answer struct {
	n       int
	outcome tidings.Outcome
	at      int64
}

// told is what is known of one attempt, by its own answer or by receipts.
type told struct {
	receipts                           map[tidings.ReceiptStatus]bool
	accepted, failed, bounced, stopped bool
	expired                            bool // a receipt said so
}

func (m *modelled) of1(n int) *told {
	if m.told[n] == nil {
		m.told[n] = &told{receipts: map[tidings.ReceiptStatus]bool{}}
	}
	return m.told[n]
}

func (m *modelled) is(s ...tidings.Status) bool {
	for _, status := range s {
		if m.status == status {
			return true
		}
	}
	return false
}

func (m *modelled) live() bool { return !m.due.IsZero() }

func (m *modelled) move(s tidings.Status, due time.Time) { m.status, m.due = s, due }

// end is an end. After a cancel was answered nothing is left for a person to try again.
func (m *modelled) end(s tidings.Status) {
	if s == tidings.Dead && m.of.cancelled {
		s = tidings.Cancelled
	}
	m.move(s, time.Time{})
	m.redriven = false
}

// park is what "parked" means after a cancel was answered: never again.
func (m *modelled) park(due time.Time) {
	if m.of.cancelled {
		m.end(tidings.Cancelled)
		return
	}
	m.move(tidings.Parked, due)
}

// fold is the end that the evidence gives; empty: none.
func (m *modelled) fold() tidings.Status {
	last, sent, stopped := 0, false, false
	for n, t := range m.told {
		if t.receipts[tidings.ReceiptDelivered] {
			return tidings.Delivered
		}
		refused := t.failed || t.bounced
		sent = sent || t.accepted && !refused
		stopped = stopped || t.stopped
		if refused {
			last = max(last, n)
		}
	}
	switch {
	case sent:
		return tidings.Sent
	case stopped:
		return tidings.Suppressed
	case last == 0:
		return ""
	case m.told[last].expired:
		return tidings.Expired
	case m.told[last].bounced:
		return tidings.Bounced
	}
	return tidings.Failed
}

// A verdict is what a worker makes of its call.
type verdict struct {
	outcome tidings.Outcome
	status  tidings.Status
	wait    time.Duration // until it is due; 0: at once, or for unknown: given up
	refund  bool
}

func verdicts() []verdict {
	return []verdict{
		{outcome: tidings.OK, status: tidings.Sent},
		{outcome: tidings.Transient, status: tidings.Parked, wait: 3 * time.Second},
		{outcome: tidings.NotSent, status: tidings.Parked, wait: time.Second, refund: true},
		{outcome: tidings.OutcomeUnknown, status: tidings.Parked, wait: time.Second},
		{outcome: tidings.OutcomeUnknown, status: tidings.Unknown, wait: 40 * time.Second},
		{outcome: tidings.OutcomeUnknown, status: tidings.Unknown},
		{outcome: tidings.ContentRejected, status: tidings.Failed},
		{outcome: tidings.RecipientOptout, status: tidings.Suppressed},
		{outcome: tidings.Transient, status: tidings.Dead},
		{outcome: tidings.OutcomeExpired, status: tidings.Expired},
	}
}

// recorded is a Record of claim n, whoever sends it and whenever it comes.
func (m *modelled) recorded(n int, v verdict, now time.Time) {
	held := m.is(tidings.Sending) && m.claimNo == n
	m.attempts[answer{n, v.outcome, now.UnixMicro()}] = true
	if v.outcome == tidings.OK {
		m.of1(n).accepted = true
		if end := m.fold(); held || end == tidings.Sent || end == tidings.Delivered {
			m.end(end)
		}
		return
	}
	if held {
		m.settle(v, now)
		return
	}
	if m.claimNo == n && !m.redriven {
		m.late(v, now)
	}
}

// settle is the record of a claim that holds.
func (m *modelled) settle(v verdict, now time.Time) {
	if v.refund {
		m.tries--
	}
	switch {
	case v.status == tidings.Parked:
		m.park(now.Add(v.wait))
	case v.status == tidings.Unknown && v.wait > 0:
		m.move(tidings.Unknown, now.Add(v.wait))
	default:
		m.end(v.status)
	}
}

// late is a failure of the newest claim, which was closed meanwhile.
func (m *modelled) late(v verdict, now time.Time) {
	unknown := m.is(tidings.Unknown)
	switch v.status {
	case tidings.Parked:
		switch {
		case !unknown || v.outcome == tidings.OutcomeUnknown:
		case !now.Before(m.of.expires):
			m.refund(v)
			m.end(tidings.Expired)
		default:
			m.settle(v, now)
		}
	case tidings.Failed, tidings.Suppressed:
		if unknown || m.is(tidings.Parked, tidings.Queued) {
			m.end(v.status)
		}
	case tidings.Dead, tidings.Expired:
		if unknown {
			m.end(v.status)
		}
	}
}

func (m *modelled) refund(v verdict) {
	if v.refund {
		m.tries--
	}
}

// heard takes in a receipt for attempt n; false: it says nothing new.
func (m *modelled) heard(n int, s tidings.ReceiptStatus, o tidings.Outcome) bool {
	t := m.of1(n)
	if t.receipts[s] {
		return false
	}
	t.receipts[s] = true
	no := s == tidings.ReceiptFailed || s == tidings.ReceiptBounced
	t.accepted = t.accepted || s == tidings.ReceiptAccepted || s == tidings.ReceiptSent
	t.failed, t.bounced = t.failed || s == tidings.ReceiptFailed, t.bounced || s == tidings.ReceiptBounced
	t.stopped = t.stopped || no && o == tidings.RecipientOptout
	t.expired = t.expired || no && o == tidings.OutcomeExpired
	return true
}

// reconsider follows the evidence. A refusal ends what is under way only if it is of the newest
// attempt, and leaves ends alone that the providers had no part in.
func (m *modelled) reconsider() {
	switch end := m.fold(); end {
	case "":
	case tidings.Sent, tidings.Delivered:
		m.end(end)
	default:
		newest := m.told[m.claimNo]
		refused := newest != nil && (newest.failed || newest.bounced)
		if m.live() && (!refused || m.redriven) || m.is(tidings.Cancelled, tidings.Dead, tidings.Suppressed) || m.is(tidings.Expired) && !m.toldExpired() {
			return
		}
		m.end(end)
	}
}

// toldExpired reports whether a provider said that it was too late.
func (m *modelled) toldExpired() bool {
	for _, t := range m.told {
		if t.expired {
			return true
		}
	}
	return false
}
