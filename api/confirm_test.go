package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"tidings"
	"tidings/api/wire"
	"tidings/internal/links"
)

// twice is a catalogue whose offers ask twice, and a user with a visit to nowhere yet.
func twice(t *testing.T) (*bench, *visit) {
	t.Helper()
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, consent: double_opt_in}, orders: {kind: transactional}}\nevents: {hello: {category: offers, channels: [sms, email]}, other: {category: orders, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello","templates/hello/email.en.yaml":"subject: hello","templates/hello/email.en.txt":"hello","templates/other/sms.en.txt":"hello"}}`).want(200, "")
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
	var p wire.PatchedPreferences
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":{"sms":true}}}`).want(200, "").into(&p)
	v.confirm(asked.ConfirmURL)
	v.says(200, "From now on")
	if said := b.agreeing()["sms"]; !strings.HasPrefix(said, "consent_missing") {
		t.Errorf("the link to mail confirmed a text: %q", said)
	}
	v.confirm(p.Confirm["offers"].URL)
	v.says(200, "From now on")
	if said := b.agreeing()["sms"]; strings.HasPrefix(said, "consent_missing") {
		t.Errorf("confirmed, %q", said)
	}
	if got := b.consents("u_1")[:2]; got[0] != "offers/sms given page " || got[1] != "offers/email given page " {
		t.Errorf("the ledger says %q", got)
	}
}

// agreeing is what the rule of consent says of the category that asks twice, by channel.
func (b *bench) agreeing() map[tidings.Channel]string {
	b.t.Helper()
	var told wire.Explained
	b.call("GET", "/v1/users/u_1/explain?event=hello", "").want(200, "").into(&told)
	said := map[tidings.Channel]string{}
	for _, e := range told.Channels {
		r := ruled(b.t.(*testing.T), e, "consent")
		said[e.Channel] = string(r.Reason) + ": " + r.Input
	}
	return said
}

// All that leads to more than was confirmed asks, and what was confirmed goes on meanwhile.
func TestWhatIsAskedForBesideAConsentWaitsForItsLink(t *testing.T) {
	for _, c := range []struct{ why, method, path, body string }{
		{"a patch of a channel", "PATCH", "preferences", `{"categories":{"offers":{"sms":true}}}`},
		{"a patch of the whole", "PATCH", "preferences", `{"categories":{"offers":true}}`},
		{"an answer to the whole", "POST", "consents", `{"category":"offers","action":"give","wording":"Two","version":"2"}`},
	} {
		b, v := twice(t)
		var asked wire.Consent
		b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","channel":"email","action":"give","wording":"One","version":"1"}`).want(201, "").into(&asked)
		v.confirm(asked.ConfirmURL)
		var wider struct {
			ConfirmURL string `json:"confirm_url"`
			Confirm    map[string]wire.Link
		}
		r := b.call(c.method, "/v1/users/u_1/"+c.path, c.body)
		r.into(&wider)
		link := wider.ConfirmURL + wider.Confirm["offers"].URL
		if link == "" {
			t.Fatalf("%s: no link in %s", c.why, r.Body)
		}
		said := b.agreeing()
		if strings.HasPrefix(said["email"], "consent_missing") || !strings.HasPrefix(said["sms"], "consent_missing") ||
			!strings.HasSuffix(said["sms"], "but sms was asked for and is not confirmed") {
			t.Errorf("%s: %q", c.why, said)
		}
		v.confirm(link)
		v.says(200, "From now on")
		if said := b.agreeing(); strings.HasPrefix(said["sms"], "consent_missing") {
			t.Errorf("%s: confirmed, %q", c.why, said)
		}
	}
}

// On the page, what was confirmed can be switched off, and comes back by a link alone.
func TestThePageSwitchesOnNothingThatAsksTwice(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, consent: double_opt_in}}\nevents: {hello: {category: offers, channels: [sms, inbox]}}\n","templates/hello/sms.en.txt":"hello","templates/hello/inbox.en.yaml":"title: a\nbody: b"}}`).want(200, "")
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	page := v.path
	var asked wire.Consent
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"give","wording":"One","version":"1"}`).want(201, "").into(&asked)
	v.confirm(asked.ConfirmURL)
	v.path = page
	form := v.formAt("")
	if got := form["kind.offers"]; !slices.Equal(got, []string{"sms", "inbox"}) {
		t.Fatalf("on: %q", got)
	}
	form["kind.offers"] = []string{"inbox"}
	v.send(form)
	v.says(200, "saved")
	if strings.Contains(v.Body.String(), `name="undo"`) {
		t.Error("a consent comes back by a click")
	}
	v.says(200, "sign up where it is offered")
	form = v.form()
	if got := form.Get("kind.offers.shown"); got != "inbox" || !strings.Contains(v.Body.String(), `value="sms" disabled`) {
		t.Errorf("%q can be switched", got)
	}
	form["kind.offers"] = []string{"inbox", "sms"}
	form.Set("kind.offers.shown", "sms inbox")
	before := v.wants()
	v.send(form)
	if v.wants() != before {
		t.Errorf("%s became %s", before, v.wants())
	}
	var p wire.PatchedPreferences
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":{"sms":true}}}`).want(200, "").into(&p)
	form = v.formAt("")
	v.says(200, "Some of it waits for your confirmation")
	form.Del("kind.offers")
	v.send(form)
	v.says(200, "saved")
	if got := v.wants(); !strings.Contains(got, `"categories":{"offers":false}`) {
		t.Errorf("all off: %s", got)
	}
	v.confirm(p.Confirm["offers"].URL)
	v.says(409, "taken back")
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
