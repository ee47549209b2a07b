package channels_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"tidings"
	"tidings/channels"
)

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	for _, c := range []struct {
		value string
		want  time.Duration
		why   string
	}{
		{"", 0, "absent"},
		{"120", 2 * time.Minute, "seconds"},
		{" 5 ", 5 * time.Second, "with white space"},
		{"0", 0, "at once"},
		{"-5", 0, "not before now"},
		{"1.5", 0, "no fractions in RFC 9110"},
		{"9223372036", channels.LongestRetryAfter, "beyond reason"},
		{"99999999999999999999", channels.LongestRetryAfter, "more than a number can hold"},
		{"Fri, 01 Dec 2226 12:00:00 GMT", channels.LongestRetryAfter, "a date beyond reason"},
		{"soon", 0, "no form at all"},
		{"Tue, 01 Dec 2026 12:01:30 GMT", 90 * time.Second, "a date"},
		{"Tuesday, 01-Dec-26 12:01:30 GMT", 90 * time.Second, "an obsolete form that must be understood"},
		{"Tue, 01 Dec 2026 11:00:00 GMT", 0, "a date that has passed"},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.value)
		if got := channels.RetryAfter(h, noon); got != c.want {
			t.Errorf("%s: %q gave %s, want %s", c.why, c.value, got, c.want)
		}
	}
}

func TestCleanTextIsBoundedPrintableAndHoldsNothingHidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		address := rapid.StringMatching(`[a-z0-9+@.]{6,20}`).Draw(t, "address")
		text := rapid.String().Draw(t, "before") + address + rapid.String().Draw(t, "after") + string([]byte{0xff, 0, '\n'})
		got := channels.CleanText(text, address, "")
		switch {
		case len(got) > channels.MaxText:
			t.Errorf("%d bytes", len(got))
		case !utf8.ValidString(got):
			t.Errorf("%q is not UTF-8", got)
		case strings.Contains(got, address):
			t.Errorf("%q holds the address", got)
		case strings.ContainsAny(got, "\n\r\t\x00\x7f"):
			t.Errorf("%q holds control characters", got)
		}
	})
}

// service answers with what is given; the client records.
func service(t *testing.T, answer http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return &http.Client{Transport: channels.Record(http.DefaultTransport)}, s.URL
}

func post(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}

func TestARecordedAnswerIsKeptAndStillReadable(t *testing.T) {
	client, url := service(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "busy")
	})
	var call channels.Call
	answer, err := post(call.Watch(t.Context()), client, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "busy" || string(call.Body) != "busy" || call.HTTPStatus != 503 || call.Header.Get("Retry-After") != "3" {
		t.Errorf("read %q, recorded %d %q %v, %v", body, call.HTTPStatus, call.Body, call.Header, err)
	}
}

func TestASecondRequestOfOneCallIsKeptBack(t *testing.T) {
	seen := 0
	client, url := service(t, func(http.ResponseWriter, *http.Request) { seen++ })
	var call channels.Call
	ctx := call.Watch(t.Context())
	answer, err := post(ctx, client, url)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if _, err := post(ctx, client, url); err == nil || seen != 1 {
		t.Errorf("the service saw %d requests, the second gave %v", seen, err)
	}
}

func TestARedirectOfOneCallIsNotFollowed(t *testing.T) {
	seen := 0
	client, url := service(t, func(w http.ResponseWriter, r *http.Request) {
		seen++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	var call channels.Call
	if _, err := post(call.Watch(t.Context()), client, url); err == nil || seen != 1 || call.HTTPStatus != http.StatusTemporaryRedirect {
		t.Errorf("%d requests, status %d, %v", seen, call.HTTPStatus, err)
	}
}

func TestAnEndlessAnswerIsCutOff(t *testing.T) {
	client, url := service(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			if _, err := w.Write(make([]byte, channels.MaxAnswer/10)); err != nil {
				return
			}
		}
	})
	var call channels.Call
	answer, err := post(call.Watch(t.Context()), client, url)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if len(call.Body) != channels.MaxAnswer {
		t.Errorf("%d bytes were read", len(call.Body))
	}
}

func TestNoAnswerIsNotSentOnlyWhenNoByteLeft(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	client, cutting := service(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, c := range []struct {
		url  string
		want tidings.Outcome
	}{{closed, tidings.NotSent}, {cutting, tidings.OutcomeUnknown}} {
		var call channels.Call
		_, err := post(call.Watch(t.Context()), client, c.url)
		if e := call.Unanswered(err); e.Fault != c.want {
			t.Errorf("%v is %s, want %s", err, e.Fault, c.want)
		}
	}
}

func TestAnUnansweredErrorShowsNoURLAndKeepsItsCause(t *testing.T) {
	const address = "f00dface"
	cause := &url.Error{Op: "Post", URL: "https://push.example.test/3/device/" + address, Err: context.DeadlineExceeded}
	e := new(channels.Call).Unanswered(cause, address)
	if strings.Contains(e.Error(), address) || strings.Contains(e.Error(), "/3/device") {
		t.Errorf("shown: %v", e)
	}
	if !errors.Is(e, context.DeadlineExceeded) {
		t.Error("a time-out is not recognisable")
	}
	var asURL *url.Error
	if errors.As(e, &asURL) {
		t.Error("the URL can be had by unwrapping")
	}
}

func TestWhatNobodyClassifiedIsUnknown(t *testing.T) {
	if got := channels.Classify(errors.New("odd")).Fault; got != tidings.OutcomeUnknown {
		t.Errorf("got %s", got)
	}
}
