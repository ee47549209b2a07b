// Package problem is how the API says no: RFC 9457 problem details with a stable code.
//
// It promises one closed list of codes, each with one status. It must never carry a secret, an
// address, or the words of an inner error.
package problem

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// MediaType is the content type of a problem.
const MediaType = "application/problem+json"

// A Problem is an answer that says no.
type Problem struct {
	Type   string `json:"type" doc:"A URI of the kind of problem; it ends in the code."`
	Title  string `json:"title" doc:"The kind of problem in words."`
	Status int    `json:"status" doc:"The HTTP status."`
	Detail string `json:"detail,omitempty" doc:"What is wrong here, and the mend."`
	Code   Code   `json:"code" doc:"The kind of problem; it never changes its meaning."`
	Errors []At   `json:"errors,omitempty" doc:"For bad input: what is wrong where."`

	After time.Duration `json:"-"` // when to try again; 0: not said
	Allow string        `json:"-"` // the methods of the path, for method_not_allowed
}

// An At is one thing wrong with the input.
type At struct {
	Pointer string `json:"pointer" doc:"RFC 6901 pointer to the member, or to where a missing one belongs; a query parameter counts as a member."`
	Detail  string `json:"detail" doc:"What is wrong with it."`
}

// New is a problem of a kind with its detail.
func New(code Code, detail string) *Problem {
	kind := code.kind()
	return &Problem{Type: "urn:tidings:problem:" + string(code), Title: kind.title, Status: kind.status, Detail: detail, Code: code}
}

// Error is the detail, or the title where there is none.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Detail
}

// Retry says when to try again and gives the problem back.
func (p *Problem) Retry(after time.Duration) *Problem {
	p.After = after
	return p
}

// Header writes what the problem says in headers.
func (p *Problem) Header(h http.Header) {
	h.Set("Content-Type", MediaType)
	h.Set("Cache-Control", "no-store")
	if p.After > 0 {
		h.Set("Retry-After", strconv.Itoa(seconds(p.After)))
	}
	if p.Allow != "" {
		h.Set("Allow", p.Allow)
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Basic realm="tidings", charset="UTF-8", Bearer realm="tidings"`)
	}
}

// Body is the problem as JSON.
func (p *Problem) Body() []byte {
	b, err := json.Marshal(p)
	if err != nil { // a struct of strings and numbers always marshals
		panic(err)
	}
	return b
}

// seconds rounds up to whole seconds, as Retry-After wants them (RFC 9110, section 10.2.3).
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
