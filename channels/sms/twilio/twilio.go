// Package twilio sends text messages through Twilio's Messages API and reads its status callbacks.
//
// It promises one request for each Send, and that no receipt is believed whose signature is not
// Twilio's. It must never decide what becomes of a phone number: it only says what Twilio said.
package twilio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"

	"tidings"
	"tidings/channels"
)

// maxValidity is the longest ValidityPeriod that Twilio takes, in seconds.
const maxValidity = 36000

// Config is the operator's part. Messages leave either from a number or through a messaging
// service, which picks one.
type Config struct {
	AccountSID          string          `yaml:"account_sid"`
	AuthToken           channels.Secret `yaml:"auth_token"`
	AuthTokenSecondary  channels.Secret `yaml:"auth_token_secondary"` // also believed on callbacks, while tokens are rotated
	From                string          `yaml:"from"`                 // E.164 number, short code or sender id
	MessagingServiceSID string          `yaml:"messaging_service_sid"`
}

// Validate says what is missing.
func (c *Config) Validate() error {
	switch {
	case c.AccountSID == "":
		return errors.New("account_sid is missing")
	case c.AuthToken == "":
		return errors.New("auth_token is missing")
	case (c.From == "") == (c.MessagingServiceSID == ""):
		return errors.New("give either from or messaging_service_sid")
	}
	return nil
}

// Account names the account: two providers of one share its troubles, whatever number they send from.
func (c *Config) Account() string { return c.AccountSID }

// Home is the base URL that an endpoint replaces.
func (c *Config) Home() string { return "https://api.twilio.com" }

// Vendor is Twilio as listed in channels/all.
func Vendor() channels.Vendor {
	return channels.Define("twilio", tidings.SMS, channels.Traits{Receipts: true}, Config{}, build)
}

type provider struct {
	Config
	name     string
	hooks    string   // where Twilio calls back; empty: nowhere
	endpoint *url.URL // replaces Twilio's own; nil: Twilio's
	client   *http.Client
}

func build(c Config, s channels.Settings) (channels.Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("build twilio: %w", err)
	}
	p := &provider{Config: c, name: s.Name, hooks: s.HooksURL, client: oneRequest(s.Client)}
	if s.Endpoint == "" {
		return p, nil
	}
	endpoint, err := url.Parse(s.Endpoint)
	if err != nil || endpoint.Host == "" {
		return nil, errors.New("build twilio: endpoint is not a URL")
	}
	p.endpoint = endpoint
	return p, nil
}

// Send hands a text message to Twilio.
func (p *provider) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	now := time.Now()
	params := p.params(m, now)
	if params.ValidityPeriod != nil && *params.ValidityPeriod <= 0 {
		return channels.Answer{}, &channels.Error{Fault: tidings.OutcomeExpired}
	}
	call := new(channels.Call)
	service := api.NewApiService(&client.RequestHandler{Client: &session{provider: p, ctx: call.Watch(ctx)}})
	sent, err := service.CreateMessage(params)
	switch {
	case call.HTTPStatus == 0:
		return channels.Answer{}, call.Unanswered(err, m.Address, string(p.AuthToken))
	case call.HTTPStatus >= http.StatusMultipleChoices:
		return channels.Answer{}, classify(call, m.Address, now)
	case err != nil || sent.Sid == nil || *sent.Sid == "":
		return channels.Answer{}, &channels.Error{Fault: tidings.OutcomeUnknown, HTTPStatus: call.HTTPStatus, Err: errUnreadable}
	}
	answer := channels.Answer{Ref: *sent.Sid, HTTPStatus: call.HTTPStatus}
	if sent.Status != nil {
		answer.Code = *sent.Status
	}
	return answer, nil
}

var errUnreadable = errors.New("the answer is not a message")

func (p *provider) params(m *channels.Message, now time.Time) *api.CreateMessageParams {
	params := new(api.CreateMessageParams)
	params.SetTo(m.Address)
	params.SetBody(m.Content.Body)
	if p.From != "" {
		params.SetFrom(p.From)
	}
	if p.MessagingServiceSID != "" {
		params.SetMessagingServiceSid(p.MessagingServiceSID)
	}
	if p.hooks != "" {
		params.SetStatusCallback(p.hooks + "?d=" + m.Delivery.String() + "&a=" + strconv.Itoa(m.Attempt))
	}
	if !m.ExpiresAt.IsZero() {
		params.SetValidityPeriod(validity(m.ExpiresAt.Sub(now)))
	}
	return params
}

// validity is how long Twilio may keep the message, in whole seconds; what has been waiting
// here has that much less left. 0 means that there is nothing left.
func validity(left time.Duration) int {
	if left <= 0 {
		return 0
	}
	return min(max(int(left/time.Second), 1), maxValidity)
}
