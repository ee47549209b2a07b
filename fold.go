package tidings

import "slices"

// Fold is the end that the evidence gives a delivery, whatever the order in which it came:
// delivered if any attempt was; else sent if any attempt was accepted and not refused later;
// else suppressed if a receipt said that the person had said stop; else expired, bounced or failed
// if a receipt said so. The zero Status means that the evidence ends nothing: no provider is known
// to have accepted.
//
// Of several refusals the latest attempt's counts, and of one attempt's that it had expired before
// bounced before failed.
func Fold(attempts []Attempt, receipts []Receipt) (Status, Reason) {
	refused := map[int]Receipt{}
	for _, r := range receipts {
		switch {
		case r.Status == ReceiptDelivered:
			return Delivered, ""
		case r.Refuses():
			if old, ok := refused[r.Attempt]; !ok || outweighs(r, old) {
				refused[r.Attempt] = r
			}
		}
	}
	if accepted(attempts, receipts, refused) {
		return Sent, ""
	}
	if saidStop(receipts) {
		return Suppressed, ReasonOptedOutChannel
	}
	last := Receipt{Attempt: -1}
	for n, r := range refused {
		if n > last.Attempt {
			last = r
		}
	}
	switch {
	case last.Outcome == OutcomeExpired:
		return Expired, ReasonExpired
	case last.Status == ReceiptBounced:
		return Bounced, refusalReason(last.Outcome)
	case last.Status == ReceiptFailed:
		return Failed, refusalReason(last.Outcome)
	}
	return "", ""
}

// accepted reports whether an attempt was accepted, by its own answer or by a receipt, and not refused.
func accepted(attempts []Attempt, receipts []Receipt, refused map[int]Receipt) bool {
	for _, a := range attempts {
		if _, no := refused[a.Number]; a.Outcome == OK && !no {
			return true
		}
	}
	for _, r := range receipts {
		if _, no := refused[r.Attempt]; (r.Status == ReceiptAccepted || r.Status == ReceiptSent) && !no {
			return true
		}
	}
	return false
}

// saidStop reports whether a refusal tells that the person had said stop to the provider, which
// is so whichever attempt was told it.
func saidStop(receipts []Receipt) bool {
	return slices.ContainsFunc(receipts, func(r Receipt) bool { return r.Refuses() && r.Outcome == RecipientOptout })
}

// outweighs orders two refusals of one attempt, so that the order of their arrival does not matter.
func outweighs(a, b Receipt) bool {
	if late := a.Outcome == OutcomeExpired; late != (b.Outcome == OutcomeExpired) {
		return late
	}
	if a.Status != b.Status {
		return a.Status == ReceiptBounced
	}
	return a.Outcome > b.Outcome
}

// refusalReason is why a delivery ends that a provider took and did not bring there. What the provider tried
// itself, and we do not repeat, is spent.
func refusalReason(o Outcome) Reason {
	switch o {
	case RecipientTemp, Throttled, Transient:
		return ReasonRetriesSpent
	case ConfigFault, QuotaSpent:
		return ReasonProviderBroken
	case RecipientDead:
		return ReasonRecipientDead
	case RecipientSuspect:
		return ReasonRecipientRejected
	}
	return ReasonProviderRejected
}
