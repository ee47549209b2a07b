package problem_test

import (
	"net/http"
	"testing"
	"time"

	"tidings/api/problem"
)

func TestEveryCodeHasAStatusOfItsOwnKind(t *testing.T) {
	for _, c := range problem.Codes() {
		if (c.Status() == http.StatusInternalServerError) != (c == problem.Internal) {
			t.Errorf("%s answers %d", c, c.Status())
		}
	}
}

func TestHeadersSayWhatTheProblemSays(t *testing.T) {
	for _, c := range []struct {
		why, header, want string
		problem           *problem.Problem
	}{
		{"a part of a second is a whole one", "Retry-After", "2", problem.New(problem.LaneFull, "").Retry(1001 * time.Millisecond)},
		{"less than a second is never 0", "Retry-After", "1", problem.New(problem.NotReady, "").Retry(time.Millisecond)},
		{"nothing said, nothing sent", "Retry-After", "", problem.New(problem.NotReady, "")},
		{"a problem is named as one", "Content-Type", "application/problem+json", problem.New(problem.NotFound, "")},
		{"who is not known hears how to be", "Www-Authenticate", `Basic realm="tidings", charset="UTF-8", Bearer realm="tidings"`, problem.New(problem.Unauthenticated, "")},
	} {
		h := http.Header{}
		c.problem.Header(h)
		if got := h.Get(c.header); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.why, c.header, got, c.want)
		}
	}
}
