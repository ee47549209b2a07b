package faults

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// Transport is a seam around the transport of a provider.
func (l *Life) Transport(next http.RoundTripper) http.RoundTripper { return &transport{next, l} }

type transport struct {
	next http.RoundTripper
	life *Life
}

// RoundTrip makes the request, unless its fate is another.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.life.gone() {
		return nil, unsent(r, errGone)
	}
	fate := t.life.judge(Call{Seam: Providers, What: requestName(r)})
	switch fate.Deed {
	case DieBefore:
		t.life.Die()
		return nil, unsent(r, errGone)
	case FailBefore:
		return nil, unsent(r, fate.or(errCut))
	case HangBefore:
		<-r.Context().Done()
		return nil, unsent(r, r.Context().Err())
	case Late:
		if !sleep(r, fate.For) {
			return nil, unsent(r, r.Context().Err())
		}
	}
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	switch fate.Deed {
	case DieAfter:
		_ = answer.Body.Close()
		t.life.Die()
		return nil, errGone
	case FailAfter:
		_ = answer.Body.Close()
		return nil, fate.or(errCut)
	case HangAfter:
		_ = answer.Body.Close()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return answer, nil
}

// CloseIdleConnections passes the wish on, as http.Client expects.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (f Fate) or(err error) error {
	if f.Err != nil {
		return f.Err
	}
	return err
}

// unsent closes the body of a request that was not made, as a transport must.
func unsent(r *http.Request, err error) error {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return err
}

// requestName has no more of the path than its first part: the rest may be an address.
func requestName(r *http.Request) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return r.Method + " " + r.URL.Hostname() + "/" + first
}

// sleep reports whether the span passed before the request was given up.
func sleep(r *http.Request, span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
