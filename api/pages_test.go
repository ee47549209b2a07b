package api_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/links"
	"tidings/preferences"
)

// A visit is somebody with a link, and the page before them.
type visit struct {
	b    *bench
	t    testing.TB
	path string
	reply
}

// reader is a user with a link to a page; the user's wishes are as a patch says.
func reader(t testing.TB, b *bench, purpose links.Purpose, patch string) *visit {
	t.Helper()
	b.call("PATCH", "/v1/users/u_1/preferences", patch).want(200, "")
	s, err := links.New([32]byte{1}, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{b: b, t: t}
	switch purpose {
	case links.Unsubscribe:
		v.path = strings.TrimPrefix(s.Unsubscribe("u_1", "offers", tidings.DeliveryID{}), publicURL)
	default:
		link, _ := s.Preferences("u_1", time.Now())
		v.path = strings.TrimPrefix(link, publicURL)
	}
	v.open("")
	return v
}

func (v *visit) open(query string) {
	v.t.Helper()
	v.reply = v.b.do(httptest.NewRequest("GET", v.path+query, nil))
}

// send posts a form; who is led elsewhere goes there.
func (v *visit) send(form url.Values) {
	v.t.Helper()
	r := httptest.NewRequest("POST", v.path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v.reply = v.b.do(r)
	if v.Code == http.StatusSeeOther {
		at, query, _ := strings.Cut(v.Header().Get("Location"), "?")
		if !strings.HasSuffix(v.path, "/"+at) {
			v.t.Fatalf("led to %q", v.Header().Get("Location"))
		}
		v.open("?" + query)
	}
}

var (
	input    = regexp.MustCompile(`<input type="(\w+)" name="([^"]+)" value="([^"]*)"( checked)?`)
	selected = regexp.MustCompile(`(?s)<select name="(\w+)".*?<option value="([^"]*)" selected`)
	undo     = regexp.MustCompile(`name="undo" value="([^"]+)"`)
)

// form is what the form of the page would send as it stands.
func (v *visit) form() url.Values {
	v.t.Helper()
	form := url.Values{}
	_, page, _ := strings.Cut(v.Body.String(), `name="version"`)
	page = `<input type="hidden" name="version"` + page
	for _, m := range input.FindAllStringSubmatch(page, -1) {
		if m[1] != "checkbox" || m[4] != "" {
			form.Add(m[2], html.UnescapeString(m[3]))
		}
	}
	for _, m := range selected.FindAllStringSubmatch(page, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	return form
}

func (v *visit) undo() url.Values {
	v.t.Helper()
	m := undo.FindStringSubmatch(v.Body.String())
	if m == nil {
		v.t.Fatalf("nothing to undo on\n%s", v.Body)
	}
	return url.Values{"undo": {m[1]}}
}

// says fails the test unless the page was answered with a status and has a text.
func (v *visit) says(status int, text string) {
	v.t.Helper()
	if v.Code != status || !strings.Contains(html.UnescapeString(v.Body.String()), text) {
		v.t.Fatalf("answered %d, want %d with %q; main:\n%.1500s", v.Code, status, text, afterMain(v.Body.String()))
	}
}

// wants are the user's wishes, without their version.
func (v *visit) wants() string {
	v.t.Helper()
	p, u, err := v.b.store.Preferences(v.t.Context(), "u_1")
	if err != nil {
		v.t.Fatal(err)
	}
	p.Version = 0
	for name, c := range p.Consents {
		p.Consents[name] = preferences.Consent{State: c.State}
	}
	doc, err := json.Marshal(p)
	if err != nil {
		v.t.Fatal(err)
	}
	return strings.NewReplacer(`,"version":0`, "", `"version":0`, "", `,"at":"0001-01-01T00:00:00Z"`, "").Replace(string(doc)) + u.Locale + u.Timezone
}

var oneClick = url.Values{"List-Unsubscribe": {"One-Click"}}

func TestUnsubscribingAtOneClickStopsOneCategory(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Unsubscribe, `{"categories":{"offers":{"push":true},"orders":{"email":false}}}`)
	before := v.wants()
	for range 3 {
		v.open("")
		v.says(200, "Stop “Offers”?")
	}
	if v.wants() != before {
		t.Errorf("looking changed %s into %s", before, v.wants())
	}
	v.send(oneClick)
	v.says(200, "You will get no more “Offers”.")
	after := v.wants()
	if !strings.Contains(after, `"categories":{"offers":false,"orders":{"email":false}}`) {
		t.Errorf("after: %s", after)
	}
	undo := v.undo()
	v.send(oneClick) // as mail servers do, who do not know whether they were heard
	v.says(200, "unsubscribed already")
	if v.wants() != after {
		t.Errorf("again: %s", v.wants())
	}
	v.send(undo)
	v.says(200, "everything is as it was")
	if got := v.wants(); !strings.HasPrefix(got, `{"categories":{"offers":{"push":true},"orders":{"email":false}}`) {
		t.Errorf("undone: %s", got)
	}
	v.send(undo)
	v.says(409, "cannot be undone any more")
	v.open("")
	v.says(200, "Stop “Offers”?")
	list, err := b.store.Consents(t.Context(), "u_1", [16]byte{}, 50)
	if err != nil || len(list) < 2 || list[0].Source != preferences.SourceUnsubscribe {
		t.Errorf("the ledger says %+v, %v", list, err)
	}
}

func TestADeliveryKnowsThatItsReaderUnsubscribed(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"email":"ann@example.test"}`).want(200, "")
	var posted struct{ ID tidings.NotificationID }
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "").into(&posted)
	at := func() (times []string) {
		var trail struct {
			Deliveries []struct {
				Channel        string
				ID             tidings.DeliveryID
				UnsubscribedAt *time.Time `json:"unsubscribed_at"`
			}
		}
		b.call("GET", "/v1/notifications/"+posted.ID.String(), "").want(200, "").into(&trail)
		for _, d := range trail.Deliveries {
			if d.UnsubscribedAt != nil {
				times = append(times, d.Channel+" "+d.UnsubscribedAt.String())
			}
		}
		return times
	}
	v := reader(t, b, links.Unsubscribe, `{}`)
	s, err := links.New([32]byte{1}, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	v.path = strings.TrimPrefix(s.Unsubscribe("u_1", "orders", tidings.DeliveryOf(posted.ID, 0)), publicURL)
	v.open("")
	v.says(200, "Stop")
	if got := at(); got != nil {
		t.Errorf("to look is to unsubscribe: %v", got)
	}
	v.send(oneClick)
	v.says(200, "You will get no more")
	first := at()
	if len(first) != 1 || !strings.HasPrefix(first[0], "email ") {
		t.Fatalf("unsubscribed: %v", first)
	}
	v.send(oneClick)
	v.says(200, "unsubscribed already")
	if got := at(); !slices.Equal(got, first) {
		t.Errorf("unsubscribed again: %v, then %v", first, got)
	}
	if got := b.call("GET", "/metrics", "").want(200, "").Body.String(); !strings.Contains(got, `tidings_engagement_total{channel="email",kind="unsubscribed",provider=""} 1`) {
		t.Error("the metrics do not count it")
	}
}

func TestUnsubscribingCoversWhatTheCategorySays(t *testing.T) {
	for scope, want := range map[string]string{
		"category": `{"categories":{"offers":false}`, "channel": `{"channels":{"email":false}`, "all": `{"all":false`,
	} {
		b := newBench(t)
		catalogue := `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, opt_out: ` + scope + `}}\nevents: {hello: {category: offers, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`
		b.call("PUT", "/v1/catalog", catalogue).want(200, "")
		v := reader(t, b, links.Unsubscribe, `{}`)
		v.says(200, "offers")
		v.send(oneClick)
		if got := v.wants(); v.Code != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d, %s", scope, v.Code, got)
		}
		v.send(v.undo())
		if got := v.wants(); v.Code != 200 || strings.Contains(got, "false") {
			t.Errorf("%s, undone: %d, %s", scope, v.Code, got)
		}
	}
}

// Links never expire: the category may be gone by then, or critical.
func TestAnOldLinkOutlivesItsCatalogue(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Unsubscribe, `{}`)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {news: {kind: marketing}}\nevents: {hello: {category: news, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`).want(200, "")
	v.send(oneClick)
	v.says(200, "no more “offers”")
	if got := v.wants(); !strings.HasPrefix(got, `{"categories":{"offers":false}`) {
		t.Errorf("wants %s", got)
	}
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: critical}}\nevents: {hello: {category: offers, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`).want(200, "")
	v.open("")
	v.says(409, "cannot be switched off")
	v.send(oneClick)
	v.says(409, "cannot be switched off")
}

func TestOnlyTheFormOfOneClickUnsubscribes(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Unsubscribe, `{}`)
	before := v.wants()
	for _, form := range []url.Values{{}, {"List-Unsubscribe": {"Two-Clicks"}}, {"unsubscribe": {"1"}}, {"undo": {""}}, {"undo": {"e30"}}, {"undo": {"eyJ2IjoxLCJwIjoie30ifQ"}}} {
		if v.send(form); v.Code != 422 || v.wants() != before {
			t.Errorf("%v: %d, %s", form, v.Code, v.wants())
		}
	}
	parts := "--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--b--\r\n"
	r := httptest.NewRequest("POST", v.path, strings.NewReader(parts))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b") // as RFC 8058 prefers
	if got := b.do(r); got.Code != 200 || !strings.Contains(v.wants(), `"offers":false`) {
		t.Errorf("in parts: %d, %s", got.Code, v.wants())
	}
}

func TestALinkThatIsNotOursOpensNothing(t *testing.T) {
	b := newBench(t)
	u := reader(t, b, links.Unsubscribe, `{"locale":"en"}`).path
	p := reader(t, b, links.Preferences, `{}`).path
	for _, path := range []string{
		"/u/x", "/preferences/x", "/confirm/x", u + "A", u[:len(u)-1], strings.Replace(u, "/u/", "/preferences/", 1), strings.Replace(p, "/preferences/", "/u/", 1),
		strings.Replace(p, "/preferences/", "/confirm/", 1),
	} {
		for _, method := range []string{"GET", "HEAD", "POST"} {
			r := httptest.NewRequest(method, path, strings.NewReader(oneClick.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept-Language", "fr-CH, de;q=0.9")
			if got := b.do(r); got.Code != 404 || !strings.Contains(got.Body.String(), "funktioniert nicht") {
				t.Errorf("%s %s: %d\n%s", method, path, got.Code, got.Body)
			}
		}
	}
	b.call("DELETE", "/v1/users/u_1", "").want(204, "")
	for _, path := range []string{u, p} { // of somebody who was erased: nothing is made again
		if got := b.do(httptest.NewRequest("GET", path, nil)); got.Code != 404 {
			t.Errorf("of nobody: %d", got.Code)
		}
		r := httptest.NewRequest("POST", path, strings.NewReader(oneClick.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := b.do(r); got.Code != 404 {
			t.Errorf("of nobody: %d", got.Code)
		}
	}
	b.call("GET", "/v1/users/u_1", "").want(404, "not_found")
}

func TestThePageOfPreferencesSavesWhatWasChanged(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"channels":{"sms":false},"categories":{"orders":{"email":false}},"threads":{"social":{"4711":false}},"locale":"en"}`)
	v.says(200, "What we send you")
	form, before := v.form(), v.wants()
	v.send(form)
	v.says(200, "nothing to save")
	if v.wants() != before {
		t.Errorf("a form as it was changed %s into %s", before, v.wants())
	}
	form.Del("kind.offers")
	form["kind.orders"] = []string{"email"}
	form["way"] = []string{"sms", "push", "email", "inbox", "webhook"}
	form.Set("quiet", "on")
	form.Set("start", "21:30")
	form.Set("zone", "Europe/Berlin")
	form.Set("locale", "de")
	v.send(form)
	v.says(200, "Ihre Auswahl ist gespeichert")
	want := `{"channels":{"sms":true},"categories":{"offers":false,"orders":{"email":true,"push":false}},"threads":{"social":{"4711":false}},` +
		`"quiet_hours":{"start":"21:30","end":"07:00"},"consents":{"offers":{"state":"withdrawn"}}}deEurope/Berlin`
	if got := v.wants(); got != want {
		t.Errorf("saved\n%s, want\n%s", got, want)
	}
	undo := v.undo()
	v.send(undo)
	v.says(200, "everything is as it was")
	if got := strings.Replace(v.wants(), `,"consents":{}`, "", 1); got != before {
		t.Errorf("undone\n%s, want\n%s", got, before)
	}
	v.send(undo)
	v.says(409, "cannot be undone any more")
	form = v.form()
	form.Del("all")
	v.send(form)
	if got := v.wants(); !strings.HasPrefix(got, `{"all":false,`) {
		t.Errorf("all off: %s", got)
	}
}

func TestTwoWindowsLoseNothing(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	first, second := v.form(), v.form()
	first.Del("kind.offers")
	v.send(first)
	v.says(200, "saved")
	second.Del("kind.orders")
	v.send(second)
	v.says(409, "changed in another window")
	if strings.Contains(v.wants(), "orders") {
		t.Errorf("saved all the same: %s", v.wants())
	}
	if again := v.form(); again.Has("kind.orders") || again.Has("kind.offers") {
		t.Errorf("the page shows neither what was chosen nor what holds: %v", again)
	}
	v.send(v.form())
	v.says(200, "saved")
	if got := v.wants(); !strings.Contains(got, `"offers":false,"orders":false`) {
		t.Errorf("wants %s", got)
	}
}

func TestWhatThePageDidNotShowStaysAsItIs(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	form := v.form()
	for name := range form {
		if strings.HasPrefix(name, "kind.") || strings.HasPrefix(name, "way") {
			form.Del(name)
		}
	}
	before := v.wants()
	v.send(form)
	v.says(200, "nothing to save")
	form.Set("kind.security.shown", "push email sms") // critical, so never on the page
	form.Set("kind.nothing.shown", "push")
	form.Set("way.shown", "fax")
	form.Set("kind.offers.shown", "fax")
	v.send(form)
	if v.wants() != before {
		t.Errorf("%s became %s", before, v.wants())
	}
}

func TestAFormThatCannotBeMeantIsShownAgain(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	before := v.wants()
	for _, c := range []struct{ why, field, value, says string }{
		{"the same time twice", "start", "07:00", "two different times"},
		{"no time", "end", "", "two different times"},
		{"nonsense for a time", "end", "25:00", "two different times"},
		{"a zone that is none", "zone", "Mars/Olympus", "one of the list"},
		{"a zone as Go knows it", "zone", "Local", "one of the list"},
		{"a language that is none", "locale", "<script>", "one of the list"},
		{"no version", "version", "x", "not understood"},
	} {
		form := v.form()
		form.Set("quiet", "on")
		form.Set(c.field, c.value)
		w := *v
		w.send(form)
		w.says(422, c.says)
		if strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: what was sent is not escaped", c.why)
		}
		if w.wants() != before {
			t.Errorf("%s: saved %s", c.why, w.wants())
		}
	}
}

func TestPagesAreForTheirReaderAlone(t *testing.T) {
	b := newBench(t)
	for _, v := range []*visit{reader(t, b, links.Unsubscribe, `{}`), reader(t, b, links.Preferences, `{}`)} {
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "X-Content-Type-Options": "nosniff", "Set-Cookie": "",
			"Content-Type": "text/html; charset=utf-8",
		} {
			if got := v.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		policy := v.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
				t.Errorf("the policy is %q", policy)
			}
		}
		if strings.Contains(v.b.log.String(), strings.TrimPrefix(strings.TrimPrefix(v.path, "/u/"), "/preferences/")) {
			t.Error("a link stands in the log")
		}
	}
}

func TestALargeFormIsRefused(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Unsubscribe, `{}`)
	large := httptest.NewRequest("POST", v.path, strings.NewReader(strings.Repeat("x", 65<<10)))
	large.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := b.do(large); got.Code != 413 {
		t.Errorf("a large form: %d", got.Code)
	}
}

func TestTheLinkToPreferences(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{}`)
	b.call("GET", "/v1/users/u_1/preferences/link", "", as(readKey)...).want(403, "forbidden")
	b.call("GET", "/v1/users/nobody/preferences/link", "").want(404, "not_found")
	var link struct {
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	b.call("GET", "/v1/users/u_1/preferences/link", "", as(usersKey)...).want(200, "").into(&link)
	if left := time.Until(link.ExpiresAt); left < links.PreferencesFor-time.Minute || left > links.PreferencesFor {
		t.Errorf("good for %v", left)
	}
	v.path = strings.TrimPrefix(link.URL, publicURL)
	v.open("")
	v.says(200, "What we send you")
	s, err := links.New([32]byte{1}, publicURL)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := s.Preferences("u_1", time.Now().Add(-links.PreferencesFor))
	v.path = strings.TrimPrefix(old, publicURL)
	v.open("")
	v.says(410, "expired")
}

func TestAConsentIsConfirmedByItsLinkOnce(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {offers: {kind: marketing, consent: double_opt_in, title: {en: Offers}}}\nevents: {hello: {category: offers, channels: [sms]}}\n","templates/hello/sms.en.txt":"hello"}}`).want(200, "")
	v := reader(t, b, links.Preferences, `{"locale":"en"}`)
	v.says(200, "you are then sent a link")
	var asked struct {
		URL string `json:"confirm_url"`
	}
	b.call("POST", "/v1/users/u_1/consents", `{"category":"offers","action":"give","wording":"Send me offers","version":"1"}`).want(201, "").into(&asked)
	settings := v.path
	v.open("")
	v.says(200, "Waits for your confirmation")
	v.path = strings.TrimPrefix(asked.URL, publicURL)
	v.open("")
	v.says(200, "You asked for “Offers”")
	v.send(url.Values{})
	v.says(422, "not understood")
	if strings.Contains(v.wants(), "given") {
		t.Fatalf("looking confirmed it: %s", v.wants())
	}
	for range 2 {
		v.send(url.Values{"confirm": {"yes"}})
		v.says(200, "From now on you get “Offers”")
	}
	if !strings.Contains(v.wants(), `"state":"given"`) {
		t.Errorf("wants %s", v.wants())
	}
	confirm := v.path
	v.path = settings
	v.open("")
	form := v.form()
	form.Del("kind.offers")
	v.send(form)
	v.says(200, "saved")
	v.path = confirm
	v.send(url.Values{"confirm": {"yes"}})
	v.says(409, "taken back")
}

// afterMain is a page without its head.
func afterMain(page string) string {
	_, after, _ := strings.Cut(page, "<main>")
	return after
}

// What was muted stands on the page, and can be heard of again; that can be undone.
func TestMutedThreadsStandOnThePageAndAreUnmutedThere(t *testing.T) {
	b := newBench(t)
	v := reader(t, b, links.Preferences, `{"threads":{"social":{"Bread & butter/1":false,"Cake":false}}}`)
	muted := func() string {
		var p struct {
			Threads map[string]map[string]bool `json:"threads"`
		}
		b.call("GET", "/v1/users/u_1/preferences", "").want(200, "").into(&p)
		text, _ := json.Marshal(p.Threads)
		return string(text)
	}
	const both = `{"social":{"Bread \u0026 butter/1":false,"Cake":false}}`
	if !strings.Contains(v.Body.String(), "Comments: Bread &amp; butter/1") {
		t.Fatalf("it is not on the page: %s", v.Body)
	}
	v.send(v.form())
	if got := muted(); got != both {
		t.Errorf("saved unchanged, %s is muted", got)
	}
	form := v.form()
	form.Add("hear", "social/Bread & butter/1")
	form.Add("hear", "social/never muted")
	v.send(form)
	if got := muted(); got != `{"social":{"Cake":false}}` {
		t.Errorf("%s is muted", got)
	}
	taken := undo.FindStringSubmatch(v.Body.String())
	if taken == nil {
		t.Fatalf("it cannot be undone: %s", v.Body)
	}
	v.send(url.Values{"undo": {html.UnescapeString(taken[1])}})
	if got := muted(); got != both {
		t.Errorf("undone, %s is muted", got)
	}
}
