package api_test

import (
	"encoding/base64"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"tidings/internal/links"
)

// signedElsewhere are undos of links that are the person's own, but not the one of the page, or not
// signed at all.
func signedElsewhere(t *testing.T, b *bench, step string) map[string]string {
	t.Helper()
	s, err := links.New([32]byte{1}, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	forged := map[string]string{"nobody signed it": base64.RawURLEncoding.EncodeToString([]byte(step))}
	for why, l := range map[string]links.Link{
		"of another user":     {User: "u_2", Category: "offers", Ref: step},
		"of another category": {User: "u_1", Category: "orders", Ref: step},
	} {
		forged[why] = s.Token(links.Undo, l)
	}
	forged["signed as a link"] = s.Token(links.Unsubscribe, links.Link{User: "u_1", Category: "offers", Ref: step})
	return forged
}

const everything = `{"d":"saved","v":2,"p":{"all":true,"categories":{"offers":true,"orders":true},"quiet_hours":null}}`

func TestALinkTakesBackOnlyWhatItDid(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Unsubscribe, `{"categories":{"orders":{"email":false}},"quiet_hours":{"start":"22:00","end":"07:00"}}`)
	b.call("PATCH", "/v1/users/u_1/preferences", `{"all":false}`).want(200, "")
	before, lines := v.wants(), len(b.consents("u_1"))
	forged := signedElsewhere(t, b, everything)
	s, _ := links.New([32]byte{1}, publicURL)
	forged["of the page of preferences"], _ = s.Undo("u_1", "", everything, time.Now())
	for why, undo := range forged {
		v.send(url.Values{"undo": {undo}})
		v.says(422, "not understood")
		if got := v.wants(); got != before || len(b.consents("u_1")) != lines {
			t.Fatalf("%s: %s became %s", why, before, got)
		}
	}
	late, _ := s.Undo("u_1", "offers", everything, time.Now().Add(-links.UndoFor))
	v.send(url.Values{"undo": {late}})
	v.says(410, "an hour")
	v.send(oneClick)
	undo := v.undo()
	b.call("PATCH", "/v1/users/u_1/preferences", `{"channels":{"sms":false}}`).want(200, "")
	after := v.wants()
	v.send(undo)
	v.says(409, "cannot be undone any more")
	if v.wants() != after {
		t.Errorf("%s became %s", after, v.wants())
	}
}

func TestThePageTellsOnlyOfWhatItDid(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"all":false}`)
	before := v.wants()
	for _, said := range []string{"yes", "none", everything} {
		v.open("?" + url.Values{"saved": {said}}.Encode())
		if v.Code != 200 || strings.Contains(v.Body.String(), `role="status"`) {
			t.Errorf("%q: %d, and the page tells of what was not done", said, v.Code)
		}
	}
	v.open("?undone=1")
	if strings.Contains(v.Body.String(), `role="status"`) {
		t.Error("the page tells of an undo that was none")
	}
	s, _ := links.New([32]byte{1}, publicURL)
	forged := signedElsewhere(t, b, everything)
	forged["of an unsubscribe"], _ = s.Undo("u_1", "offers", everything, time.Now())
	for why, undo := range forged {
		v.open("?" + url.Values{"saved": {undo}}.Encode())
		if strings.Contains(v.Body.String(), `role="status"`) {
			t.Errorf("%s: told", why)
		}
		v.send(url.Values{"undo": {undo}})
		v.says(422, "not understood")
		if v.wants() != before {
			t.Fatalf("%s: %s became %s", why, before, v.wants())
		}
	}
}

// Taking back an opt-out is no consent of somebody who had given none.
func TestUndoingGivesNoConsentThatWasNone(t *testing.T) {
	b := newBench(t)
	catalogue := func(rule string) {
		t.Helper()
		b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: `+rule+`}}\nevents: {hello: {category: offers, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`).want(200, "")
	}
	catalogue("transactional")
	v := reader(t, b, links.Unsubscribe, `{"categories":{"offers":true}}`)
	catalogue("marketing, consent: opt_in")
	v.send(oneClick)
	v.says(200, "no more")
	if strings.Contains(v.Body.String(), `name="undo"`) {
		v.send(v.undo())
	}
	if strings.Contains(v.wants(), "given") {
		t.Errorf("a consent nobody gave: %s", v.wants())
	}

	catalogue("transactional")
	v = reader(t, b, links.Unsubscribe, `{"categories":{"offers":true}}`)
	v.send(oneClick)
	undo := v.undo()
	catalogue("marketing, consent: opt_in")
	v.send(undo)
	v.says(409, "cannot be undone")
}

func TestNothingUsesUpTheOptOut(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{}`)
	for range 25 {
		v.send(url.Values{"x": {"1"}})
		v.says(422, "not understood")
	}
	for i := range 20 { // none of the 25 counts
		form := v.formAt("")
		form.Set("locale", []string{"", "en"}[(i+1)%2])
		v.send(form)
		v.says(200, "saved")
	}
	form := v.formAt("")
	form.Del("all")
	v.send(form)
	v.says(429, "in a short time")
	if v.Header().Get("Retry-After") == "" {
		t.Error("does not say when to try again")
	}
	u := reader(t, b, links.Unsubscribe, `{}`)
	for range 25 {
		u.send(oneClick)
		u.says(200, "unsubscribed")
	}
	u.send(url.Values{"undo": {"x"}})
	u.says(422, "not understood")
	if got := u.wants(); !strings.Contains(got, `"offers":false`) {
		t.Errorf("wants %s", got)
	}
}

// formAt is the form of the page that is opened with a query.
func (v *visit) formAt(query string) url.Values {
	v.t.Helper()
	v.open(query)
	return v.form()
}

func TestAFormWithLittleInItChangesNoMore(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en","timezone":"Europe/Berlin","quiet_hours":{"start":"22:00","end":"07:00"}}`)
	before, version := v.wants(), v.form().Get("version")
	v.send(url.Values{"version": {version}})
	v.says(200, "nothing to save")
	if v.wants() != before {
		t.Errorf("%s became %s", before, v.wants())
	}
	v.send(url.Values{"version": {version}, "all.shown": {"on"}})
	v.says(200, "saved")
	if got := v.wants(); !strings.HasPrefix(got, `{"all":false,"quiet_hours"`) || !strings.HasSuffix(got, "enEurope/Berlin") {
		t.Errorf("wants %s", got)
	}
}

func TestAFormThatCannotBeReadIsAnsweredByAPage(t *testing.T) {
	b := newBench(t)
	for _, v := range []*visit{reader(t, b, links.Preferences, `{}`), reader(t, b, links.Unsubscribe, `{}`)} {
		for media, body := range map[string]string{"application/x-www-form-urlencoded": "version=%zz", "multipart/form-data; boundary=b": "--b\r\nnothing"} {
			r := httptest.NewRequest("POST", v.path, strings.NewReader(body))
			r.Header.Set("Content-Type", media)
			v.reply = b.do(r)
			v.says(422, "not understood")
			if got := v.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Errorf("answered as %s", got)
			}
		}
	}
}

// Nobody consents to what they did not tick, and takes back what they never gave.
func TestThePageSavesNoMoreThanWasTicked(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {orders: {kind: transactional}, promo: {kind: marketing, consent: opt_in, title: {en: Promotions}, description: {en: Two a week}}}\nevents: {hello: {category: orders, channels: [sms, email, push]}, promo: {category: promo, channels: [sms, email, push]}}\n",`+
		`"templates/hello/sms.en.txt":"hello","templates/promo/sms.en.txt":"hello","templates/hello/email.en.yaml":"subject: hello","templates/promo/email.en.yaml":"subject: hello","templates/hello/email.en.txt":"hello","templates/promo/email.en.txt":"hello","templates/hello/push.en.yaml":"title: a\nbody: b","templates/promo/push.en.yaml":"title: a\nbody: b"}}`).want(200, "")
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	var wants []string
	for _, c := range []struct {
		why   string
		field string
		boxes []string
		wants string
		lines []string
	}{
		{"one box off", "kind.orders", []string{"push", "sms"}, `"orders":{"email":false}`, []string{"orders/email withdrawn page "}},
		{"one box of what asks first", "kind.promo", []string{"email"}, `"promo":{"email":true}`, []string{"promo/email given page "}},
		{"the last of its boxes", "kind.promo", []string{"email", "push", "sms"}, `"promo":{"email":true,"push":true,"sms":true}`, []string{"promo/sms given page ", "promo/push given page "}},
		{"none of its boxes", "kind.promo", nil, `"promo":false`, []string{"promo/email withdrawn page ", "promo/sms withdrawn page ", "promo/push withdrawn page ", "promo/ withdrawn page "}},
	} {
		form, before := v.formAt(""), len(b.consents("u_1"))
		form[c.field] = c.boxes
		v.send(form)
		v.says(200, "saved")
		lines := b.consents("u_1")
		lines = lines[:len(lines)-before]
		if got := v.wants(); !strings.Contains(got, c.wants) {
			t.Errorf("%s: wants %s, not %s", c.why, got, c.wants)
		}
		if got := strings.Join(lines, "\n"); got != strings.Join(c.lines, "\n") {
			t.Errorf("%s: the ledger got %q, want %q", c.why, lines, c.lines)
		}
		wants = append(wants, lines...)
	}
	list, err := b.store.Consents(t.Context(), "u_1", [16]byte{}, 50)
	if err != nil || len(list) != len(wants)+1 { // and the language
		t.Fatalf("%d lines, want %d: %v", len(list), len(wants)+1, err)
	}
	for _, e := range list {
		if e.Category == "promo" && (e.Wording != "Promotions\nTwo a week" || !strings.HasPrefix(e.Version, "catalogue ")) {
			t.Errorf("the line %+v does not say what was shown", e)
		}
	}
}
