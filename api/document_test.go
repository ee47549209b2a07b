package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tidings/api"
	"tidings/api/strict"
)

func TestEveryRouteAnswersAndIsInTheDocument(t *testing.T) {
	b := newBench(t)
	doc := b.call("GET", "/openapi.json", "", "Authorization", "").want(200, "").json()
	if doc["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", doc["openapi"])
	}
	paths := doc["paths"].(map[string]any)
	ids := map[any]bool{}
	for _, route := range api.Listed() {
		op, ok := dig(paths, route.Path, strings.ToLower(route.Method)).(map[string]any)
		if !ok {
			t.Errorf("%s %s is not in the document", route.Method, route.Path)
			continue
		}
		if ids[op["operationId"]] {
			t.Errorf("two operations are called %s", op["operationId"])
		}
		ids[op["operationId"]] = true
		if op["summary"] == "" || len(op["responses"].(map[string]any)) == 0 {
			t.Errorf("%s %s is hardly described", route.Method, route.Path)
		}
		path := strings.NewReplacer("{user_id}", "u_1", "{id}", "ntf_x", "{address_id}", "adr_x", "{lane}", "push.bulk", "{provider}", "twilio", "{token}", "tok_x").Replace(route.Path)
		r := b.call(route.Method, path, route.Example)
		if r.Code == 405 || r.Code >= 500 || r.Code == 404 && !strings.Contains(path, "_") {
			t.Errorf("%s %s answers %d %s", route.Method, path, r.Code, r.Body)
		}
	}
}

func TestExamplesOfTheDocumentAreTaken(t *testing.T) {
	for _, route := range api.Listed() {
		if route.Into == nil {
			continue
		}
		if p := strict.Check([]byte(route.Example)); p != nil {
			t.Errorf("%s %s: %v", route.Method, route.Path, p)
			continue
		}
		if p := strict.Read([]byte(route.Example), route.Into()); p != nil {
			t.Errorf("%s %s: %v %v", route.Method, route.Path, p, p.Errors)
		}
	}
}

// What the document says of a body and what the decoder takes are two readings of one type:
// each documented field must be known to the decoder.
func TestTheDecoderKnowsEveryDocumentedField(t *testing.T) {
	b := newBench(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	b.call("GET", "/openapi.json", "").into(&doc)
	for _, route := range api.Listed() {
		if route.Into == nil {
			continue
		}
		schema := doc.Components.Schemas[reflect.TypeOf(route.Into()).Elem().Name()]
		for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
			body := fmt.Sprintf(`{%q:[0]}`, field)
			if p := strict.Read([]byte(body), route.Into()); p != nil && strings.Contains(fmt.Sprint(p.Errors), "{/"+field+" is not a known field}") {
				t.Errorf("%s %s: %s is documented and not known: %v", route.Method, route.Path, field, p)
			}
		}
		p := strict.Read([]byte(`{}`), route.Into())
		var missing []string
		if p != nil {
			for _, e := range p.Errors {
				missing = append(missing, strings.TrimPrefix(e.Pointer, "/"))
			}
		}
		slices.Sort(missing)
		slices.Sort(schema.Required)
		if !slices.Equal(missing, schema.Required) {
			t.Errorf("%s %s: %v are required, the document says %v", route.Method, route.Path, missing, schema.Required)
		}
	}
}

func TestEveryReferenceOfTheDocumentHasAnEnd(t *testing.T) {
	b := newBench(t)
	body := b.call("GET", "/openapi.json", "").Body.Bytes()
	doc := map[string]any{}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, part := range bytes.Split(body, []byte(`"$ref": "#/`))[1:] {
		ref, _, _ := bytes.Cut(part, []byte(`"`))
		if dig(doc, strings.Split(string(ref), "/")...) == nil {
			t.Errorf("%s leads nowhere", ref)
		}
	}
}

func dig(in any, path ...string) any {
	for _, name := range path {
		m, ok := in.(map[string]any)
		if !ok {
			return nil
		}
		in = m[name]
	}
	return in
}

func TestThePageForPeopleNeedsNothingFromElsewhere(t *testing.T) {
	b := newBench(t)
	r := b.do(httptest.NewRequest("GET", "/docs", nil)).want(200, "")
	page := r.Body.String()
	if r.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(page, "/openapi.json") || strings.Contains(page, "/*s") {
		t.Errorf("the page is %s", page)
	}
	for _, outside := range []string{"http://", "https://", "src=", "innerHTML"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page has %s", outside)
		}
	}
	if p := r.Header().Get("Content-Security-Policy"); !strings.Contains(p, "default-src 'none'") || strings.Contains(p, "unsafe") {
		t.Errorf("the policy is %s", p)
	}
	if r.Code != http.StatusOK {
		t.Error(r.Code)
	}
}

func TestWhatMayNotBeNullIsNotSaidToBe(t *testing.T) {
	doc := newBench(t).call("GET", "/openapi.json", "").json()
	for _, c := range []struct{ of, member string }{{"Event", "send_at"}, {"Event", "at"}, {"Redrive", "since"}, {"Redrive", "until"}, {"Replay", "since"}} {
		if got := dig(doc, "components", "schemas", c.of, "properties", c.member, "type"); got != "string" {
			t.Errorf("%s of %s is %v", c.member, c.of, got)
		}
	}
}
