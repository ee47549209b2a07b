package smtp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"

	"tidings"
	"tidings/channels"
)

// classify makes sense of a failure: by the relay's reply, else by how far the mail came.
func classify(err error, address string) *channels.Error {
	var f *failure
	if !errors.As(err, &f) {
		return &channels.Error{Fault: tidings.OutcomeUnknown, Err: err}
	}
	if reply := (*textproto.Error)(nil); errors.As(err, &reply) {
		return ofReply(f.at, reply.Code, reply.Msg, address)
	}
	e := &channels.Error{Fault: tidings.NotSent, Code: string(f.at), Err: err}
	untrusted := (*tls.CertificateVerificationError)(nil)
	switch {
	case f.at == atDot:
		e.Fault = tidings.OutcomeUnknown
	case errors.Is(err, errNoStartTLS), errors.As(err, &untrusted):
		e.Fault = tidings.ConfigFault
	case errors.Is(err, errNoUTF8):
		e.Fault = tidings.PolicyBlocked
	}
	return e
}

// isStale reports whether a kept connection turned out to be closed before it took anything.
func isStale(err error) bool {
	f := (*failure)(nil)
	if !errors.As(err, &f) || !f.reused || f.at != atReset && f.at != atMail || errors.Is(err, errNoUTF8) {
		return false
	}
	reply := (*textproto.Error)(nil)
	return !errors.As(err, &reply) || reply.Code == 421
}

// isUsable reports whether a connection is good for another mail after a transaction.
func isUsable(err error) bool {
	if err == nil || errors.Is(err, errNoUTF8) {
		return true
	}
	reply := (*textproto.Error)(nil)
	return errors.As(err, &reply) && reply.Code != 421
}

// ofReply makes sense of a reply, by its enhanced status code (RFC 3463), else by its code.
func ofReply(at stage, code int, text, address string) *channels.Error {
	status, rest := enhanced(code, text)
	e := &channels.Error{Code: strings.TrimSpace(fmt.Sprintf("%d %s", code, status)), Text: words(rest, address)}
	switch {
	case code < 400: // no reply to what was said
		e.Fault = tidings.Transient
		if at == atDot {
			e.Fault = tidings.OutcomeUnknown
		}
	case code < 500:
		e.Fault = ofTransient(code, status)
	default:
		e.Fault = ofPermanent(at, code, status)
	}
	if e.Fault == tidings.Throttled {
		e.Scope = channels.ScopeSender
	}
	return e
}

// ofTransient is the fault of a 4xx reply.
func ofTransient(code int, status string) tidings.Outcome {
	switch status {
	case "4.7.0", "4.7.1": // greylisting, unless the relay hangs up
		if code != 421 {
			return tidings.RecipientTemp
		}
	}
	switch subject(status) {
	case "4.1", "4.2":
		return tidings.RecipientTemp
	case "4.7":
		return tidings.Throttled
	}
	if status == "" && code == 450 { // the mailbox is busy
		return tidings.RecipientTemp
	}
	return tidings.Transient
}

// ofPermanent is the fault of a 5xx reply. Only the codes that say that there is no such
// mailbox prove an address dead.
func ofPermanent(at stage, code int, status string) tidings.Outcome {
	switch {
	case code == 530 || code == 534 || code == 535 || code == 538, status == "5.7.8", status == "5.7.9":
		return tidings.ConfigFault // who we are
	case code == 552 && status == "", status == "5.3.4", status == "5.2.3":
		return tidings.ContentRejected // too large
	}
	switch at {
	case atConnect, atEHLO, atStartTLS, atAuth, atReset, atMail:
		return tidings.ConfigFault // nothing of this mail was said yet but who sends it
	}
	if fault := ofStatus(status); fault != "" {
		return fault
	}
	switch {
	case at == atRcpt && (code == 550 || code == 551 || code == 553 || code == 556):
		return tidings.RecipientSuspect
	case code == 550, code == 554:
		return tidings.PolicyBlocked
	}
	return tidings.ContentRejected
}

// ofStatus is the fault of an enhanced code of a permanent refusal.
func ofStatus(status string) tidings.Outcome {
	switch status {
	case "5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1":
		return tidings.RecipientDead
	case "5.1.7", "5.1.8": // the sender's address
		return tidings.ConfigFault
	case "5.2.2": // mailbox full
		return tidings.RecipientTemp
	}
	switch subject(status) {
	case "5.1", "5.2", "5.4":
		return tidings.RecipientSuspect
	case "5.3", "5.7":
		return tidings.PolicyBlocked
	case "5.5", "5.6":
		return tidings.ContentRejected
	}
	return ""
}

var enhancedCode = regexp.MustCompile(`^([245])\.(\d{1,3})\.(\d{1,3})(?:\s|$)`)

// enhanced is the enhanced status code that a reply begins with, and the rest of it. A code of
// another class than the reply's is not believed.
func enhanced(code int, text string) (status, rest string) {
	found := enhancedCode.FindString(text)
	if found == "" || int(found[0]-'0') != code/100 {
		return "", text
	}
	return strings.TrimSpace(found), text[len(found):]
}

// subject is the first two numbers of an enhanced status code.
func subject(status string) string {
	return status[:max(strings.LastIndexByte(status, '.'), 0)]
}

var mailbox = regexp.MustCompile(`[^\s<>"'(),;:]+@[^\s<>"'(),;]+`)

// words is a reply without mailboxes: relays name the one they were given, or the one that
// they made of it.
func words(text, address string) string {
	return channels.CleanText(mailbox.ReplaceAllString(text, "***"), address)
}

var queued = regexp.MustCompile(`(?i)\bqueued as ([[:alnum:].-]+)`)

// reference is the relay's own name for a mail that it took, else the Message-ID.
func reference(reply, id string) string {
	if found := queued.FindStringSubmatch(reply); found != nil {
		return found[1]
	}
	return id
}
