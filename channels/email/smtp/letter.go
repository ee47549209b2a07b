package smtp

import (
	"bytes"
	"errors"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"tidings"
	"tidings/channels"
)

// maxAddress is the longest address of RFC 5321 section 4.5.3.1.3, without its brackets.
const maxAddress = 254

// A letter is a mail as it goes over the wire.
type letter struct {
	from, to string // the envelope
	utf8     bool   // an address needs SMTPUTF8 (RFC 6531)
	id       string // Message-ID, without its brackets
	raw      []byte
}

// compose writes the mail. Its Message-ID comes from the delivery's id, so that a mailbox can
// tell a repeated mail from a new one.
func compose(m *channels.Message, from *mail.Address, now time.Time) (letter, error) {
	if !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) {
		return letter{}, &channels.Error{Fault: tidings.OutcomeExpired}
	}
	if m.Content.From != "" {
		own, err := mail.ParseAddress(oneLine(m.Content.From))
		if err != nil {
			return letter{}, &channels.Error{Fault: tidings.ContentRejected, Code: "from is no mail address"}
		}
		from = own
	}
	to, err := mail.ParseAddress(m.Address)
	if err != nil || to.Address != m.Address || len(m.Address) > maxAddress {
		return letter{}, &channels.Error{Fault: tidings.RecipientSuspect, Code: "no mail address"}
	}
	l := letter{from: from.Address, to: to.Address, utf8: !isASCII(from.Address + to.Address)}
	l.id = m.Delivery.String() + "@" + domainOf(from.Address)
	if l.raw, err = write(m, l.id, from, to, now); err != nil {
		return letter{}, &channels.Error{Fault: tidings.ContentRejected, Code: "cannot be written", Err: err}
	}
	return l, nil
}

func write(m *channels.Message, id string, from, to *mail.Address, now time.Time) ([]byte, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(from)
	msg.ToMailAddress(to)
	msg.Subject(oneLine(m.Content.Subject))
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(id)
	msg.SetGenHeader("X-Tidings-Delivery", m.Delivery.String())
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no holiday replies
	switch c := m.Content; {
	case c.HTML == "":
		msg.SetBodyString(gomail.TypeTextPlain, c.Text)
	case c.Text == "":
		msg.SetBodyString(gomail.TypeTextHTML, c.HTML)
	default:
		msg.SetBodyString(gomail.TypeTextPlain, c.Text)
		msg.AddAlternativeString(gomail.TypeTextHTML, c.HTML)
	}
	if m.Unsubscribe != "" {
		if err := refusable(msg, m); err != nil {
			return nil, err
		}
	}
	var raw bytes.Buffer
	_, err := msg.WriteTo(&raw)
	return raw.Bytes(), err
}

// refusable tells the mail program where its reader opts out. Only for marketing it may do so at
// one click by itself (RFC 8058): what comes of an order is too easily lost by a slip, so there the
// button opens the page, which asks first.
func refusable(msg *gomail.Msg, m *channels.Message) error {
	if strings.ContainsFunc(m.Unsubscribe, func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' }) {
		return errors.New("the link to unsubscribe is no URL")
	}
	msg.SetGenHeader("List-Unsubscribe", "<"+m.Unsubscribe+">")
	if m.Marketing {
		msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
	}
	return nil
}

// oneLine makes text fit for a header: nothing in it can end the line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, text)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e || r < ' ' })
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }
