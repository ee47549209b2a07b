package api_test

import (
	"net/url"
	"strings"
	"testing"

	"tidings/internal/links"
)

// A window that has stood open carries nothing of what it showed over what was chosen since: what
// its reader changed there stands beside the rest, as that is by now.
func TestAnOldWindowUndoesNothingThatItsReaderDidNotTouch(t *testing.T) {
	for _, c := range []struct {
		why             string
		before, between string
		field, value    string
		wants           string
	}{
		{"an opt-out", `{}`, `{"categories":{"offers":false}}`, "locale", "de",
			`{"categories":{"offers":false},"consents":{"offers":{"state":"withdrawn"}}}de`},
		{"an opt-in", `{"categories":{"offers":false}}`, `{"categories":{"offers":true}}`, "locale", "de",
			`{"categories":{"offers":true},"consents":{"offers":{"state":"given"}}}de`},
		{"one channel of two", `{}`, `{"categories":{"orders":{"email":false}}}`, "kind.orders", "email",
			`{"categories":{"orders":false}}en`},
		{"all", `{}`, `{"all":false}`, "locale", "de", `{"all":false}de`},
		{"a channel", `{}`, `{"channels":{"sms":false}}`, "locale", "de", `{"channels":{"sms":false}}de`},
		{"the beginning of quiet hours", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":{"start":"21:00","end":"07:00"}}`, "end", "08:00",
			`{"quiet_hours":{"start":"21:00","end":"08:00"}}en`},
		{"quiet hours that are over", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":null}`, "locale", "de", `{}de`},
		{"a time zone", `{}`, `{"timezone":"Europe/Berlin"}`, "locale", "de", `{}deEurope/Berlin`},
		{"a language", `{}`, `{"locale":"de"}`, "zone", "Europe/Berlin", `{}deEurope/Berlin`},
		{"a thread", `{}`, `{"threads":{"social":{"4711":false}}}`, "locale", "de", `{"threads":{"social":{"4711":false}}}de`},
	} {
		b := newBench(t)
		b.call("PATCH", "/v1/users/u_1/preferences", c.before).want(200, "")
		v := reader(t, b, links.Preferences, `{"locale":"en"}`)
		form := v.form()
		form.Set(c.field, c.value)
		b.call("PATCH", "/v1/users/u_1/preferences", c.between).want(200, "")
		v.send(form)
		if v.Code != 409 {
			t.Fatalf("%s: answered %d", c.why, v.Code)
		}
		v.send(v.form())
		if got := strings.Replace(v.wants(), `{"consents":{}}`, "{}", 1); v.Code != 200 || got != c.wants {
			t.Errorf("%s: answered %d, wants\n%s, not\n%s", c.why, v.Code, got, c.wants)
		}
	}
}

// A consent that was taken back while a window stood open is not given again by it.
func TestAnOldWindowGivesNoConsent(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, consent: opt_in}}\nevents: {hello: {category: offers, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`).want(200, "")
	v := reader(t, b, links.Preferences, `{"categories":{"offers":true}}`)
	form := v.form()
	form.Set("zone", "Europe/Berlin")
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"withdraw"}`).want(201, "")
	v.send(form)
	v.says(409, "changed in another window")
	lines := len(b.consents("u_1"))
	v.send(v.form())
	v.says(200, "saved")
	if got := b.consents("u_1"); len(got) != lines+1 || !strings.Contains(v.wants(), `"state":"withdrawn"`) {
		t.Errorf("the ledger says %q, wants %s", got, v.wants())
	}
	v.send(v.undo())
	v.says(200, "everything is as it was")
	if got := v.wants(); !strings.Contains(got, `"state":"withdrawn"`) || strings.HasSuffix(got, "Berlin") {
		t.Errorf("undone: %s", got)
	}
}

// A page of before an upgrade does not say what it had shown: of an old one nothing is known to be a change.
func TestAnOldWindowThatDoesNotSayWhatItShowedChangesNothing(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	form := url.Values{}
	for name, values := range v.form() {
		if !strings.HasPrefix(name, "was.") {
			form[name] = values
		}
	}
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":false}}`).want(200, "")
	before := v.wants()
	v.send(form)
	v.says(409, "changed in another window")
	v.send(v.form())
	if got := v.wants(); v.Code != 200 || got != before {
		t.Errorf("%s became %s", before, got)
	}
}

// What cannot be meant is shown again without what was chosen elsewhere getting lost.
func TestAnOldWindowThatCannotBeMeantCarriesNothingOver(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	form := v.form()
	form.Set("quiet", "on")
	form.Set("end", "22:00")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"offers":false}}`).want(200, "")
	v.send(form)
	v.says(422, "two different times")
	form = v.form()
	form.Set("end", "07:00")
	v.send(form)
	v.says(409, "changed in another window")
	v.send(v.form())
	if got := v.wants(); v.Code != 200 || !strings.HasPrefix(got, `{"categories":{"offers":false},"quiet_hours":{"start":"22:00","end":"07:00"}`) {
		t.Errorf("answered %d, wants %s", v.Code, got)
	}
}
