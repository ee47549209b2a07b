package api_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"tidings"
	"tidings/api"
	"tidings/api/wire"
)

func TestTheCatalogueIsReadAndPublished(t *testing.T) {
	b := newBench(t)
	var now, next wire.Catalog
	b.call("GET", "/v1/catalog", "").want(200, "").into(&now)
	if now.Version != 1 || !strings.Contains(now.Files["catalog.yaml"], "order.shipped") {
		t.Errorf("the catalogue is %d with %d files", now.Version, len(now.Files))
	}
	const files = `"files":{"catalog.yaml":"default_locale: en\ncategories: {orders: {kind: transactional}}\nevents: {order.shipped: {category: orders, channels: [sms]}}\n","templates/order.shipped/sms.en.txt":"Your order is on its way."}`
	b.call("PUT", "/v1/catalog", `{"version":7,`+files+`}`).want(409, "version_conflict")
	b.call("PUT", "/v1/catalog", `{"version":1,`+files+`}`).want(200, "").into(&next)
	if next.Version != 2 || len(next.Files) != 2 || next.Hash == now.Hash {
		t.Errorf("published %+v", next)
	}
	b.call("PUT", "/v1/catalog", `{`+files+`}`).want(200, "").into(&next)
	if next.Version != 2 {
		t.Errorf("the same files are version %d", next.Version)
	}
	var posted wire.Posted
	seen := b.call("GET", "/v1/catalog", "").want(200, "").Body.String()
	b.call("PUT", "/v1/catalog", seen).want(200, "").into(&next)
	if next.Version != 2 {
		t.Errorf("what was read is published as version %d", next.Version)
	}
	b.call("PUT", "/v1/catalog", `{"hash":"`+now.Hash+`",`+files+`}`).want(409, "version_conflict")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "").into(&posted)
	if len(posted.Decisions) != 1 || posted.Decisions[0].Channel != tidings.SMS {
		t.Errorf("decided %+v", posted.Decisions)
	}
}

func TestABrokenCatalogueIsNamedByFileAndLine(t *testing.T) {
	b := newBench(t)
	r := b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {orders: {kind: transactional}}\nevents:\n  a: {category: orders, channels: [sms], lanes: x}\n"}}`).want(422, "invalid_input")
	if at := r.at(); len(at) == 0 || at[0] != "/files/catalog.yaml" || !strings.Contains(r.Body.String(), "catalog.yaml:3") {
		t.Errorf("answered %s", r.Body)
	}
}

func TestCallbacksAreTakenOnlyWhenSigned(t *testing.T) {
	urls := make(chan string, 100)
	b := newBench(t, func(s *api.Settings) {
		s.Providers["twilio"] = api.Provider{Name: "twilio", Type: "twilio", Channel: tidings.SMS, Receipts: forger{urls}}
	})
	call := func(path, body, signature string) reply {
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("X-Signature", signature)
		r.Header.Set("X-Forwarded-Host", "evil.example.test")
		r.Header.Set("X-Forwarded-Proto", "http")
		r.Host = "evil.example.test"
		return b.do(r)
	}
	call("/hooks/twilio?d=x%2Fy&a=1", `"ref"`, "good").want(204, "")
	if url := <-urls; url != publicURL+"/hooks/twilio?d=x%2Fy&a=1" {
		t.Errorf("the signature is checked for %s", url)
	}
	call("/hooks/twilio", `"ref"`, "bad").want(403, "forbidden")
	call("/hooks/twilio", `"ref"`, "").want(403, "forbidden")
	call("/hooks/twilio", `{`, "good").want(422, "invalid_input")
	call("/hooks/smtp", `"ref"`, "good").want(404, "not_found")
	call("/hooks/nobody", `"ref"`, "good").want(404, "not_found")
	call("/hooks/twilio", strings.Repeat("x", 256<<10+1), "good").want(413, "too_large")
	b.call("GET", "/hooks/twilio", "").want(405, "method_not_allowed")
}

func TestReadinessAndDraining(t *testing.T) {
	b := newBench(t)
	b.call("GET", "/healthz", "", "Authorization", "").want(200, "")
	b.call("GET", "/readyz", "", "Authorization", "").want(200, "")
	down := errors.New("disk is full")
	b.unready.Store(&down)
	if r := b.call("GET", "/readyz", "").want(503, "not_ready"); strings.Contains(r.Body.String(), "disk") || !strings.Contains(r.Body.String(), "the log cannot be written") {
		t.Errorf("an inner error is shown, or no reason: %s", r.Body)
	}
	b.unready.Store(nil)
	b.draining.Store(true)
	b.call("GET", "/readyz", "").want(503, "not_ready")
	b.call("GET", "/healthz", "").want(200, "")
	b.call("GET", "/v1/lanes", "").want(200, "")
	b.call("POST", "/v1/events", shipped("u"), "Authorization", "").want(401, "unauthenticated")
	for _, path := range []string{"/v1/events", "/v1/events/batch", "/v1/users/u/addresses"} {
		if after := b.call("POST", path, "{}").want(503, "not_ready").Header().Get("Retry-After"); after != "1" {
			t.Errorf("Retry-After is %q", after)
		}
	}
	if m := b.call("GET", "/metrics", "", "Authorization", "").want(200, "").Body.String(); !strings.Contains(m, `tidings_requests_shed_total{code="not_ready"} 3`) {
		t.Error("what was shed is not counted")
	}
}

func TestWithoutRoomNothingNewIsTakenAndPeopleAreStillHeard(t *testing.T) {
	b := newBench(t)
	id := b.call("POST", "/v1/events", shipped("u_1")).want(202, "").json()["id"].(string)
	b.full.Store(true)
	for path, body := range map[string]string{
		"POST /v1/events": shipped("u_1"), "POST /v1/events/batch": "{}", "PUT /v1/users/u_2": "{}", "POST /v1/users/u_1/addresses": "{}", "PUT /v1/catalog": "{}",
	} {
		method, path, _ := strings.Cut(path, " ")
		if after := b.call(method, path, body).want(503, "not_ready").Header().Get("Retry-After"); after != "10" {
			t.Errorf("%s: Retry-After is %q", path, after)
		}
	}
	b.call("PATCH", "/v1/users/u_1/preferences", `{"all":false}`, "Content-Type", "application/merge-patch+json").want(200, "")
	b.call("GET", "/v1/notifications/"+id, "").want(200, "")
	b.call("POST", "/v1/lanes/push.bulk/pause", "").want(200, "")
	b.call("DELETE", "/v1/users/u_1", "").want(204, "")
	b.full.Store(false)
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
}

func TestAProcessThatOnlyDeliversAnswersProbesAlone(t *testing.T) {
	b := newBench(t, func(s *api.Settings) { s.ProbesOnly = true })
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		b.call("GET", path, "", "Authorization", "").want(200, "")
	}
	b.call("POST", "/v1/events", `{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"}}`).want(404, "not_found")
	b.call("POST", "/hooks/forger", `"ref"`, "Authorization", "").want(404, "not_found")
	b.call("GET", "/openapi.json", "", "Authorization", "").want(404, "not_found")
}
