package api_test

import (
	"net/url"
	"strings"
	"testing"

	"tidings/api/wire"
	"tidings/internal/links"
)

// twice is a catalogue whose offers ask twice, and a user with a visit to nowhere yet.
func twice(t *testing.T) (*bench, *visit) {
	t.Helper()
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, consent: double_opt_in}, orders: {kind: transactional}}\nevents: {hello: {category: offers, channels: [sms]}, other: {category: orders, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello","templates/other/sms.en.txt":"hello"}}`).want(200, "")
	return b, reader(t, b, links.Preferences, `{"locale":"en"}`)
}

// confirm presses the button of the page behind a link.
func (v *visit) confirm(link string) {
	v.t.Helper()
	v.path = strings.TrimPrefix(link, publicURL)
	v.send(url.Values{"confirm": {"yes"}})
}

func TestOnlyTheNewestWordsAreConfirmed(t *testing.T) {
	b, v := twice(t)
	var first, second wire.Consent
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"give","wording":"One","version":"1"}`).want(201, "").into(&first)
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"give","wording":"Two","version":"2"}`).want(201, "").into(&second)
	v.confirm(first.ConfirmURL)
	v.says(409, "asked for again")
	for range 2 {
		v.confirm(second.ConfirmURL)
		v.says(200, "From now on")
	}
	v.confirm(first.ConfirmURL)
	v.says(409, "asked for again")
	var page wire.Consents
	b.call("GET", "/v1/users/u_1/consents?limit=2", "").want(200, "").into(&page)
	if line := page.Data[0]; line.Action != "given" || line.Wording != "Two" || line.Version != "2" {
		t.Errorf("the ledger ends with %+v", line)
	}
	if line := page.Data[1]; line.Action != "asked" || line.Wording != "Two" {
		t.Errorf("before that it says %+v", line)
	}
}

func TestAPatchThatAsksGivesTheLinkThatConfirms(t *testing.T) {
	b, v := twice(t)
	var p wire.PatchedPreferences
	for range 2 { // the answer may have been lost
		p = wire.PatchedPreferences{}
		b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":{"sms":true},"orders":true}}`).want(200, "").into(&p)
		if len(p.Confirm) != 1 || p.Confirm["offers"].URL == "" || p.Confirm["offers"].ExpiresAt.IsZero() {
			t.Fatalf("to confirm: %+v", p.Confirm)
		}
	}
	v.confirm(p.Confirm["offers"].URL)
	v.says(200, "From now on")
	if got := b.consents("u_1"); got[0] != "offers/sms given page " {
		t.Errorf("ledger %q", got)
	}
	var after wire.PatchedPreferences
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":{"sms":true}}}`).want(200, "").into(&after)
	if len(after.Confirm) > 0 {
		t.Errorf("to confirm once more: %+v", after.Confirm)
	}
}

// A link is good for what it was made for: what was asked for beside it since needs its own.
func TestAPatchThatAsksForMoreNeedsItsOwnLink(t *testing.T) {
	b, v := twice(t)
	var asked wire.Consent
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","channel":"email","action":"give","wording":"One","version":"1"}`).want(201, "").into(&asked)
	if asked.Channel != "email" || asked.ConfirmURL == "" {
		t.Fatalf("asked %+v", asked)
	}
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":{"sms":true}}}`).want(200, "")
	v.confirm(asked.ConfirmURL)
	v.says(409, "asked for again")
}

func TestAWithdrawalNeedsNoWords(t *testing.T) {
	b := newBench(t)
	var line wire.Consent
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","channel":"email","action":"withdraw"}`).want(201, "").into(&line)
	if line.Action != "withdrawn" || line.Channel != "email" || line.Category != "offers" {
		t.Errorf("the line is %+v", line)
	}
	var p wire.Preferences
	b.call("GET", "/v1/users/u_1/preferences", "").want(200, "").into(&p)
	if got, _ := p.Categories["offers"].(map[string]any); got["email"] != false || len(got) != 1 {
		t.Errorf("wants %+v", p.Categories)
	}
	r := b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","channel":"fax","action":"withdraw"}`).want(422, "invalid_input")
	if at := r.at(); len(at) != 1 || at[0] != "/channel" {
		t.Errorf("at %q", at)
	}
}
