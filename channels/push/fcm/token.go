package fcm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"

	"tidings"
	"tidings/channels"
)

const (
	scope     = "https://www.googleapis.com/auth/firebase.messaging"
	renewAt   = time.Minute // before a token expires
	tooRecent = time.Minute // a token this new is not refused for its age
)

// A token is an access token and when it was fetched.
type token struct {
	oauth2.Token
	fetched time.Time
}

// tokens fetches access tokens for a service account, one at a time, and shares them.
type tokens struct {
	config *jwt.Config
	client *http.Client
	turn   chan struct{} // held by the call that fetches

	mu      sync.Mutex
	current *token // guarded by mu; nil: none yet
}

func openTokens(c Config, client *http.Client) (*tokens, error) {
	text, err := os.ReadFile(c.CredentialsFile)
	if err != nil {
		return nil, fmt.Errorf("read credentials_file: %w", err)
	}
	config, err := google.JWTConfigFromJSON(text, scope)
	if err != nil {
		return nil, errors.New("read credentials_file: it is not the JSON of a service account")
	}
	return &tokens{config: config, client: client, turn: make(chan struct{}, 1)}, nil
}

// get is a token that is still good for a while. Its errors are *channels.Error: no byte of the
// message has left.
func (t *tokens) get(ctx context.Context) (*token, error) {
	if err := ctx.Err(); err != nil {
		return nil, &channels.Error{Fault: tidings.NotSent, Err: err}
	}
	if good := t.good(time.Now()); good != nil {
		return good, nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, &channels.Error{Fault: tidings.NotSent, Err: ctx.Err()}
	}
	if good := t.good(time.Now()); good != nil {
		return good, nil // fetched while this call waited for its turn
	}
	return t.fetch(ctx)
}

func (t *tokens) good(now time.Time) *token {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil || now.After(t.current.Expiry.Add(-renewAt)) {
		return nil
	}
	return t.current
}

func (t *tokens) fetch(ctx context.Context) (*token, error) {
	client := *t.client
	client.Transport = bound{ctx, client.Transport}
	got, err := t.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &client)).Token()
	if err != nil {
		return nil, refusedToken(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = &token{*got, time.Now()}
	return t.current, nil
}

// drop reports whether the next call has another token than the one used, which it forgets
// unless it is too recent.
func (t *tokens) drop(used *token, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != used {
		return true // another call saw it first
	}
	if now.Sub(used.fetched) < tooRecent {
		return false
	}
	t.current = nil
	return true
}

// refusedToken makes sense of a token that was not given.
func refusedToken(err error) *channels.Error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return new(channels.Call).Unanswered(fmt.Errorf("fetch access token: %w", err))
	}
	e := &channels.Error{
		Fault: tidings.NotSent, HTTPStatus: refused.Response.StatusCode, Code: "access_token",
		Text: "no access token was given", After: channels.RetryAfter(refused.Response.Header, time.Now()),
	}
	if e.HTTPStatus < 500 && e.HTTPStatus != http.StatusTooManyRequests {
		e.Fault = tidings.ConfigFault
	}
	return e
}

// bound makes requests end with a context: the SDK makes its own without one.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

// RoundTrip makes the request under the context.
func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	return next.RoundTrip(r.WithContext(b.ctx))
}
