package fcm

import (
	"context"
	"net/http"
	"strings"

	"tidings/channels"
)

// An exchange is one Send as its transport sees it.
type exchange struct {
	bearer string
	call   channels.Call
	made   bool  // a request was made
	err    error // why no answer came
}

type exchangeKey struct{}

// in is ctx with the exchange in it: all that the SDK passes on to a transport.
func (x *exchange) in(ctx context.Context) context.Context {
	return x.call.Watch(context.WithValue(ctx, exchangeKey{}, x))
}

// A transport adds the credentials to a request, and gives the SDK no reason to repeat it: the
// SDK repeats what ended in a network error or a 503, up to four times. It gets another answer
// to those, and Send looks at the real one.
type transport struct{ next http.RoundTripper }

func newTransport(client *http.Client) *transport {
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	return &transport{channels.Record(next)}
}

// RoundTrip makes the request once.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return t.next.RoundTrip(r)
	}
	x.made = true
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+x.bearer)
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		x.err = err
		return final(r), nil
	}
	if answer.StatusCode == http.StatusServiceUnavailable {
		return final(r), nil // its body is recorded, and in memory
	}
	return answer, nil
}

// final is an answer that the SDK takes as the last word.
func final(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusBadRequest, ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
		Status: strings.ToLower(http.StatusText(http.StatusBadRequest)),
	}
}
