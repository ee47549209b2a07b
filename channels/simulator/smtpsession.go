package simulator

import (
	"bufio"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"time"
)

// An smtpSession is one connection to the relay.
type smtpSession struct {
	*smtpServer
	conn    net.Conn // as accepted
	text    *textproto.Conn
	secured bool

	// The transaction.
	from, to string
	mail     bool    // MAIL was taken
	rcpt     bool    // RCPT was taken
	verdict  verdict // of the recipient
}

// errHangUp ends a session.
var errHangUp = errors.New("hang up")

func newSMTPSession(s *smtpServer, c net.Conn) *smtpSession {
	return &smtpSession{smtpServer: s, conn: c, text: textproto.NewConn(c)}
}

// run talks until the client leaves, or the rules end it.
func (s *smtpSession) run() {
	if stopped, err := s.meddle(s.desk.askEarly("connect"), "connect"); stopped || err != nil {
		return
	}
	if s.say("220 simulated.example.test ESMTP") != nil {
		return
	}
	for {
		line, err := s.text.ReadLine()
		if err != nil || s.obey(line) != nil {
			return
		}
	}
}

// obey answers one command.
func (s *smtpSession) obey(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch strings.ToUpper(verb) {
	case "EHLO":
		return s.ehlo()
	case "HELO":
		return s.say("250 simulated.example.test")
	case "STARTTLS":
		return s.startTLS()
	case "AUTH":
		return s.authenticate(rest)
	case "MAIL":
		return s.takeSender(rest)
	case "RCPT":
		return s.takeRecipient(rest)
	case "DATA":
		return s.takeData()
	case "RSET":
		s.forget()
		return s.say("250 2.0.0 Ok")
	case "NOOP":
		return s.say("250 2.0.0 Ok")
	case "QUIT":
		_ = s.say("221 2.0.0 Bye")
		return errHangUp
	}
	return s.say("500 5.5.2 Error: command not recognized")
}

func (s *smtpSession) say(line string) error { return s.text.PrintfLine("%s", line) }

// forget ends the transaction.
func (s *smtpSession) forget() {
	s.from, s.to, s.mail, s.rcpt, s.verdict = "", "", false, false, verdict{}
}

// meddle does what a verdict wants done at a stage; stopped says that the command is answered.
func (s *smtpSession) meddle(v verdict, stage string) (stopped bool, err error) {
	if at := v.At; at != stage && (at != "" || stage != "rcpt") {
		return false, nil
	}
	if !wait(s.ctx, time.Duration(v.Delay)) {
		return true, errHangUp
	}
	switch {
	case v.Reset == "after":
		return false, nil
	case v.Hang > 0:
		wait(s.ctx, time.Duration(v.Hang))
		reset(s.conn)
		return true, errHangUp
	case v.Reset == "before":
		reset(s.conn)
		return true, errHangUp
	case v.Status < 300:
		return false, nil
	}
	s.desk.reject()
	if stage == "dot" { // what is refused earlier leaves the transaction open
		s.forget()
	}
	err = s.say(strings.Join(strings.Fields(fmt.Sprintf("%d %s %s", v.Status, v.Enhanced, reasonOr(v, "as the rule says"))), " "))
	if err == nil && (v.Status == 421 || stage == "connect") {
		err = errHangUp
	}
	return true, err
}

func reasonOr(v verdict, usual string) string {
	if v.Reason != "" {
		return v.Reason
	}
	return usual
}

func (s *smtpSession) ehlo() error {
	if stopped, err := s.meddle(s.desk.askEarly("ehlo"), "ehlo"); stopped || err != nil {
		return err
	}
	lines := []string{"simulated.example.test", "PIPELINING", fmt.Sprintf("SIZE %d", smtpMaxSize), "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"}
	if !s.secured {
		lines = append(lines, "STARTTLS")
	}
	lines = append(lines, "AUTH PLAIN")
	for _, line := range lines[:len(lines)-1] {
		if err := s.say("250-" + line); err != nil {
			return err
		}
	}
	return s.say("250 " + lines[len(lines)-1])
}

func (s *smtpSession) startTLS() error {
	if s.secured {
		return s.say("503 5.5.1 Error: TLS already active")
	}
	if err := s.say("220 2.0.0 Ready to start TLS"); err != nil {
		return err
	}
	secured := tls.Server(s.conn, s.desk.sim.ca.server())
	if err := secured.Handshake(); err != nil {
		return err
	}
	s.text, s.secured = textproto.NewConn(secured), true
	s.forget()
	return nil
}

// authenticate checks AUTH PLAIN with its initial response (RFC 4616).
func (s *smtpSession) authenticate(rest string) error {
	mechanism, response, _ := strings.Cut(rest, " ")
	if !strings.EqualFold(mechanism, "PLAIN") || response == "" {
		return s.say("504 5.5.4 Error: only AUTH PLAIN with an initial response")
	}
	want := "\x00" + smtpUser + "\x00" + s.password
	got, err := base64.StdEncoding.DecodeString(response)
	if err != nil || subtle.ConstantTimeCompare(got, []byte(want)) != 1 {
		return s.say("535 5.7.8 Error: authentication failed")
	}
	return s.say("235 2.7.0 Authentication successful")
}

func (s *smtpSession) takeSender(rest string) error {
	from, ok := path(rest, "FROM:")
	switch {
	case !ok:
		return s.say("501 5.5.4 Syntax: MAIL FROM:<address>")
	case s.mail:
		return s.say("503 5.5.1 Error: nested MAIL command")
	}
	if stopped, err := s.meddle(s.desk.askEarly("mail"), "mail"); stopped || err != nil {
		return err
	}
	s.from, s.mail = from, true
	return s.say("250 2.1.0 Ok")
}

// takeRecipient takes one recipient for each mail, which is what the rules and the ledger count.
func (s *smtpSession) takeRecipient(rest string) error {
	to, ok := path(rest, "TO:")
	switch {
	case !s.mail:
		return s.say("503 5.5.1 Error: need MAIL command")
	case !ok || to == "":
		return s.say("501 5.5.4 Syntax: RCPT TO:<address>")
	case s.rcpt:
		return s.say("452 4.5.3 Error: too many recipients")
	}
	s.verdict = s.desk.ask(to, "", "rcpt", "data", "dot")
	if stopped, err := s.meddle(s.verdict, "rcpt"); stopped || err != nil {
		return err
	}
	if !s.verdict.matched && isDead(to) {
		s.desk.reject()
		return s.say("550 5.1.1 <" + to + ">: Recipient address rejected: User unknown")
	}
	s.to, s.rcpt = to, true
	return s.say("250 2.1.5 Ok")
}

// path is the address between the brackets of MAIL and RCPT.
func path(text, prefix string) (address string, ok bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return "", false
	}
	rest, opened := strings.CutPrefix(strings.TrimSpace(text[len(prefix):]), "<")
	address, _, closed := strings.Cut(rest, ">")
	return address, opened && closed
}

func (s *smtpSession) takeData() error {
	if !s.rcpt {
		return s.say("503 5.5.1 Error: need RCPT command")
	}
	if stopped, err := s.meddle(s.verdict, "data"); stopped || err != nil {
		return err
	}
	if err := s.say("354 End data with <CR><LF>.<CR><LF>"); err != nil {
		return err
	}
	raw, err := s.readMail()
	if err != nil {
		return err
	}
	if stopped, err := s.meddle(s.verdict, "dot"); stopped || err != nil {
		return err
	}
	defer s.forget()
	if len(raw) > smtpMaxSize {
		s.desk.reject()
		return s.say("552 5.3.4 Error: message too big")
	}
	return s.accept(raw)
}

// readMail reads to the final dot, keeping line ends as they came.
func (s *smtpSession) readMail() ([]byte, error) {
	var raw []byte
	begins := true // a line
	for {
		line, err := s.text.R.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, io.ErrUnexpectedEOF
		}
		if begins && string(line) == ".\r\n" {
			return raw, nil
		}
		if begins && line[0] == '.' {
			line = line[1:]
		}
		begins = err == nil
		if len(raw) <= smtpMaxSize { // what is too much is read, not kept
			raw = append(raw, line...)
		}
	}
}

func (s *smtpSession) accept(raw []byte) error {
	entry := mailEntry(s.to, raw)
	entry.Ref = strings.ToUpper(randomHex(5))
	if err := s.desk.accept(entry); err != nil {
		return s.say("451 4.3.0 Error: queue file write error")
	}
	if s.verdict.Reset == "after" {
		wait(s.ctx, time.Duration(s.verdict.Hang))
		reset(s.conn)
		return errHangUp
	}
	return s.say("250 2.0.0 Ok: queued as " + entry.Ref)
}
