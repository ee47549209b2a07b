// Package apns speaks to Apple's push service over HTTP/2, with one provider token for each key.
//
// It promises one request for each Send and to hold few connections. It must never decide what
// becomes of a device token: it only says what Apple said.
package apns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/sideshow/apns2"

	"tidings"
	"tidings/channels"
)

// Config is the operator's part.
type Config struct {
	KeyFile     string `yaml:"key_file"` // the .p8 file of the signing key
	KeyID       string `yaml:"key_id"`
	TeamID      string `yaml:"team_id"`
	Topic       string `yaml:"topic"`       // usually the bundle id of the phone app
	Environment string `yaml:"environment"` // production or sandbox: tokens of one are dead in the other
}

// Validate says what is missing.
func (c *Config) Validate() error {
	for _, field := range []struct{ name, value string }{
		{"key_file", c.KeyFile}, {"key_id", c.KeyID}, {"team_id", c.TeamID}, {"topic", c.Topic},
	} {
		if field.value == "" {
			return fmt.Errorf("%s is missing", field.name)
		}
	}
	if c.host() == "" {
		return fmt.Errorf("environment is production or sandbox, not %q", c.Environment)
	}
	return nil
}

// Account names the phone app and the key that this provider pushes with: two with the same are one.
func (c *Config) Account() string { return c.KeyID + " " + c.Topic + " " + c.Environment }

// Home is the base URL that an endpoint replaces.
func (c *Config) Home() string { return c.host() }

func (c *Config) host() string {
	switch c.Environment {
	case "production":
		return apns2.HostProduction
	case "sandbox":
		return apns2.HostDevelopment
	}
	return ""
}

// Vendor is APNs as listed in channels/all.
func Vendor() channels.Vendor {
	return channels.Define("apns", tidings.Push, channels.Traits{TokenAddresses: true}, Config{Environment: "production"}, build)
}

type provider struct {
	topic string
	host  string
	token *token
	pool  *pool
}

func build(c Config, s channels.Settings) (channels.Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("build apns: %w", err)
	}
	token, err := openToken(c)
	if err != nil {
		return nil, fmt.Errorf("build apns: %w", err)
	}
	p := &provider{topic: c.Topic, host: c.host(), token: token, pool: newPool(s)}
	if s.Endpoint != "" {
		p.host = s.Endpoint
	}
	return p, nil
}

// Send hands one message to APNs.
func (p *provider) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	payload, err := payloadOf(m)
	if err != nil {
		return channels.Answer{}, err
	}
	link, err := p.pool.take(ctx, m.Urgent)
	if err != nil {
		return channels.Answer{}, &channels.Error{Fault: tidings.NotSent, Err: err}
	}
	defer link.release()

	var call channels.Call
	issued := p.token.issued()
	client := apns2.Client{Host: p.host, Token: &p.token.Token, HTTPClient: link.client}
	_, err = client.PushWithContext(call.Watch(ctx), p.notification(m, payload))
	switch {
	case call.HTTPStatus == http.StatusOK:
		return channels.Answer{Ref: call.Header.Get("apns-id"), HTTPStatus: call.HTTPStatus}, nil
	case call.HTTPStatus != 0:
		return channels.Answer{}, p.refused(&call, m, issued)
	case err == nil:
		err = errors.New("no answer") // the SDK made one up
	}
	return channels.Answer{}, unanswered(&call, err, m)
}

func (p *provider) notification(m *channels.Message, payload []byte) *apns2.Notification {
	return &apns2.Notification{
		ApnsID:      m.Delivery.UUID(),
		CollapseID:  m.CollapseID,
		DeviceToken: url.PathEscape(m.Address),
		Topic:       p.topic,
		Expiration:  m.ExpiresAt,
		Priority:    apns2.PriorityHigh,
		PushType:    apns2.PushTypeAlert,
		Payload:     payload,
	}
}

// refused makes sense of an answer that is not 200. A token that Apple calls too old is minted
// anew for the next attempt, unless it was minted so recently that our clock must be wrong.
func (p *provider) refused(call *channels.Call, m *channels.Message, issued time.Time) *channels.Error {
	e := classify(call, m, time.Now())
	if e.Code == expiredProviderToken && p.token.renew(issued, time.Now()) {
		e.Fault = tidings.Transient
	}
	return e
}

// Close closes the connections.
func (p *provider) Close() error {
	p.pool.close()
	return nil
}
