package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tidings/api/problem"
	"tidings/api/strict"
)

// read reads the body of the route into a value: 415, 413, 400 and 422 in this order.
func (c *call) read(into strict.Reader) error {
	b := c.route.takes
	if b.optional && c.ContentLength == 0 {
		return c.onlyQuery()
	}
	if p := c.media(b.media); p != nil {
		return p
	}
	body, p := c.whole(b.limit)
	if p != nil {
		return p
	}
	c.body = body
	if p := strict.Check(body); p != nil {
		return p
	}
	if err := c.onlyQuery(); err != nil {
		return err
	}
	if p := strict.Read(body, into); p != nil {
		return p
	}
	return nil
}

// media checks the content type and that the body is not compressed.
func (c *call) media(want []string) *problem.Problem {
	got, params, err := mime.ParseMediaType(c.Header.Get("Content-Type"))
	charset := params["charset"]
	switch {
	case err != nil || !slices.Contains(want, got):
		return problem.New(problem.UnsupportedMediaType, "send the body as "+strings.Join(want, " or "))
	case charset != "" && !strings.EqualFold(charset, "utf-8"):
		return problem.New(problem.UnsupportedMediaType, "send the body in UTF-8")
	case c.Header.Get("Content-Encoding") != "" && c.Header.Get("Content-Encoding") != "identity":
		return problem.New(problem.UnsupportedMediaType, "send the body without content encoding")
	}
	return nil
}

// bodyWithin is how long a body may take to arrive.
const bodyWithin = 30 * time.Second

// hurry sets the time by which the body must have arrived, also one that nobody will read: the
// server waits for it before it sends a refusal.
func (c *call) hurry() {
	if c.Body != nil && c.Body != http.NoBody {
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(bodyWithin)) // a writer of a test has no connection
	}
}

// maxUnwanted is how much of a body is read that nobody wants, in bytes: four times the largest
// that any route takes.
const maxUnwanted = 4 * maxBatchBody

// passOver reads what is left of the body of a request that is refused, within the time of
// hurry: many callers do not look for an answer before they have sent it all, and would see
// nothing but a broken connection. Who asks with Expect: 100-continue has sent none yet.
func (c *call) passOver() {
	if c.Body == nil || c.ContentLength > maxUnwanted || c.Header.Get("Expect") != "" {
		return
	}
	_, _ = io.CopyN(io.Discard, c.Body, maxUnwanted) // the answer is the same however it ends
}

// whole reads the body up to a limit.
func (c *call) whole(limit int64) ([]byte, *problem.Problem) {
	large := problem.New(problem.TooLarge, fmt.Sprintf("the body must not be larger than %d KiB", limit>>10))
	if c.ContentLength > limit {
		return nil, large
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, large
	case err != nil:
		return nil, problem.New(problem.MalformedJSON, "the body ended before it was complete")
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{}) // it is here; the deadline would end the call
	return body, nil
}

// onlyQuery refuses parameters that the route does not know, and repeated ones.
func (c *call) onlyQuery() error {
	if c.URL.RawQuery == "" {
		return nil
	}
	values, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return invalid("", "the query cannot be read")
	}
	for name, all := range values {
		known := slices.ContainsFunc(c.route.query, func(p parameter) bool { return p.name == name })
		switch {
		case !known:
			return invalid(pointer(name), "is not a known parameter")
		case len(all) > 1:
			return invalid(pointer(name), "is given twice")
		}
	}
	return nil
}

// invalid is one thing wrong with the input.
func invalid(pointer, detail string) *problem.Problem {
	return wrong(problem.InvalidInput, pointer, detail)
}

// wrong is one thing wrong with the input, under its own code.
func wrong(code problem.Code, pointer, detail string) *problem.Problem {
	p := problem.New(code, strings.TrimPrefix(pointer+" "+detail, " "))
	p.Errors = []problem.At{{Pointer: pointer, Detail: detail}}
	return p
}

// pointer is the RFC 6901 pointer of names, from the outermost inwards.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(n))
	}
	return b.String()
}
