package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tidings/api/openapi"
	"tidings/api/problem"
	"tidings/api/wire"
)

// readyWithin is how long readiness is asked for.
const readyWithin = 2 * time.Second

func (s *service) healthy(*call) (*answer, error) {
	return ok(wire.Health{Status: "ok", Version: s.Version}), nil
}

func (s *service) ready(c *call) (*answer, error) {
	if s.Draining() {
		return nil, problem.New(problem.NotReady, "the service is shutting down").Retry(time.Second)
	}
	ctx, cancel := context.WithTimeout(c.Context(), readyWithin)
	defer cancel()
	if about, err := s.Ready(ctx); err != nil {
		s.Log.Warn("not ready", "request_id", c.id, "error", err)
		return nil, problem.New(problem.NotReady, about).Retry(time.Second)
	}
	return ok(wire.Health{Status: "ready", Version: s.Version}), nil
}

func (s *service) receiveHook(c *call) (*answer, error) {
	p, known := s.Providers[c.PathValue("provider")]
	if !known || p.Receipts == nil {
		return nil, problem.New(problem.NotFound, "no provider of this name reports here")
	}
	body, tooLarge := c.whole(maxBody)
	if tooLarge != nil {
		return nil, tooLarge
	}
	n, err := s.hooks.Receive(c.Request, p.Name, string(p.Channel), p.Receipts, body)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, slog.String("provider", p.Name), slog.Int("receipts", n.Receipts), slog.Int("strays", n.Strays))
	return noContent(), nil
}

func (s *service) receiveInbound(c *call) (*answer, error) {
	p, known := s.Providers[c.PathValue("provider")]
	if !known || p.Inbound == nil {
		return nil, problem.New(problem.NotFound, "no provider of this name passes on messages here")
	}
	body, tooLarge := c.whole(maxBody)
	if tooLarge != nil {
		return nil, tooLarge
	}
	word, people, err := s.hooks.ReceiveInbound(c.Request, p.Channel, p.Inbound, body)
	if err != nil {
		return nil, err
	}
	c.notes = append(c.notes, slog.String("provider", p.Name), slog.String("word", string(word)), slog.Int("people", people))
	return noContent(), nil
}

func (s *service) metrics(c *call) (*answer, error) {
	page := &page{header: http.Header{}}
	s.Metrics.Handler().ServeHTTP(page, c.Request)
	return &answer{status: page.status, raw: page.body, header: map[string]string{"Content-Type": page.header.Get("Content-Type")}}, nil
}

// A page keeps what a handler writes.
type page struct {
	header http.Header
	status int
	body   []byte
}

// Header is what will be sent before the body.
func (p *page) Header() http.Header { return p.header }

// WriteHeader keeps the status.
func (p *page) WriteHeader(status int) { p.status = status }

// Write keeps the bytes.
func (p *page) Write(b []byte) (int, error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	p.body = append(p.body, b...)
	return len(b), nil
}

func (s *service) openapi(*call) (*answer, error) {
	return &answer{status: http.StatusOK, raw: s.document, header: map[string]string{"Content-Type": mediaJSON}}, nil
}

func (s *service) docs(*call) (*answer, error) {
	return &answer{status: http.StatusOK, raw: openapi.Page(), header: map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Security-Policy": openapi.PagePolicy(),
	}}, nil
}
