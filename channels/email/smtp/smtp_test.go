package smtp_test

import (
	"testing"

	"tidings"
	"tidings/channels/channeltest"
	"tidings/channels/email/smtp"
	"tidings/channels/simulator"
)

func TestSMTPKeepsTheProvidersPromises(t *testing.T) {
	channeltest.Run(t, channeltest.Harness{
		Vendor:      smtp.Vendor(),
		Address:     "ann@example.test",
		Content:     tidings.Content{Subject: "Your parcel", Text: "4711 is on its way", HTML: "<p>4711 is on its way</p>"},
		Unavailable: simulator.Do{Status: 451, Enhanced: "4.3.0"},
		ResetBefore: tidings.NotSent,
		Answers:     answers(),
	})
}

// answers are the rows of the fault table.
func answers() []channeltest.Answer {
	said := func(status int, enhanced, at, name string) channeltest.Answer {
		row := channeltest.Answer{Name: "at " + at + ": " + name, Do: simulator.Do{Status: status, Enhanced: enhanced, At: at}}
		if enhanced != "" {
			row.Name = enhanced + " " + row.Name
		}
		return row
	}
	return []channeltest.Answer{
		said(421, "", "connect", "closing"), said(554, "", "connect", "no service here"),
		said(421, "4.7.0", "ehlo", "too many connections"), said(550, "", "ehlo", "refused"),
		said(421, "4.3.2", "mail", "shutting down"), said(451, "4.3.0", "mail", "local error"), said(452, "4.3.1", "mail", "disk full"),
		said(530, "5.7.0", "mail", "log in first"), said(530, "5.5.1", "mail", "log in first, as Gmail says it"), said(535, "5.7.8", "mail", "wrong password"),
		said(550, "5.1.8", "mail", "sender's domain unknown"), said(550, "", "mail", "sender refused"), said(552, "5.3.4", "mail", "too large"),
		said(550, "5.1.1", "rcpt", "no such mailbox"), said(550, "5.1.2", "rcpt", "no such domain"), said(553, "5.1.3", "rcpt", "bad syntax"),
		said(551, "5.1.6", "rcpt", "moved"), said(556, "5.1.10", "rcpt", "null MX"), said(550, "5.2.1", "rcpt", "mailbox disabled"),
		said(550, "5.1.0", "rcpt", "address, no details"), said(550, "5.2.0", "rcpt", "mailbox, no details"), said(550, "5.4.1", "rcpt", "no answer from the host"),
		said(550, "", "rcpt", "no details"), said(551, "", "rcpt", "not local"), said(553, "", "rcpt", "name not allowed"), said(556, "", "rcpt", "takes no mail"),
		said(552, "5.2.2", "rcpt", "mailbox full"), said(452, "4.2.2", "rcpt", "mailbox full"), said(450, "4.2.0", "rcpt", "mailbox busy"),
		said(450, "", "rcpt", "mailbox busy"), said(451, "4.7.1", "rcpt", "greylisted"), said(450, "4.7.0", "rcpt", "greylisted"),
		said(421, "4.7.0", "rcpt", "unusual rate"), said(421, "4.7.28", "rcpt", "rate"), said(450, "4.7.28", "rcpt", "rate"),
		said(451, "4.4.1", "rcpt", "no answer from the host"), said(451, "", "rcpt", "local error"), said(452, "", "rcpt", "disk full"),
		said(550, "5.7.1", "rcpt", "not allowed"), said(554, "5.7.1", "rcpt", "relaying denied"), said(554, "", "rcpt", "failed"),
		said(550, "5.3.2", "rcpt", "takes no mail now"), said(501, "5.5.4", "rcpt", "bad arguments"),
		said(550, "4.1.1", "rcpt", "an enhanced code of another class"), said(550, "5.9.9", "rcpt", "an enhanced code never heard of"),
		said(451, "4.3.0", "data", "local error"), said(554, "5.5.1", "data", "no valid recipients"),
		said(451, "4.3.0", "dot", "local error"), said(421, "", "dot", "closing"), said(552, "5.3.4", "dot", "too large"), said(552, "", "dot", "too large"),
		said(550, "5.2.3", "dot", "too large for the mailbox"), said(550, "5.1.1", "dot", "no such mailbox"),
		said(550, "5.7.26", "dot", "fails DMARC"), said(550, "5.7.25", "dot", "no reverse name"), said(554, "5.7.1", "dot", "looks like spam"),
		said(550, "", "dot", "refused"), said(554, "", "dot", "failed"), said(554, "5.6.0", "dot", "bad content"), said(500, "", "dot", "no details"),
		said(200, "", "rcpt", "as usual"),
	}
}
