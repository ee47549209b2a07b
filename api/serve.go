package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"tidings/api/problem"
	"tidings/api/wire"
	"tidings/internal/store"
)

// A call is one request being served.
type call struct {
	*http.Request
	w      http.ResponseWriter
	id     string // of the request
	route  *route // nil: no route takes it
	caller caller
	now    time.Time
	body   []byte      // once read
	notes  []slog.Attr // what the handler adds to the line of the log
}

// An answer says yes.
type answer struct {
	status int
	header map[string]string
	body   any    // written as JSON; nil: none
	raw    []byte // written as it is, under the content type in header
}

func ok(body any) *answer { return &answer{status: http.StatusOK, body: body} }

func noContent() *answer { return &answer{status: http.StatusNoContent} }

// serve runs the checks and the handler of one request, answers, and writes one line about it.
func (s *service) serve(w http.ResponseWriter, r *http.Request, at *resource) {
	c := &call{Request: r, w: w, id: requestID(r), now: s.Now().UTC()}
	w.Header().Set("X-Request-Id", c.id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	c.hurry()
	done := outcome{}
	started := time.Now()
	defer func() { s.log(c, done, time.Since(started)) }()
	a, err := s.guarded(c, at)
	if err != nil {
		done = s.refuse(c, err)
		return
	}
	done = s.reply(c, a)
}

// guarded is run, with a panic turned into an error.
func (s *service) guarded(c *call, at *resource) (a *answer, err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			s.Log.Error("a handler panicked", "request_id", c.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			a, err = nil, problem.New(problem.Internal, "")
		}
	}()
	return s.run(c, at)
}

// run is the order of checks: who, whether they may, what there is; the handler reads the input.
func (s *service) run(c *call, at *resource) (*answer, error) {
	if strings.HasPrefix(c.URL.Path, "/v1/") || c.URL.Path == "/v1" {
		caller, err := s.keys.identify(c.Context(), c.Header.Get("Authorization"))
		if err != nil {
			return nil, err
		}
		c.caller = caller
	}
	if at == nil {
		return nil, problem.New(problem.NotFound, "there is nothing at this path")
	}
	c.route = at.methods[c.Method]
	if c.route == nil {
		p := problem.New(problem.MethodNotAllowed, "this path takes "+at.allow)
		p.Allow = at.allow
		return nil, p
	}
	if c.route.scope != "" && !c.caller.has(c.route.scope) {
		return nil, problem.New(problem.Forbidden, "the key lacks the scope "+c.route.scope)
	}
	if err := s.closed(c.route); err != nil {
		return nil, err
	}
	return c.route.serve(c)
}

// fullPause is when to try again while there is no room: disks do not grow within a second.
const fullPause = 10 * time.Second

// closed refuses what would change something while the service ends, and what would bring new
// data while there is no room for it: people may still cancel, opt out and be erased.
func (s *service) closed(r *route) error {
	if r.scope != "" && r.method != http.MethodGet && s.Draining() {
		return problem.New(problem.NotReady, "the service is shutting down; try again").Retry(time.Second)
	}
	if r.grows && s.Full() != nil {
		return problem.New(problem.NotReady, "the disk is nearly full: what was accepted is sent, and new work is taken again when there is room").Retry(fullPause)
	}
	return nil
}

// outcome is what the log tells of an answer.
type outcome struct {
	status int
	code   problem.Code
}

func (s *service) reply(c *call, a *answer) outcome {
	body := a.raw
	h := c.w.Header()
	if a.body != nil {
		b, err := encode(a.body)
		if err != nil {
			return s.refuse(c, fmt.Errorf("encode an answer: %w", err))
		}
		body = b
		h.Set("Content-Type", mediaJSON)
		h.Set("Cache-Control", "no-store")
	}
	for k, v := range a.header {
		h.Set(k, v)
	}
	if a.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	c.w.WriteHeader(a.status)
	_, _ = c.w.Write(body) // the caller is gone: there is nobody to tell
	return outcome{status: a.status}
}

func (s *service) refuse(c *call, err error) outcome {
	p := s.problemOf(c, err)
	if c.route != nil && c.route.scope != "" && p.After > 0 {
		s.Metrics.Shed.WithLabelValues(string(p.Code)).Inc()
	}
	c.passOver()
	body := p.Body()
	p.Header(c.w.Header())
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(p.Status)
	_, _ = c.w.Write(body) // the caller is gone: there is nobody to tell
	return outcome{status: p.Status, code: p.Code}
}

// problemOf is the answer to an error. One that nobody foresaw is logged here and not shown.
func (s *service) problemOf(c *call, err error) *problem.Problem {
	var p *problem.Problem
	var told *store.UnderWay
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &told):
		return problem.New(problem.NothingToCancel, told.Error())
	case errors.Is(err, store.ErrNotFound):
		return problem.New(problem.NotFound, "there is no such thing, or it is not yours")
	case errors.Is(err, store.ErrConflict):
		return problem.New(problem.VersionConflict, "somebody changed it since; read it again")
	case errors.Is(err, store.ErrNothing):
		return problem.New(problem.NothingToCancel, "everything has come to its end, or was called off before")
	}
	s.Log.Error("a request failed", "request_id", c.id, "error", err)
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return problem.New(problem.NotReady, "the log cannot be reached; try again").Retry(time.Second)
	}
	return problem.New(problem.Internal, "")
}

// log writes the one line of a request. It has no bodies and no addresses.
func (s *service) log(c *call, done outcome, took time.Duration) {
	pattern := "none"
	if c.route != nil {
		pattern = c.route.pattern
	}
	attrs := append([]slog.Attr{
		slog.String("method", c.Method), slog.String("route", pattern), slog.Int("status", done.status),
		slog.String("code", string(done.code)), slog.String("app", c.caller.App), slog.String("key", c.caller.ID),
		slog.String("request_id", c.id), slog.Duration("took", took),
	}, c.notes...)
	level := slog.LevelInfo
	if c.route != nil && c.route.scope == "" && done.status < http.StatusBadRequest {
		level = slog.LevelDebug // probes and scrapes
	}
	s.Log.LogAttrs(c.Context(), level, "request", attrs...)
}

// requestID is the caller's id of the request where it is sane, else a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); wire.IsName(id) {
		return id
	}
	return "req_" + strings.ToLower(rand.Text())
}

// encode writes JSON without escaping what only HTML minds.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
