package channels

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"tidings"
)

// MaxText bounds Error.Text, in bytes.
const MaxText = 200

// hidden stands for what must not be shown.
const hidden = "***"

// MaxAnswer bounds what is read of an answer's body, in bytes.
const MaxAnswer = 64 << 10

// A Call is the one HTTP request of a Send as it went over the wire: whether bytes of it left,
// and what was answered, whatever an SDK makes of it. The zero Call is ready.
type Call struct {
	HTTPStatus int // 0: no answer
	Header     http.Header
	Body       []byte // at most MaxAnswer

	wrote atomic.Bool
	made  bool
}

type callKey struct{}

// Watch is ctx with the Call in it; make the request with it. SDKs let nothing else through to
// their transport, hence the context.
func (c *Call) Watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(context.WithValue(ctx, callKey{}, c), &httptrace.ClientTrace{
		// A transport takes another connection only when the one before carried nothing.
		GotConn:          func(httptrace.GotConnInfo) { c.wrote.Store(false) },
		WroteHeaderField: func(string, []string) { c.wrote.Store(true) },
		WroteHeaders:     func() { c.wrote.Store(true) },
	})
}

// Record is a transport that fills in the Call of each request that has one, and refuses a
// second request with the same Call: retries are not the vendor's to decide.
func Record(next http.RoundTripper) http.RoundTripper { return &recorder{next} }

type recorder struct{ next http.RoundTripper }

var errSecondRequest = errors.New("a second request was kept back")

// RoundTrip makes the request and keeps the answer.
func (t *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	c, ok := r.Context().Value(callKey{}).(*Call)
	if !ok {
		return t.next.RoundTrip(r)
	}
	if c.made {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, errSecondRequest
	}
	c.made = true
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, MaxAnswer))
	if err != nil {
		return nil, err
	}
	c.HTTPStatus, c.Header, c.Body = answer.StatusCode, answer.Header, body
	whole := *answer
	whole.Body, whole.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &whole, nil
}

// CloseIdleConnections passes the wish on, as http.Client expects.
func (t *recorder) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Unanswered is the error of a request that got no answer: not_sent when no byte of it left,
// else unknown. The text of hide, such as the address, is cut out of it.
func (c *Call) Unanswered(err error, hide ...string) *Error {
	fault := tidings.NotSent
	if c.wrote.Load() {
		fault = tidings.OutcomeUnknown
	}
	return &Error{Fault: fault, Err: quiet(err, hide)}
}

// quiet drops what an error says of the URL, where some services want the address, and cuts
// the text of hide out of the rest. Time-outs and cancels stay recognisable.
func quiet(err error, hide []string) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	text := CleanText(err.Error(), hide...)
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return &quietError{text, known}
		}
	}
	if t := (interface{ Timeout() bool })(nil); errors.As(err, &t) && t.Timeout() { // of a part of the call
		return &quietError{text, context.DeadlineExceeded}
	}
	return &quietError{text, nil}
}

type quietError struct {
	text string
	err  error // a sentinel without text of its own; may be nil
}

func (e *quietError) Error() string { return e.text }
func (e *quietError) Unwrap() error { return e.err }

// CleanText makes a service's words fit to be kept: without the text of hide, such as the
// address and the credentials, in valid UTF-8 without control characters, at most MaxText bytes.
func CleanText(text string, hide ...string) string {
	for _, h := range hide {
		if h != "" {
			text = strings.ReplaceAll(text, h, hidden)
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if len(text) <= MaxText {
		return text
	}
	cut := MaxText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// LongestRetryAfter bounds what a provider can ask for: messages live 30 days at most.
const LongestRetryAfter = 30 * 24 * time.Hour

// RetryAfter reads the Retry-After header (RFC 9110, section 10.2.3), in seconds or as a date;
// what is absent, unreadable or past is 0, and what is beyond reason is LongestRetryAfter.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	seconds, err := strconv.ParseInt(value, 10, 64) // a number too large for it is its largest
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(0, seconds), int64(LongestRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), LongestRetryAfter)
}
