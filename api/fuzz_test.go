package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"tidings/api/problem"
)

// Whatever is posted, the answer is one of the documented statuses, and a no has a code.
func FuzzEvents(f *testing.F) {
	fuzzBody(f, "POST", "/v1/events", shipped("u_1"), `{"type":"login.code","user":{"id":"u","phone":"+15550100"},"data":{"code":"1"},"dry_run":true,"at":"2026-12-01T08:00:00Z"}`,
		`{"type":"order.shipped","user":"u","channels":["push"],"send_at":"2026-12-01T08:00:00Z","expires_in":"1h","collapse_key":"c"}`)
}

func FuzzBatch(f *testing.F) {
	fuzzBody(f, "POST", "/v1/events/batch", `{"events":[`+shipped("u_1")+`,{}]}`)
}

func FuzzUsers(f *testing.F) {
	fuzzBody(f, "PUT", "/v1/users/u_1", `{"locale":"de","timezone":"Europe/Berlin","email":"ann@example.test","phone":"+15550100","attributes":{"a":[1]}}`)
}

func FuzzAddresses(f *testing.F) {
	fuzzBody(f, "POST", "/v1/users/u_1/addresses", `{"channel":"push","provider":"fcm","token":"x"}`, `{"channel":"sms","phone":"+15550100"}`, `{"channel":"email","email":"ann@example.test"}`)
}

func FuzzPreferences(f *testing.F) {
	fuzzBody(f, "PATCH", "/v1/users/u_1/preferences", `{"all":true,"channels":{"sms":false},"categories":{"orders":{"all":true,"email":null},"offers":false},"version":1}`)
}

func FuzzCatalog(f *testing.F) {
	fuzzBody(f, "PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {a: {kind: critical}}\nevents: {b: {category: a, channels: [sms]}}","templates/b/sms.en.txt":"x"}}`)
}

func FuzzList(f *testing.F) {
	b := newBench(f)
	f.Add("limit=2&status=sent&since=2026-12-01T08:00:00Z")
	f.Add("cursor=ntf_x&channel=push;")
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/v1/notifications", nil)
		r.URL.RawQuery = query
		r.SetBasicAuth(allKey, secret)
		b.answers(t, b.do(r))
	})
}

func fuzzBody(f *testing.F, method, path string, seeds ...string) {
	b := newBench(f)
	for _, s := range append(seeds, `{`, `null`, `[]`, `{"type":"\u0000"}`, `{"x":1,"x":2}`, "\xff", `{} {}`, strings.Repeat("[", 11000)) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest(method, path, strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.SetBasicAuth(allKey, secret)
		b.answers(t, b.do(r))
	})
}

// answers fails the test unless the answer is a yes, or a no with a code of the list.
func (b *bench) answers(t *testing.T, r reply) {
	t.Helper()
	r.t = t
	if r.Code < 300 {
		return
	}
	code := problem.Code(r.code())
	if r.Code >= 500 || code == "" || code.Status() != r.Code {
		t.Errorf("answered %d %s", r.Code, r.Body)
	}
}
