package twilio

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/twilio/twilio-go/client"

	"tidings/channels"
)

// oneRequest is a client that makes one request for each call and follows no redirect.
func oneRequest(c *http.Client) *http.Client {
	one := *c
	if one.Transport == nil {
		one.Transport = http.DefaultTransport
	}
	one.Transport = channels.Record(one.Transport)
	one.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &one
}

// A session is the SDK's client for one Send. The SDK passes no context on, so each call has a
// session of its own, which is the call's scope.
type session struct {
	*provider
	ctx context.Context
}

var _ client.BaseClient = (*session)(nil)

// AccountSid is the account that sends.
func (s *session) AccountSid() string { return s.AccountSID }

// SetTimeout changes nothing: the context bounds the call.
func (s *session) SetTimeout(time.Duration) {}

// SetOauth changes nothing: calls are signed with the auth token.
func (s *session) SetOauth(client.OAuth) {}

// OAuth is none.
func (s *session) OAuth() client.OAuth { return nil }

// SendRequest makes the request with the session's context, at the configured endpoint.
func (s *session) SendRequest(method, rawURL string, data url.Values, _ map[string]any, _ ...byte) (*http.Response, error) {
	target, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	if s.endpoint != nil {
		target.Scheme, target.Host = s.endpoint.Scheme, s.endpoint.Host
	}
	r, err := http.NewRequestWithContext(s.ctx, method, target.String(), strings.NewReader(data.Encode()))
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(s.AccountSID, string(s.AuthToken))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	return s.client.Do(r)
}
