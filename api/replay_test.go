package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tidings"
	"tidings/api/wire"
	"tidings/deploy"
	"tidings/templates"
)

// replay is the body that asks about the sample with parts of catalog.yaml replaced.
func replay(t *testing.T, since string, pairs ...string) string {
	t.Helper()
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	files["catalog.yaml"] = strings.NewReplacer(pairs...).Replace(files["catalog.yaml"])
	body, err := json.Marshal(map[string]any{"files": files, "since": since})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAnotherCatalogueIsReplayed(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	var posted wire.Posted
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "").into(&posted)
	var same, out wire.Replayed
	b.call("POST", "/v1/catalog/replay", replay(t, "2020-01-01T00:00:00Z")).want(200, "").into(&same)
	if same.Examined != 1 || same.Changed != 0 || same.Differences == nil || same.Counts == nil || same.CatalogVersion != 1 {
		t.Errorf("the same catalogue: %+v", same)
	}
	b.call("POST", "/v1/catalog/replay", replay(t, "2020-01-01T00:00:00Z", "order.shipped:", "order.sent:")).want(422, "invalid_input") // its templates stay
	b.call("POST", "/v1/catalog/replay", replay(t, "2020-01-01T00:00:00Z", "orders:", "orders: {kind: marketing, consent: opt_in}\n  other:")).want(200, "").into(&out)
	if len(out.Differences) != 2 || out.Changed != 2 || len(out.Counts) != 2 || out.Counts[0].Count != 1 {
		t.Fatalf("differs: %+v", out)
	}
	d := out.Differences[0]
	if d.ID != posted.ID || d.UserID != "u_1" || d.Channel != tidings.Push || d.Before.Action != tidings.ActionSend || d.After.Reason != tidings.ReasonConsentMissing {
		t.Errorf("differs: %+v before %+v after %+v", d, d.Before, d.After)
	}
}

func TestACatalogueThatCannotBeReplayedIsRefusedWithItsLine(t *testing.T) {
	b := newBench(t)
	since := `,"since":"2026-12-01T08:00:00Z"}`
	r := b.call("POST", "/v1/catalog/replay", `{"files":{"catalog.yaml":"default_locale: en\nkategories: {}\n"}`+since).want(422, "invalid_input")
	if text := r.Body.String(); !strings.Contains(text, "catalog.yaml:2:") {
		t.Errorf("no file and line: %s", text)
	}
	for _, body := range []string{`{"files":{}}`, `{"files":{}` + since, `{"since":"2026-12-01T08:00:00Z"}`, `{"files":{},"since":"yesterday"}`, `{"files":{},"x":1` + since} {
		b.call("POST", "/v1/catalog/replay", body).want(422, "invalid_input")
	}
	b.call("POST", "/v1/catalog/replay", `{"files":{}`+since, as(readKey)...).want(403, "forbidden")
}
