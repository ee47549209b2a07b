// Package fcm speaks to Firebase Cloud Messaging, HTTP v1, as a service account.
//
// It promises one request for each Send, although the SDK would repeat what failed. It must
// never decide what becomes of a registration token: it only says what Google said.
package fcm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	firebase "firebase.google.com/go/v4"
	"firebase.google.com/go/v4/messaging"
	"google.golang.org/api/option"

	"tidings"
	"tidings/channels"
)

// Config is the operator's part.
type Config struct {
	CredentialsFile string `yaml:"credentials_file"` // the service account's JSON
	Project         string `yaml:"project"`          // the Firebase project's id
}

// Validate says what is missing.
func (c *Config) Validate() error {
	if c.CredentialsFile == "" {
		return errors.New("credentials_file is missing")
	}
	if c.Project == "" {
		return errors.New("project is missing")
	}
	return nil
}

// Account names the project: two providers of one are one.
func (c *Config) Account() string { return c.Project }

// Home is the base URL that an endpoint replaces.
func (c *Config) Home() string { return "https://fcm.googleapis.com" }

// Vendor is FCM as listed in channels/all.
func Vendor() channels.Vendor {
	return channels.Define("fcm", tidings.Push, channels.Traits{TokenAddresses: true}, Config{}, build)
}

type provider struct {
	client *messaging.Client
	tokens *tokens
}

func build(c Config, s channels.Settings) (channels.Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("build fcm: %w", err)
	}
	tokens, err := openTokens(c, s.Client)
	if err != nil {
		return nil, fmt.Errorf("build fcm: %w", err)
	}
	options := []option.ClientOption{option.WithHTTPClient(&http.Client{Transport: newTransport(s.Client)})}
	if s.Endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimSuffix(s.Endpoint, "/")+"/v1"))
	}
	ctx := context.Background() // only looked at for credentials, which our transport adds
	app, err := firebase.NewApp(ctx, &firebase.Config{ProjectID: c.Project}, options...)
	if err != nil {
		return nil, fmt.Errorf("build fcm: %w", err)
	}
	client, err := app.Messaging(ctx)
	if err != nil {
		return nil, fmt.Errorf("build fcm: %w", err)
	}
	return &provider{client: client, tokens: tokens}, nil
}

// Send hands one message to FCM.
func (p *provider) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	if size := sizeOf(m); size > maxPayload {
		return channels.Answer{}, &channels.Error{
			Fault: tidings.ContentRejected, Code: "too_big",
			Text: fmt.Sprintf("the message has %d bytes, FCM takes %d", size, maxPayload),
		}
	}
	token, err := p.tokens.get(ctx)
	if err != nil {
		return channels.Answer{}, err
	}
	x := &exchange{bearer: token.AccessToken}
	name, err := p.client.Send(x.in(ctx), messageOf(m, time.Now()))
	switch {
	case x.call.HTTPStatus == http.StatusOK && err == nil:
		return channels.Answer{Ref: name, HTTPStatus: http.StatusOK}, nil
	case x.call.HTTPStatus != 0 && x.call.HTTPStatus != http.StatusOK:
		return channels.Answer{}, p.refused(x, m, token)
	case x.err != nil:
		err = x.err // what the SDK says is about the answer that we gave it
	case !x.made:
		// The SDK found the message malformed before it made a request.
		return channels.Answer{}, &channels.Error{Fault: tidings.ContentRejected, Code: "malformed", Text: channels.CleanText(err.Error(), m.Address)}
	}
	return channels.Answer{}, x.call.Unanswered(err, m.Address, x.bearer)
}

// refused makes sense of an answer that is not 200. An access token that Google no longer takes
// is fetched anew for the next attempt, unless it is so new that the account must be wrong.
func (p *provider) refused(x *exchange, m *channels.Message, used *token) *channels.Error {
	e := classify(&x.call, time.Now(), m.Address, x.bearer)
	if e.HTTPStatus == http.StatusUnauthorized && e.Code == "UNAUTHENTICATED" && p.tokens.drop(used, time.Now()) {
		e.Fault = tidings.Transient
	}
	return e
}
