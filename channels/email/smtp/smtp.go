// Package smtp hands mails to a relay over SMTP (RFC 5321), on connections that are kept.
//
// It promises one mail transaction to one recipient for each Send, and to know after a failure
// whether the relay may have taken the mail. It must never decide what becomes of a mailbox: it
// only says what the relay said.
package smtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strconv"
	"time"

	"tidings"
	"tidings/channels"
)

// How a connection is secured.
const (
	tlsNone     = "none"
	tlsStart    = "starttls" // required: a relay that does not offer it gets no mail
	tlsFromHere = "tls"      // from the first byte, usually on port 465
)

// Config is the operator's part.
type Config struct {
	Host     string          `yaml:"host"`
	Port     string          `yaml:"port"`
	TLS      string          `yaml:"tls"` // none, starttls or tls
	Username string          `yaml:"username"`
	Password channels.Secret `yaml:"password"`
	From     string          `yaml:"from"` // of mails whose template has none: "Shop <no-reply@example.test>"
}

// Validate says what is missing.
func (c *Config) Validate() error {
	port, err := strconv.ParseUint(c.Port, 10, 16)
	switch {
	case c.Host == "":
		return errors.New("host is missing")
	case err != nil || port == 0:
		return errors.New("port is 1 to 65535")
	case c.TLS != tlsNone && c.TLS != tlsStart && c.TLS != tlsFromHere:
		return fmt.Errorf("tls is none, starttls or tls, not %q", c.TLS)
	case (c.Username == "") != (c.Password == ""):
		return errors.New("give both username and password, or neither")
	case c.Username != "" && c.TLS == tlsNone && !isLoopback(c.Host):
		return errors.New("with tls: none the password would be readable on the way: use starttls or tls")
	}
	if _, err := mail.ParseAddress(c.From); err != nil {
		return errors.New("from is missing or no mail address")
	}
	return nil
}

// Account names the mailbox at the relay that sends: two providers of one are one.
func (c *Config) Account() string {
	return net.JoinHostPort(channels.Host(c.Host), c.Port) + " " + c.Username
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Vendor is SMTP as listed in channels/all.
func Vendor() channels.Vendor {
	return channels.Define("smtp", tidings.Email, channels.Traits{}, Config{Port: "587", TLS: tlsStart}, build)
}

type provider struct {
	dialer
	from *mail.Address
	pool pool
}

func build(c Config, s channels.Settings) (channels.Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("build smtp: %w", err)
	}
	if s.Endpoint != "" {
		return nil, errors.New("build smtp: endpoint is not used here: give host and port")
	}
	from, err := mail.ParseAddress(c.From)
	if err != nil {
		return nil, fmt.Errorf("build smtp: read from: %w", err)
	}
	return &provider{dialer: newDialer(c, s), from: from}, nil
}

// Send hands a mail to the relay.
func (p *provider) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	now := time.Now()
	letter, err := compose(m, p.from, now)
	if err != nil {
		return channels.Answer{}, err
	}
	if err := ctx.Err(); err != nil {
		return channels.Answer{}, &channels.Error{Fault: tidings.NotSent, Err: err}
	}
	reply, err := p.deliver(ctx, letter)
	if err != nil {
		return channels.Answer{}, classify(err, m.Address)
	}
	return channels.Answer{Ref: reference(reply, letter.id), Code: "250"}, nil
}

// deliver hands the letter over, on a kept connection if there is one. The relay may have
// closed that one meanwhile: as long as it took nothing, a new one takes its place.
func (p *provider) deliver(ctx context.Context, l letter) (reply string, err error) {
	if c := p.pool.take(time.Now()); c != nil {
		reply, err = p.on(ctx, c, l)
		if !isStale(err) || ctx.Err() != nil {
			return reply, err
		}
	}
	c, err := p.dial(ctx)
	if err != nil {
		return "", err
	}
	return p.on(ctx, c, l)
}

// on hands the letter over on a connection, and keeps the connection if it is still good.
func (p *provider) on(ctx context.Context, c *conn, l letter) (reply string, err error) {
	release := within(ctx, c.wire)
	reply, err = c.transact(l)
	if release() && isUsable(err) {
		p.pool.put(c, time.Now())
	} else {
		c.drop()
	}
	return reply, err
}

// Close says goodbye on the kept connections.
func (p *provider) Close() error {
	p.pool.close()
	return nil
}
