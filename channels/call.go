package channels

import (
	"context"
	"errors"
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

// A Call watches one HTTP request to tell, when no answer comes, whether any of its bytes left.
// The zero Call is ready.
type Call struct{ wrote atomic.Bool }

// Watch is ctx with the watch in it; make the request with it.
func (c *Call) Watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// A transport takes another connection only when the one before carried nothing.
		GotConn:          func(httptrace.GotConnInfo) { c.wrote.Store(false) },
		WroteHeaderField: func(string, []string) { c.wrote.Store(true) },
		WroteHeaders:     func() { c.wrote.Store(true) },
	})
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

// RetryAfter reads the Retry-After header (RFC 9110, section 10.2.3), in seconds or as a date;
// what is absent, unreadable or past is 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}
