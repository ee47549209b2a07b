package trail

import (
	"fmt"
	"slices"
	"strings"

	"tidings"
	"tidings/channels"
	"tidings/internal/store"
)

// attempt is what came of one provider call, and what follows from it.
func (w *teller) attempt(d *store.TrailDelivery, a *tidings.Attempt) string {
	text := w.outcome(d, a)
	if a.Late {
		text += ", after its time was up"
	}
	text += w.kept(d, a)
	switch {
	case !a.RetryAt.IsZero() && (d.FinishedAt.IsZero() || d.FinishedAt.After(a.EndedAt)): // else a receipt ended it before
		text += "; next try at " + w.clock(a.RetryAt)
	case a != lastTry(d) || a.Outcome != tidings.OutcomeUnknown || d.Status != tidings.Unknown:
	case d.DueAt.IsZero() && !w.noWord(d):
		text += "; it may have arrived, and is not tried again"
	case !d.DueAt.IsZero():
		text += "; a receipt that tells is awaited until " + w.clock(d.DueAt)
		if !w.calledOff(d) {
			text += ", and nothing else is done before"
		}
	}
	return sentence(text)
}

// noWord reports whether a delivery waited for a receipt in vain, of which the timeline tells.
func (w *teller) noWord(d *store.TrailDelivery) bool {
	return slices.ContainsFunc(w.trail.Timeline, func(m store.Moment) bool { return m.Delivery == d.ID && m.NoWord() })
}

// outcome is how a provider call ended. A code without a status is mostly one of ours, and says
// why there was no call or how far it came.
func (w *teller) outcome(d *store.TrailDelivery, a *tidings.Attempt) string {
	who := vendor(a.Provider, w.Providers)
	switch {
	case a.Outcome == tidings.OK && w.trail.Notification.Test:
		return "simulated for a test key; " + who + " was not called"
	case a.Outcome == tidings.OK:
		return who + " accepted it"
	case a.Outcome == tidings.NotSent && stage(a.Code) != plain(a.Code) && a.Code != "connect":
		return "the conversation with " + who + " " + strings.TrimPrefix(stage(a.Code), "it ") + "; nothing was sent"
	case a.Outcome == tidings.NotSent:
		return who + " could not be reached; nothing was sent" + aside(a)
	case answered(a):
		return who + " answered" + code(a)
	case a.Outcome == tidings.OutcomeUnknown:
		return w.unclear(d, a, who)
	case a.Outcome == tidings.OutcomeExpired:
		return "it was too late to call " + who
	case a.Outcome == tidings.ContentRejected && a.Code != "":
		return "the message could not be made, so " + who + " was not called (" + plain(a.Code) + ")"
	case a.HTTPStatus > 0:
		return who + " answered" + code(a)
	}
	return who + " did not take it: " + trouble(a, "it") + aside(a)
}

// unclear is said of a call of which nobody knows what came.
func (w *teller) unclear(d *store.TrailDelivery, a *tidings.Attempt, who string) string {
	switch a.Code {
	case store.CodeNotRecorded:
		if w.mayAnswer(d, a) {
			return "a receipt of " + who + " came before its answer to the call"
		}
		return "the process that was sending it through " + who + " stopped before it told what came of it; the receipts tell"
	case "lease_over":
		return "the process that was sending it through " + who + " stopped before it told what came of it; it may have arrived"
	case tidings.CodeCut:
		return "the process was stopped while it sent it through " + who + "; it may have arrived"
	case "panic":
		return "sending it through " + who + " broke off; it may have arrived"
	}
	return who + " gave no clear answer" + aside(a)
}

// mayAnswer reports whether the call may still be running of which a receipt tells: it began before
// that came, and no call is waited for any longer than its lease.
func (w *teller) mayAnswer(d *store.TrailDelivery, a *tidings.Attempt) bool {
	return slices.ContainsFunc(d.Receipts, func(r tidings.Receipt) bool {
		return r.Attempt == a.Number && w.now.Before(r.ReceivedAt.Add(w.Lease))
	})
}

// kept says that an address stays in use although its provider called it dead.
func (w *teller) kept(d *store.TrailDelivery, a *tidings.Attempt) string {
	who, what := vendor(a.Provider, w.Providers), place(d.Channel, 1)
	switch {
	case strings.HasPrefix(a.Text, channels.AddressKept):
		return fmt.Sprintf("; the %s stays in use, since %s calls so many %s dead at present that it is not believed", what, who, place(d.Channel, 2))
	case a == lastTry(d) && keptAddress(d):
		return fmt.Sprintf("; the %s stays in use, since it was registered again after %s last saw it", what, who)
	}
	return ""
}

// failure is why a try failed that may be repeated, in words that fit after a colon; empty: it
// did not.
func (w *telling) failure(a *tidings.Attempt) string {
	who := vendor(a.Provider, w.Providers)
	switch a.Outcome {
	case tidings.OK:
		return ""
	case tidings.NotSent:
		return who + " could not be reached"
	case tidings.OutcomeUnknown:
		return who + " gave no clear answer"
	}
	return trouble(a, who)
}

// trouble is the fault of an attempt in words, of which who is to blame or to ask.
func trouble(a *tidings.Attempt, who string) string {
	switch a.Outcome {
	case tidings.RecipientDead, tidings.RecipientSuspect:
		return who + " does not know the address"
	case tidings.RecipientOptout:
		return "the person told " + who + " to stop"
	case tidings.RecipientTemp:
		return "the recipient cannot take anything at present"
	case tidings.Throttled:
		return who + " asks for fewer calls"
	case tidings.Transient:
		return who + " is in trouble"
	case tidings.ConfigFault:
		return who + " refuses our account or set-up"
	case tidings.QuotaSpent:
		return "our allowance with " + who + " is used up"
	case tidings.ContentRejected:
		return who + " refuses the message"
	case tidings.PolicyBlocked:
		return who + " may not deliver it there"
	}
	return plain(string(a.Outcome))
}

// answered reports whether the code is a provider's: one that begins with a digit, as replies of
// mail servers do, or one beside a status. Others name what our side was at.
func answered(a *tidings.Attempt) bool {
	return a.HTTPStatus > 0 || a.Code != "" && a.Code[0] >= '0' && a.Code[0] <= '9'
}

// aside is the code where it is a detail: how far it came, or what the provider said.
func aside(a *tidings.Attempt) string {
	text := strings.TrimSpace(code(a))
	switch {
	case text == "":
		return ""
	case answered(a):
		return " (" + text + ")"
	}
	return " (" + stage(a.Code) + ")"
}

// stage is how far a call came, as people understand it.
func stage(code string) string {
	switch code {
	case "connect":
		return "there was no connection"
	case "ehlo", "starttls", "reset":
		return "it broke off at the greeting"
	case "auth":
		return "it broke off at the login"
	case "mail", "rcpt":
		return "it broke off before the message was handed over"
	case "data", "content":
		return "it broke off while the message was handed over"
	case "dot":
		return "it broke off after the whole message was handed over"
	}
	return plain(code)
}

// plain is a word of ours as people write it.
func plain(code string) string { return strings.ReplaceAll(code, "_", " ") }

// code is the provider's answer: status and code.
func code(a *tidings.Attempt) string {
	text := ""
	if a.HTTPStatus > 0 {
		text = fmt.Sprintf(" %d", a.HTTPStatus)
	}
	if a.Code != "" {
		text += " " + a.Code
	}
	return text
}
