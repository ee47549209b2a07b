package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"tidings/api"
	"tidings/templates"
)

func TestEveryAnswerHasARequestID(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		why, sent string
		kept      bool
	}{
		{"a sane one is kept", "abc-123", true},
		{"none is made", "", false},
		{"one with a space is replaced", "a b", false},
		{"one that is too long is replaced", strings.Repeat("x", 129), false},
		{"one that would break a log is replaced", "a\"b", false},
	} {
		for _, path := range []string{"/v1/lanes", "/v1/nothing", "/healthz", "/nothing", "//"} {
			got := b.call("GET", path, "", "X-Request-Id", c.sent).Header().Get("X-Request-Id")
			if got == "" || (got == c.sent) != c.kept {
				t.Errorf("%s: %s is answered with %q", c.why, path, got)
			}
		}
	}
}

func TestAPanicIsAProblemAndNotTheEnd(t *testing.T) {
	b := newBench(t, func(s *api.Settings) {
		s.Catalogue = func() (*templates.Catalogue, int64) { panic("canary") }
	})
	r := b.call("GET", "/v1/catalog", "").want(500, "internal")
	if strings.Contains(r.Body.String(), "canary") || r.Header().Get("X-Request-Id") == "" {
		t.Errorf("answered %s", r.Body)
	}
	if log := b.log.String(); !strings.Contains(log, "canary") || !strings.Contains(log, "serve_test.go") {
		t.Errorf("the log does not say where: %s", log)
	}
}

func TestOneLineIsLoggedForARequestWithoutWhatItSaid(t *testing.T) {
	b := newBench(t)
	id := b.call("POST", "/v1/events", `{"type":"order.shipped","user":{"id":"u_1","email":"ann@example.test"},"data":{"order":"canary","carrier":"UPS"}}`, "X-Request-Id", "r-1").want(202, "").json()["id"]
	lines := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	if len(lines) != 1 {
		t.Fatalf("logged %d lines: %s", len(lines), b.log)
	}
	var line map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"msg": "request", "method": "POST", "route": "/v1/events", "status": 202.0, "code": "", "app": "shop", "key": allKey, "request_id": "r-1", "notification": id} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	if line["took"] == nil {
		t.Error("the line does not say how long it took")
	}
	for _, hidden := range []string{"canary", "ann@", secret} {
		if strings.Contains(b.log.String(), hidden) {
			t.Errorf("%s is logged: %s", hidden, b.log)
		}
	}
}

func TestAnUnreadableBodyIsTheCallersProblem(t *testing.T) {
	b := newBench(t)
	r := httptest.NewRequest("POST", "/v1/events", brokenReader{})
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth(allKey, secret)
	b.do(r).want(400, "malformed_json")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

const errBroken = brokenError("connection reset")

type brokenError string

func (e brokenError) Error() string { return string(e) }
