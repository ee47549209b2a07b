package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tidings"
	"tidings/api/wire"
)

func TestPutReplacesAUserAndRetiresWhatGoesAway(t *testing.T) {
	b := newBench(t)
	var u wire.User
	b.call("PUT", "/v1/users/u_1", `{"locale":"de","timezone":"Europe/Berlin","email":"ann@example.test","phone":"+15550100","attributes":{"n":9007199254740993}}`).want(200, "").into(&u)
	if u.ID != "u_1" || *u.Locale != "de" || *u.Phone != "+15550100" || string(u.Attributes) != `{"n":9007199254740993}` || u.CreatedAt.IsZero() {
		t.Errorf("the user is %+v", u)
	}
	if got := b.addresses("u_1"); fmt.Sprint(got) != "[email:active sms:active]" {
		t.Errorf("addresses are %v", got)
	}
	u = wire.User{}
	b.call("PUT", "/v1/users/u_1", `{"phone":"+15550100"}`).want(200, "").into(&u)
	if u.Email != nil || u.Locale != nil || u.Phone == nil {
		t.Errorf("the user is %+v", u)
	}
	if got := b.addresses("u_1"); fmt.Sprint(got) != "[email:retired sms:active]" {
		t.Errorf("addresses are %v", got)
	}
	b.call("PUT", "/v1/users/a%2Fb", `{}`).want(422, "invalid_input")
	b.call("GET", "/v1/users/a%2Fb", "").want(404, "not_found")
	b.call("GET", "/v1/users/nobody", "").want(404, "not_found")
}

func (b *bench) addresses(user string) (all []string) {
	b.t.Helper()
	var list wire.Addresses
	b.call("GET", "/v1/users/"+user+"/addresses", "").want(200, "").into(&list)
	for _, a := range list.Data {
		all = append(all, string(a.Channel)+":"+string(a.Status))
	}
	slices.Sort(all)
	return all
}

func TestAddressesAreRegisteredRefreshedMovedAndRetired(t *testing.T) {
	b := newBench(t)
	token := strings.Repeat("AB", 32)
	body := `{"channel":"push","provider":"apns","token":"` + token + `"}`
	var first, again, moved wire.Address
	b.call("POST", "/v1/users/u_1/addresses", body).want(201, "").into(&first)
	if first.Value != "abab…ab" || first.Status != tidings.AddressActive || first.Provider != "apns" || first.RegisteredAt.IsZero() {
		t.Errorf("registered %+v", first)
	}
	b.call("POST", "/v1/users/u_1/addresses", strings.ToLower(body)).want(200, "").into(&again)
	if again.ID != first.ID {
		t.Error("the same token in another case is another address")
	}
	b.call("POST", "/v1/users/u_2/addresses", body).into(&moved)
	if moved.Status != tidings.AddressActive {
		t.Errorf("moved %+v", moved)
	}
	var left wire.Addresses
	b.call("GET", "/v1/users/u_1/addresses", "").want(200, "").into(&left)
	for _, a := range left.Data {
		if a.Status == tidings.AddressActive || a.Reason != tidings.ReasonAddressMoved {
			t.Errorf("the first user still has %+v", a)
		}
	}
	b.call("DELETE", "/v1/users/u_1/addresses/"+moved.ID.String(), "").want(404, "not_found")
	b.call("DELETE", "/v1/users/u_2/addresses/"+moved.ID.String(), "").want(204, "")
	b.call("DELETE", "/v1/users/u_2/addresses/adr_x", "").want(404, "not_found")
	if got := b.addresses("u_2"); fmt.Sprint(got) != "[push:retired]" {
		t.Errorf("addresses are %v", got)
	}
	b.call("GET", "/v1/users/nobody/addresses", "").want(404, "not_found")
}

func TestAddressesAreListedPageByPageNewestFirst(t *testing.T) {
	b := newBench(t)
	const many = 5
	var posted []string
	for i := range many {
		var a wire.Address
		b.call("POST", "/v1/users/u_1/addresses", fmt.Sprintf(`{"channel":"push","provider":"apns","token":"%064x"}`, i)).want(201, "").into(&a)
		posted = append(posted, a.ID.String())
	}
	b.call("POST", "/v1/users/u_2/addresses", `{"channel":"push","provider":"apns","token":"`+strings.Repeat("ab", 32)+`"}`).want(201, "")
	slices.Sort(posted) // ids sort by time
	slices.Reverse(posted)
	for limit := 1; limit <= many+1; limit++ {
		var listed []string
		for path, pages := fmt.Sprintf("/v1/users/u_1/addresses?limit=%d", limit), 0; path != ""; pages++ {
			var page wire.Addresses
			b.call("GET", path, "").want(200, "").into(&page)
			if len(page.Data) > limit || len(page.Data) == 0 || pages > many {
				t.Fatalf("limit %d: a page of %d", limit, len(page.Data))
			}
			for _, a := range page.Data {
				listed = append(listed, a.ID.String())
			}
			path = ""
			if page.NextCursor != nil {
				path = fmt.Sprintf("/v1/users/u_1/addresses?limit=%d&cursor=%s", limit, *page.NextCursor)
			}
		}
		if !slices.Equal(listed, posted) {
			t.Errorf("limit %d: %v, want %v", limit, listed, posted)
		}
	}
	for _, path := range []string{"/v1/users/u_1/addresses", "/v1/lanes"} {
		if next, is := b.call("GET", path, "").want(200, "").json()["next_cursor"]; !is || next != nil {
			t.Errorf("the last page of %s has the next_cursor %v", path, next)
		}
	}
	for query, at := range map[string]string{"limit=0": "/limit", "limit=201": "/limit", "cursor=ntf_x": "/cursor", "cursor=": "/cursor", "status=active": "/status"} {
		if got := b.call("GET", "/v1/users/u_1/addresses?"+query, "").want(422, "invalid_input").at(); !slices.Equal(got, []string{at}) {
			t.Errorf("%s: %v, want %s", query, got, at)
		}
	}
}

func TestTokensFitTheirProvider(t *testing.T) {
	b := newBench(t)
	push := func(provider, token string) string {
		return fmt.Sprintf(`{"channel":"push","provider":%q,"token":%q}`, provider, token)
	}
	for _, c := range []struct{ why, body, code, pointer string }{
		{"64 digits for APNs", push("apns", strings.Repeat("0", 64)), "", ""},
		{"200 digits for APNs", push("apns", strings.Repeat("0", 200)), "", ""},
		{"62 digits for APNs", push("apns", strings.Repeat("0", 62)), "invalid_input", "/token"},
		{"202 digits for APNs", push("apns", strings.Repeat("0", 202)), "invalid_input", "/token"},
		{"no digits for APNs", push("apns", strings.Repeat("g", 64)), "invalid_input", "/token"},
		{"anything printable for FCM", push("fcm", "a:b-c_d"), "", ""},
		{"4096 characters for FCM", push("fcm", strings.Repeat("x", 4096)), "", ""},
		{"4097 characters for FCM", push("fcm", strings.Repeat("x", 4097)), "invalid_input", "/token"},
		{"nothing for FCM", push("fcm", ""), "invalid_input", "/token"},
		{"a space for FCM", push("fcm", "a b"), "invalid_input", "/token"},
		{"a letter beyond ASCII for FCM", push("fcm", "é"), "invalid_input", "/token"},
		{"an unknown provider", push("webpush", "x"), "invalid_input", "/provider"},
		{"a provider of another channel", push("smtp", "x"), "invalid_input", "/provider"},
		{"an e-mail address", `{"channel":"email","email":"ann@example.test"}`, "", ""},
		{"a phone number", `{"channel":"sms","phone":"+15550100"}`, "", ""},
		{"a webhook", `{"channel":"webhook","url":"https://example.test/"}`, "not_supported", "/channel"},
		{"a browser", `{"channel":"push","provider":"webpush","endpoint":"https://example.test/","keys":{"p256dh":"x","auth":"y"}}`, "not_supported", "/endpoint"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call("POST", "/v1/users/u_1/addresses", c.body)
			if r.code() != c.code || c.code != "" && r.at()[0] != c.pointer {
				t.Errorf("answered %d %s, want %q at %q", r.Code, r.Body, c.code, c.pointer)
			}
		})
	}
}

func TestAPatchOfPreferencesKeepsWhatItDoesNotName(t *testing.T) {
	b := newBench(t)
	patch := func(body string, headers ...string) reply {
		return b.call("PATCH", "/v1/users/u_1/preferences", body, headers...)
	}
	b.call("GET", "/v1/users/u_1/preferences", "").want(404, "not_found")
	first := patch(`{"categories":{"orders":{"email":false}},"locale":"de"}`).want(200, "")
	if first.Header().Get("ETag") != fmt.Sprintf(`"%v"`, first.json()["version"]) {
		t.Errorf("ETag is %s for %s", first.Header().Get("ETag"), first.Body)
	}
	patch(`{"channels":{"sms":false},"categories":{"offers":false},"timezone":"Europe/Berlin"}`, "Content-Type", "application/merge-patch+json").want(200, "")
	var got wire.Preferences
	b.call("GET", "/v1/users/u_1/preferences", "").want(200, "").into(&got)
	if !got.All || got.Channels[tidings.SMS] || fmt.Sprint(got.Categories) != "map[offers:false orders:map[email:false]]" || got.Locale != "de" || got.Timezone != "Europe/Berlin" {
		t.Errorf("preferences are %+v", got)
	}
	patch(`{"locale":null,"all":false}`).want(200, "").into(&got)
	if got.All {
		t.Errorf("preferences are %+v", got)
	}
	if r := patch(`{"locale":null}`).want(200, ""); r.json()["locale"] != nil {
		t.Errorf("the locale is not forgotten: %s", r.Body)
	}
}

func TestOnlyTheVersionThatTheCallerSawIsChanged(t *testing.T) {
	b := newBench(t)
	patch := func(body string, headers ...string) reply {
		return b.call("PATCH", "/v1/users/u_1/preferences", body, headers...)
	}
	version := int(patch(`{"all":false}`).want(200, "").json()["version"].(float64))
	for _, c := range []struct {
		why, body, match string
		status           int
	}{
		{"an older version", fmt.Sprintf(`{"version":%d}`, version-1), "", 409},
		{"a newer version", fmt.Sprintf(`{"version":%d}`, version+1), "", 409},
		{"an older tag", `{}`, fmt.Sprintf(`"%d"`, version-1), 409},
		{"a tag that is no version", `{}`, `"x"`, 409},
		{"body and tag that differ", fmt.Sprintf(`{"version":%d}`, version), fmt.Sprintf(`"%d"`, version+1), 409},
		{"a negative version", `{"version":-1}`, "", 422},
		{"the current version", fmt.Sprintf(`{"version":%d}`, version), "", 200},
		{"the current tag", `{}`, fmt.Sprintf(`"%d"`, version), 200},
		{"any tag", `{}`, `*`, 200},
		{"a list with the current tag", `{}`, fmt.Sprintf(`"7", W/"2","%d"`, version), 200},
		{"a list without it", `{}`, fmt.Sprintf(`"%d", "x"`, version+3), 409},
		{"a weak tag", `{}`, fmt.Sprintf(`W/"%d"`, version), 409},
		{"a list with the version of the body", fmt.Sprintf(`{"version":%d}`, version), fmt.Sprintf(`"7", "%d"`, version), 200},
		{"an empty list of tags", `{}`, " ", 409},
		{"none: the last write wins", `{}`, "", 200},
	} {
		t.Run(c.why, func(t *testing.T) {
			var headers []string
			if c.match != "" {
				headers = []string{"If-Match", c.match}
			}
			if r := patch(c.body, headers...); r.Code != c.status {
				t.Errorf("answered %d %s, want %d", r.Code, r.Body, c.status)
			}
		})
	}
}

func TestPreferencesThatCannotBeTakenSayWhere(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ why, body, code, pointer string }{
		{"a critical category", `{"categories":{"security":false}}`, "category_critical", "/categories/security"},
		{"an unknown category", `{"categories":{"no/such":false}}`, "invalid_input", "/categories/no~1such"},
		{"an unknown channel", `{"channels":{"fax":false}}`, "invalid_input", "/channels/fax"},
		{"a choice that is none", `{"all":"no"}`, "invalid_input", "/all"},
		{"quiet hours of a whole day", `{"quiet_hours":{"start":"22:00","end":"22:00"}}`, "invalid_input", "/quiet_hours"},
		{"an unknown field", `{"al":true}`, "invalid_input", "/al"},
		{"an unknown field of quiet hours", `{"quiet_hours":{"start":"22:00","end":"07:00","tz":"x"}}`, "invalid_input", "/quiet_hours/tz"},
		{"a thread of a category without threads", `{"threads":{"orders":{"a/b":false}}}`, "invalid_input", "/threads/orders/a~1b"},
		{"half of quiet hours", `{"quiet_hours":{"start":"22:00"}}`, "invalid_input", "/quiet_hours/end"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call("PATCH", "/v1/users/u_1/preferences", c.body)
			r.t = t
			if at := r.want(422, c.code).at(); len(at) != 1 || at[0] != c.pointer {
				t.Errorf("the problem is at %q, want %q", at, c.pointer)
			}
		})
	}
	b.call("GET", "/v1/users/u_1/preferences", "").want(404, "not_found") // nothing was stored
}

func TestAUserCanBeExportedAndErased(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"email":"ann@example.test"}`).want(200, "")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
	b.call("POST", "/v1/events", `{"type":"login.code","user":{"id":"u_1","phone":"+15550100"},"data":{"code":"482913"}}`).want(202, "")
	var out wire.Export
	r := b.call("GET", "/v1/users/u_1/export", "").want(200, "")
	r.into(&out)
	if out.User.ID != "u_1" || len(out.Addresses) != 2 || !strings.Contains(r.Body.String(), "ann@example.test") || len(out.Notifications) != 2 {
		t.Errorf("exported %s", r.Body)
	}
	if len(out.Holds) != 0 || len(out.Digests) != 0 || !strings.Contains(r.Body.String(), `"holds":[],"digests":[],"counters":[]`) {
		t.Errorf("exported %s", r.Body)
	}
	for _, n := range out.Notifications {
		if n.Status != tidings.NotificationAccepted {
			t.Errorf("%s stands as %q", n.Type, n.Status)
		}
	}
	if strings.Contains(r.Body.String(), "482913") {
		t.Errorf("a code is shown: %s", r.Body)
	}
	b.call("DELETE", "/v1/users/u_1", "").want(204, "")
	b.call("GET", "/v1/users/u_1", "").want(404, "not_found")
	b.call("GET", "/v1/users/u_1/export", "").want(404, "not_found")
}

// What waits for a user, and what is counted of them, is held about them too.
func TestAnExportHasWhatIsHeldGatheredAndCounted(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"email":"ann@example.test"}`).want(200, "")
	b.device("u_1")
	post := func(event string) string {
		var a struct{ ID string }
		b.call("POST", "/v1/events", event).want(202, "").into(&a)
		return a.ID
	}
	digested := post(`{"type":"comment.created","user":"u_1","channels":["push"],"data":{"post":"Bread","author":"Ben","text":"Well done"}}`)
	post(`{"type":"offer.weekly","user":"u_1","channels":["email"],"data":{"headline":"Less"}}`)
	var out wire.Export
	r := b.call("GET", "/v1/users/u_1/export", "").want(200, "")
	r.into(&out)
	if len(out.Holds) != 1 || out.Holds[0].NotificationID.String() != digested || out.Holds[0].Reason != tidings.ReasonDigested || out.Holds[0].State != tidings.HoldWaiting {
		t.Errorf("holds %+v", out.Holds)
	}
	if len(out.Digests) != 1 || out.Digests[0].Key != "Bread" || out.Digests[0].State != "open" || fmt.Sprint(out.Digests[0].Items) != "["+digested+"]" {
		t.Errorf("digests %+v", out.Digests)
	}
	if len(out.Counters) != 1 || len(out.Counters[0].Times) != 1 || out.Counters[0].Scope != "category:offers" {
		t.Errorf("counters %s", r.Body)
	}
}
