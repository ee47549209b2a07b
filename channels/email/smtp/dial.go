package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strings"

	"github.com/wneessen/go-mail/smtp"

	"tidings/channels"
)

var (
	errNoStartTLS = errors.New("the relay does not offer STARTTLS")
	errNoUTF8     = errors.New("the relay does not offer SMTPUTF8, which the address needs")
)

// A dialer opens connections to the relay.
type dialer struct {
	Config
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
	self    string // the name in EHLO
}

func newDialer(c Config, s channels.Settings) dialer {
	d := dialer{Config: c, connect: s.Dial, tls: &tls.Config{}, self: hostname()}
	if s.TLS != nil {
		d.tls = s.TLS.Clone()
	}
	d.tls.ServerName, d.tls.MinVersion = c.Host, tls.VersionTLS12
	return d
}

// hostname is this machine's name if it is fit for EHLO.
func hostname() string {
	name, err := os.Hostname()
	strange := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", r)
	}
	if err != nil || name == "" || strings.ContainsFunc(name, strange) {
		return "localhost"
	}
	return name
}

// dial opens a connection that is ready for a mail.
func (d *dialer) dial(ctx context.Context) (*conn, error) {
	raw, err := d.connect(ctx, "tcp", net.JoinHostPort(d.Host, d.Port))
	if err != nil {
		return nil, &failure{at: atConnect, err: err}
	}
	c := &conn{wire: &wire{Conn: raw}}
	release := within(ctx, raw)
	err = d.greet(ctx, c)
	if !release() && err == nil {
		err = &failure{at: atAuth, err: ctx.Err()}
	}
	if err != nil {
		c.drop()
		return nil, err
	}
	return c, nil
}

// greet goes from the relay's greeting to where mails can be handed over.
func (d *dialer) greet(ctx context.Context, c *conn) error {
	var line net.Conn = c.wire
	if d.TLS == tlsFromHere {
		secured := tls.Client(line, d.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			return &failure{at: atStartTLS, err: err}
		}
		line = secured
	}
	client, err := smtp.NewClient(line, d.Host)
	if err != nil {
		return &failure{at: atConnect, err: err}
	}
	c.client = client
	if err := client.Hello(d.self); err != nil {
		return &failure{at: atEHLO, err: err}
	}
	if d.TLS == tlsStart {
		if ok, _ := client.Extension("STARTTLS"); !ok {
			return &failure{at: atStartTLS, err: errNoStartTLS}
		}
		if err := client.StartTLS(d.tls); err != nil {
			return &failure{at: atStartTLS, err: err}
		}
	}
	return d.authenticate(client)
}

func (d *dialer) authenticate(client *smtp.Client) error {
	if d.Username == "" {
		return nil
	}
	auth := smtp.PlainAuth("", d.Username, string(d.Password), d.Host, false)
	if _, offered := client.Extension("AUTH"); !strings.Contains(offered, "PLAIN") && strings.Contains(offered, "LOGIN") {
		auth = smtp.LoginAuth(d.Username, string(d.Password), d.Host, false)
	}
	if err := client.Auth(auth); err != nil {
		return &failure{at: atAuth, err: err}
	}
	return nil
}
