package api_test

import (
	"fmt"
	"slices"
	"testing"

	"tidings/api/wire"
)

// consents are the lines of a user's ledger, newest first, as "category/channel action source app".
func (b *bench) consents(user string) (all []string) {
	b.t.Helper()
	var page wire.Consents
	b.call("GET", "/v1/users/"+user+"/consents", "").want(200, "").into(&page)
	for _, c := range page.Data {
		all = append(all, fmt.Sprintf("%s/%s %s %s %s", c.Category, c.Channel, c.Action, c.Source, c.App))
	}
	return all
}

func TestAPatchOfPreferencesIsInTheLedger(t *testing.T) {
	b := newBench(t)
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"orders":{"email":false}}}`).want(200, "")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"locale":"de"}`).want(200, "")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"all":false}`).want(200, "")
	want := []string{"/ withdrawn api shop", "/ set api shop", "orders/email withdrawn api shop"}
	if got := b.consents("u_1"); !slices.Equal(got, want) {
		t.Errorf("ledger %q, want %q", got, want)
	}
	b.call("GET", "/v1/users/nobody/consents", "").want(404, "not_found")
}

func TestAConsentIsRecordedInItsWords(t *testing.T) {
	b := newBench(t)
	var line wire.Consent
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"withdraw","wording":"No offers","version":"3","source":"operator"}`).want(201, "").into(&line)
	if line.Action != "withdrawn" || line.Wording != "No offers" || line.Version != "3" || line.Source != "operator" || line.App != "shop" || line.At.IsZero() {
		t.Errorf("the line is %+v", line)
	}
	var p wire.Preferences
	b.call("GET", "/v1/users/u_1/preferences", "").want(200, "").into(&p)
	if p.Categories["offers"] != false {
		t.Errorf("preferences are %+v", p)
	}
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"give","wording":"Offers!","version":"4"}`).want(201, "").into(&line)
	if got := b.consents("u_1"); !slices.Equal(got, []string{"offers/ given api shop", "offers/ withdrawn operator shop"}) {
		t.Errorf("ledger %q", got)
	}
	var page wire.Consents
	b.call("GET", "/v1/users/u_1/consents?limit=1", "").want(200, "").into(&page)
	if len(page.Data) != 1 || page.NextCursor == nil {
		t.Fatalf("the first page is %+v", page)
	}
	b.call("GET", "/v1/users/u_1/consents?limit=1&cursor="+*page.NextCursor, "").want(200, "").into(&page)
	if len(page.Data) != 1 || page.NextCursor != nil || page.Data[0].Action != "withdrawn" {
		t.Errorf("the second page is %+v", page)
	}
}

func TestAConsentThatCannotBeIsRefused(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ body, code, at string }{
		{`{"category":"nothing","action":"give","wording":"w","version":"1"}`, "invalid_input", "/category"},
		{`{"category":"security","action":"withdraw","wording":"w","version":"1"}`, "category_critical", "/category"},
		{`{"category":"offers","action":"asked","wording":"w","version":"1"}`, "invalid_input", "/action"},
		{`{"category":"offers","action":"give","version":"1"}`, "invalid_input", "/wording"},
		{`{"category":"offers","action":"give","wording":"","version":"1"}`, "invalid_input", "/wording"},
		{`{"category":"offers","action":"give","wording":"w","version":"1","source":"stop"}`, "invalid_input", "/source"},
	} {
		r := b.call("POST", "/v1/users/u_1/consents", c.body).want(422, c.code)
		if !slices.Equal(r.at(), []string{c.at}) {
			t.Errorf("%s: at %q", c.body, r.at())
		}
	}
	b.call("GET", "/v1/users/u_1", "").want(404, "not_found")
	b.call("POST", "/v1/users/u_1/consents", `{}`, as(sendKey)...).want(403, "forbidden")
}
