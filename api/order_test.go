package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Each request breaks two rules at least; the answer names the first in the order of checks.
func TestTheFirstBrokenRuleIsAnswered(t *testing.T) {
	b := newBench(t)
	big := `{"type":"` + strings.Repeat("x", 256<<10) + `"`
	noKey := []string{"Authorization", ""}
	text := []string{"Content-Type", "text/plain"}
	with := func(all ...[]string) (headers []string) {
		for _, h := range all {
			headers = append(headers, h...)
		}
		return headers
	}
	for _, c := range []struct {
		why, method, path, body string
		headers                 []string
		status                  int
		code                    string
	}{
		{"no key before no scope", "GET", "/v1/lanes", "", noKey, 401, "unauthenticated"},
		{"no key before no path", "GET", "/v1/nothing", "", noKey, 401, "unauthenticated"},
		{"no key before a wrong method", "DELETE", "/v1/events", "", noKey, 401, "unauthenticated"},
		{"no key before a wrong type", "POST", "/v1/events", "x", with(noKey, text), 401, "unauthenticated"},
		{"no key before a large body", "POST", "/v1/events", big, noKey, 401, "unauthenticated"},
		{"no key before broken JSON", "POST", "/v1/events", "{", noKey, 401, "unauthenticated"},
		{"no key before bad input", "POST", "/v1/events", "{}", noKey, 401, "unauthenticated"},
		{"no scope before no such thing", "GET", "/v1/users/nobody", "", as(sendKey), 403, "forbidden"},
		{"no scope before a wrong type", "PUT", "/v1/users/u", "x", with(as(sendKey), text), 403, "forbidden"},
		{"no scope before a large body", "POST", "/v1/events", big, as(readKey), 403, "forbidden"},
		{"no scope before broken JSON", "POST", "/v1/events", "{", as(readKey), 403, "forbidden"},
		{"no scope before bad input", "POST", "/v1/events", "{}", as(readKey), 403, "forbidden"},
		{"no path before a wrong type", "POST", "/v1/nothing", "x", text, 404, "not_found"},
		{"no path before a large body", "POST", "/v1/nothing", big, nil, 404, "not_found"},
		{"no such thing before a wrong type", "POST", "/v1/lanes/fax.bulk/pause", "x", text, 404, "not_found"},
		{"no such thing before broken JSON", "POST", "/v1/notifications/ntf_x/cancel", "{", nil, 404, "not_found"},
		{"wrong method before a wrong type", "PUT", "/v1/events", "x", text, 405, "method_not_allowed"},
		{"wrong method before bad input", "PATCH", "/v1/users/u", "{}", nil, 405, "method_not_allowed"},
		{"wrong type before a large body", "POST", "/v1/events", big, text, 415, "unsupported_media_type"},
		{"wrong type before broken JSON", "POST", "/v1/events", "{", text, 415, "unsupported_media_type"},
		{"wrong type before bad input", "POST", "/v1/events", "{}", text, 415, "unsupported_media_type"},
		{"large body before broken JSON", "POST", "/v1/events", big, nil, 413, "too_large"},
		{"large body before bad input", "POST", "/v1/events", big + "}", nil, 413, "too_large"},
		{"broken JSON before bad input", "POST", "/v1/events", `{"x":1,}`, nil, 400, "malformed_json"},
		{"broken JSON before a wrong query", "POST", "/v1/events?x=1", `{`, nil, 400, "malformed_json"},
		{"broken JSON before a wrong path", "PUT", "/v1/users/a%20b", `{`, nil, 400, "malformed_json"},
		{"bad input before what the catalogue says", "POST", "/v1/events", `{"type":"no.such","user":"u","x":1}`, nil, 422, "invalid_input"},
		{"what the catalogue says", "POST", "/v1/events", `{"type":"no.such","user":"u"}`, nil, 422, "unknown_event_type"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call(c.method, c.path, c.body, c.headers...)
			r.t = t
			r.want(c.status, c.code)
		})
	}
}

func TestBodiesAreTakenAsJSONInUTF8Only(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		why     string
		headers []string
		status  int
	}{
		{"JSON", []string{"Content-Type", "application/json"}, 202},
		{"JSON in UTF-8", []string{"Content-Type", "Application/JSON; charset=UTF-8"}, 202},
		{"JSON in another charset", []string{"Content-Type", "application/json; charset=latin1"}, 415},
		{"nothing said", []string{"Content-Type", ""}, 415},
		{"a form, as curl sends it", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"a merge patch where there is nothing to patch", []string{"Content-Type", "application/merge-patch+json"}, 415},
		{"compressed", []string{"Content-Encoding", "gzip"}, 415},
		{"nonsense", []string{"Content-Type", ";"}, 415},
	} {
		t.Run(c.why, func(t *testing.T) {
			if r := b.call("POST", "/v1/events", shipped("u_1"), c.headers...); r.Code != c.status {
				t.Errorf("answered %d %s, want %d", r.Code, r.Body, c.status)
			}
		})
	}
}

func TestABodyOverItsBoundIsRefusedHoweverItComes(t *testing.T) {
	b := newBench(t)
	const event = `{"type":"order.shipped","user":"u","data":{"order":"4711","carrier":"UPS"}`
	pad := func(n int) string { return event + strings.Repeat(" ", n-len(event)-1) + "}" }
	for _, c := range []struct {
		why, path string
		size      int
		length    bool // the length is told ahead
		status    int
	}{
		{"an event of 256 KiB", "/v1/events", 256 << 10, true, 202},
		{"a byte more", "/v1/events", 256<<10 + 1, true, 413},
		{"a byte more, in chunks", "/v1/events", 256<<10 + 1, false, 413},
		{"a batch of more than an event", "/v1/events/batch", 257 << 10, true, 422}, // it is no batch
		{"a batch of 4 MiB and a byte", "/v1/events/batch", 4<<20 + 1, false, 413},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := httptest.NewRequest("POST", c.path, strings.NewReader(pad(c.size)))
			r.Header.Set("Content-Type", "application/json")
			r.SetBasicAuth(allKey, secret)
			if !c.length {
				r.ContentLength = -1
			}
			if got := b.do(r); got.Code != c.status {
				t.Errorf("answered %d %s, want %d", got.Code, got.Body, c.status)
			}
		})
	}
}

func TestPathsAreFoundExactlyAsTheyAreListed(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{"/v1/events/", "/v1//events", "/v1/./events", "/v1/users/../events", "/", "/V1/events", "/v1",
		"/v1/users/u/inbox", "/v1/inbox/stream", "/v1/broadcasts", "/v1/dead-letters/", "/v1/catalog/preview", "/v1/keys", "/hooks", "/hooks/twilio/outbound", "/console/"} {
		for _, method := range []string{"GET", "POST"} {
			b.call(method, path, "").want(404, "not_found")
		}
	}
	if allow := b.call("DELETE", "/v1/users/u/preferences", "").want(405, "method_not_allowed").Header().Get("Allow"); allow != "GET, HEAD, PATCH" {
		t.Errorf("Allow is %q", allow)
	}
	if r := b.call("HEAD", "/v1/lanes", ""); r.Code != http.StatusOK {
		t.Errorf("HEAD answers %d", r.Code)
	}
}

func TestWhatIsNotAskedForIsNotIgnored(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ why, method, path, body, pointer string }{
		{"a parameter that is not known", "GET", "/v1/notifications?page=2", "", "/page"},
		{"a parameter given twice", "GET", "/v1/notifications?limit=1&limit=2", "", "/limit"},
		{"a parameter of a call without", "GET", "/v1/lanes?limit=1", "", "/limit"},
		{"a parameter beside a body", "POST", "/v1/events?dry_run=true", shipped("u"), "/dry_run"},
		{"a query that cannot be read", "GET", "/v1/notifications?a;b", "", ""},
		{"a body where none is taken", "POST", "/v1/lanes/push.bulk/pause", `{"for":"1h"}`, "/for"},
		{"an Idempotency-Key on a batch", "POST", "/v1/events/batch", `{"events":[` + shipped("u") + `]}`, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call(c.method, c.path, c.body, "Idempotency-Key", "k")
			r.t = t
			if got := r.want(422, "invalid_input").at(); len(got) != 1 || got[0] != c.pointer {
				t.Errorf("the problem is at %q, want %q", got, c.pointer)
			}
		})
	}
}

func shipped(user string) string {
	return `{"type":"order.shipped","user":"` + user + `","data":{"order":"4711","carrier":"UPS"}}`
}
