package smtp

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// A stage is how far a conversation came.
type stage string

// The stages in their order. What fails before atDot left the mail here.
const (
	atConnect  stage = "connect"
	atEHLO     stage = "ehlo"
	atStartTLS stage = "starttls"
	atAuth     stage = "auth"
	atReset    stage = "reset"
	atMail     stage = "mail"
	atRcpt     stage = "rcpt"
	atData     stage = "data"
	atContent  stage = "content"
	atDot      stage = "dot" // the final dot is out, so the relay may have taken the mail
)

// A failure is an error with the stage at which it happened.
type failure struct {
	at     stage
	reused bool // on a connection that had carried a mail before
	err    error
}

func (f *failure) Error() string { return string(f.at) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// A conn is a connection on which mails can be handed over, one after the other.
type conn struct {
	wire   *wire
	client *smtp.Client
	used   time.Time // when it was last put back
	reused bool
	mails  int
	dirty  bool // a transaction was left open
}

// transact runs one mail transaction and gives the relay's last reply.
func (c *conn) transact(l letter) (reply string, err error) {
	fail := func(at stage, err error) (string, error) { return "", &failure{at, c.reused, err} }
	if c.dirty {
		if err := c.client.Reset(); err != nil {
			return fail(atReset, err)
		}
		c.dirty = false
	}
	if l.utf8 {
		if ok, _ := c.client.Extension("SMTPUTF8"); !ok {
			return fail(atMail, errNoUTF8)
		}
	}
	c.client.SkipSMTPUTF8(!l.utf8)
	if err := c.client.Mail("<" + l.from + ">"); err != nil {
		return fail(atMail, err)
	}
	c.dirty = true
	if err := c.client.Rcpt("<" + l.to + ">"); err != nil {
		return fail(atRcpt, err)
	}
	body, err := c.client.Data()
	if err != nil {
		return fail(atData, err)
	}
	if _, err := body.Write(l.raw); err != nil {
		return fail(atContent, err)
	}
	err = body.Close()
	c.dirty = false
	c.mails++
	switch {
	case err != nil && c.wire.broken.Load(): // the dot is the last that is written
		return fail(atContent, err)
	case err != nil:
		return fail(atDot, err)
	}
	if answered, ok := body.(*smtp.DataCloser); ok {
		reply = answered.ServerResponse()
	}
	return reply, nil
}

// drop closes the connection without a word.
func (c *conn) drop() { _ = c.wire.Close() }

// A wire is a connection that remembers whether a write failed.
type wire struct {
	net.Conn
	broken atomic.Bool
}

// Write writes, and remembers a failure.
func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

// within bounds everything on a connection by ctx, until release; release reports whether ctx
// left the connection alone so far.
func within(ctx context.Context, c net.Conn) (release func() bool) {
	deadline, _ := ctx.Deadline() // the zero time is none
	_ = c.SetDeadline(deadline)
	return context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
}
