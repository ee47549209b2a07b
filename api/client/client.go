// Package client calls the service's HTTP API from Go.
//
// It promises one request for each call and an *Error for every refusal. It must never retry: what
// may be repeated is known by who posts, and a dedupe key makes it safe.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"tidings/api/problem"
)

// A Client calls one service with one API key. It is safe for concurrent use.
type Client struct {
	url, id, secret string
	http            *http.Client
	transport       *http.Transport
}

// An Option changes how a Client connects.
type Option func(*Client)

// WithDial connects by dial instead of the network.
func WithDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) Option {
	return func(c *Client) { c.transport.DialContext = dial }
}

// callTime is how long one call may take.
const callTime = 30 * time.Second

// maxAnswer is how much of an answer is read: 16 MiB.
const maxAnswer = 16 << 20

// New is a client of the service at url with an API key.
func New(url, keyID, secret string, options ...Option) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	c := &Client{url: strings.TrimSuffix(url, "/"), id: keyID, secret: secret, transport: t, http: &http.Client{Transport: t, Timeout: callTime}}
	for _, o := range options {
		o(c)
	}
	return c
}

// An Error is a refusal, as the service put it.
type Error struct {
	Status  int
	Problem problem.Problem // zero Code: the answer was no problem document
}

// Error says what was refused and why.
func (e *Error) Error() string {
	if e.Problem.Code == "" {
		return fmt.Sprintf("the service answered %d", e.Status)
	}
	var at []string
	for _, m := range e.Problem.Errors {
		at = append(at, strings.TrimSpace(m.Pointer+" "+m.Detail))
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s (%s)", e.Problem.Code, e.Problem.Detail, strings.Join(at, "; ")), " ()")
}

// Do calls one route: in is the body (nil: none), the answer is decoded into out (nil: dropped).
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	req.SetBasicAuth(c.id, c.secret)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("reach the service: %w", err)
	}
	defer res.Body.Close()
	return read(res, out)
}

func read(res *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if res.StatusCode >= 300 {
		refused := &Error{Status: res.StatusCode}
		_ = json.Unmarshal(text, &refused.Problem) // an answer in another form has no code
		return refused
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// CloseIdleConnections closes the connections that are kept for later calls.
func (c *Client) CloseIdleConnections() { c.transport.CloseIdleConnections() }
