package api_test

import (
	"slices"
	"strings"
	"testing"

	"tidings"
	"tidings/api/wire"
	"tidings/preferences"
)

// night is what u_1 in Berlin would get in the night, when it is quiet until 06:00 UTC.
const night = "2026-12-01T23:30:00Z"

// quiet makes u_1, who has a device and an e-mail address, likes no e-mail of orders, and sleeps at night.
func (b *bench) quiet() {
	b.t.Helper()
	b.call("PUT", "/v1/users/u_1", `{"timezone":"Europe/Berlin","email":"ann@example.test"}`).want(200, "")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"quiet_hours":{"start":"22:00","end":"07:00"},"categories":{"orders":{"email":false}}}`).want(200, "")
	b.device("u_1")
}

// ruled is what one rule of an explanation said.
func ruled(t *testing.T, e wire.Explanation, rule string) wire.Rule {
	t.Helper()
	i := slices.IndexFunc(e.Rules, func(r wire.Rule) bool { return r.Rule == rule })
	if i < 0 {
		t.Fatalf("%s: no rule %s in %+v", e.Channel, rule, e.Rules)
	}
	return e.Rules[i]
}

// assertNight fails unless the explanations are those of u_1 in the night.
func assertNight(t *testing.T, all []wire.Explanation, decisions []wire.Decision) {
	t.Helper()
	if len(all) != 2 || all[0].Decision != decisions[0] || all[1].Decision != decisions[1] {
		t.Fatalf("%+v explains %+v", all, decisions)
	}
	const until = "2026-12-02T06:00:00Z"
	hold := ruled(t, all[0], "quiet_hours")
	if all[0].Channel != tidings.Push || hold.Verdict != preferences.VerdictHold || hold.Reason != tidings.ReasonQuietHours ||
		hold.Until.Format("2006-01-02T15:04:05Z07:00") != until || hold.Input != "22:00 to 07:00 in Europe/Berlin, where it is 00:30 on 2026-12-02" {
		t.Errorf("push is quiet: %+v", hold)
	}
	if r := all[0].Rules[len(all[0].Rules)-1]; r.Rule != "expiry" || !strings.HasPrefix(r.Input, "at "+until) {
		t.Errorf("the last rule of what is held is %+v", r)
	}
	no := ruled(t, all[1], "category")
	if no.Verdict != preferences.VerdictSuppress || no.Reason != tidings.ReasonOptedOutCategory || no.Input != "email is off for orders" {
		t.Errorf("e-mail of the category: %+v", no)
	}
	if late := ruled(t, all[1], "quiet_hours"); late.Verdict != preferences.VerdictNotAsked {
		t.Errorf("quiet hours of what is not sent: %+v", late)
	}
}

func TestADryRunIsExplained(t *testing.T) {
	b := newBench(t)
	b.quiet()
	event := `{"type":"order.shipped","user":"u_1","data":{"order":"4711","carrier":"UPS"},"dry_run":true,"at":"` + night + `"}`
	var posted wire.Posted
	r := b.call("POST", "/v1/events", event).want(200, "")
	r.into(&posted)
	assertNight(t, posted.Explanation, posted.Decisions)
	if !posted.ID.IsZero() || posted.Rendered[tidings.Push].Body == "" {
		t.Errorf("posted %+v", posted)
	}
	if text := r.Body.String(); strings.Contains(text, "ann@") || strings.Contains(text, "ababab") {
		t.Errorf("an address is shown: %s", text)
	}
	var batch wire.BatchResults
	b.call("POST", "/v1/events/batch", `{"events":[`+event+`]}`).want(200, "").into(&batch)
	assertNight(t, batch.Results[0].Explanation, batch.Results[0].Decisions)
	if text := b.call("POST", "/v1/events", shipped("u_1")).want(202, "").Body.String(); strings.Contains(text, "explanation") {
		t.Errorf("what is accepted is explained too: %s", text)
	}
}

func TestWhatAUserWouldGetIsExplained(t *testing.T) {
	b := newBench(t)
	b.quiet()
	var out wire.Explained
	b.call("GET", "/v1/users/u_1/explain?event=order.shipped&at="+night, "", as(readKey)...).want(200, "").into(&out)
	decisions := make([]wire.Decision, len(out.Channels))
	for i, e := range out.Channels {
		decisions[i] = e.Decision
	}
	assertNight(t, out.Channels, decisions)
	if out.UserID != "u_1" || out.Type != "order.shipped" || out.Category != "orders" || out.Timezone != "Europe/Berlin" || out.ZoneFrom != preferences.ZoneOfUser || out.ExpiresAt.Sub(out.At.Time) != 24*60*60*1e9 {
		t.Errorf("explained %+v", out)
	}
	b.call("GET", "/v1/users/u_1/explain?event=order.shipped&channel=push", "").want(200, "").into(&out)
	if len(out.Channels) != 1 || out.Channels[0].Channel != tidings.Push || out.At.IsZero() {
		t.Errorf("of push alone: %+v", out)
	}
	for _, c := range []struct {
		path   string
		status int
		code   string
	}{
		{"nobody/explain?event=order.shipped", 404, "not_found"},
		{"a%20b/explain?event=order.shipped", 404, "not_found"},
		{"u_1/explain?event=no.such", 422, "unknown_event_type"},
		{"u_1/explain?event=", 422, "invalid_input"},
		{"u_1/explain", 422, "invalid_input"},
		{"u_1/explain?event=order.shipped&channel=sms", 422, "invalid_input"},
		{"u_1/explain?event=order.shipped&channel=fax", 422, "invalid_input"},
		{"u_1/explain?event=order.shipped&at=tomorrow", 422, "invalid_input"},
		{"u_1/explain?event=order.shipped&at=9999-12-31T23:59:59Z", 422, "invalid_input"},
		{"u_1/explain?event=order.shipped&at=2999-12-31T23:59:59Z", 200, ""},
		{"u_1/explain?event=order.shipped&data=1", 422, "invalid_input"},
	} {
		b.call("GET", "/v1/users/"+c.path, "").want(c.status, c.code)
	}
	b.call("GET", "/v1/users/u_1/explain?event=order.shipped", "", as(usersKey)...).want(403, "forbidden")
}

func TestWhatLimitsHaveCountedIsExplained(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"email":"ann@example.test"}`).want(200, "")
	offer := `{"type":"offer.weekly","user":"u_1","data":{"headline":"Less"}}`
	for range 3 {
		b.call("POST", "/v1/events", offer).want(202, "")
	}
	var out wire.Explained
	b.call("GET", "/v1/users/u_1/explain?event=offer.weekly&channel=email", "").want(200, "").into(&out)
	r := ruled(t, out.Channels[0], "limits")
	if r.Verdict != preferences.VerdictSuppress || r.Reason != tidings.ReasonRateLimitedCategory || !strings.HasPrefix(r.Input, "3 of 3 told in 24h of the category offers") {
		t.Errorf("limits: %+v", r)
	}
	b.call("GET", "/v1/users/u_1/explain?event=offer.weekly&channel=email", "", as(testKey)...).want(200, "").into(&out)
	if r := ruled(t, out.Channels[0], "limits"); r.Verdict != preferences.VerdictPasses {
		t.Errorf("limits of a test key: %+v", r)
	}
}

func TestADryRunIsForAnInstantThatCanBeWritten(t *testing.T) {
	b := newBench(t)
	b.quiet()
	for at, status := range map[string]int{
		"2999-12-31T23:30:00Z": 200, "3000-01-01T00:00:00Z": 422, "9999-12-31T23:59:59Z": 422, "9999-12-31T23:59:59-01:00": 422, "1970-01-01T00:00:00+01:00": 422,
	} {
		event := `{"type":"order.shipped","user":"u_1","data":{"order":"4711","carrier":"UPS"},"dry_run":true,"at":"` + at + `"}`
		code := map[int]string{422: "invalid_input"}[status]
		if r := b.call("POST", "/v1/events", event).want(status, code); status == 422 && !slices.Equal(r.at(), []string{"/at"}) {
			t.Errorf("%s: the problem is at %q", at, r.at())
		}
	}
}

func TestADryRunShowsLinksToThisService(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"email":"ann@example.test"}`).want(200, "")
	var posted wire.Posted
	b.call("POST", "/v1/events", `{"type":"offer.weekly","user":"u_1","data":{"headline":"Less"},"dry_run":true}`).want(200, "").into(&posted)
	mail := posted.Rendered[tidings.Email]
	if text := mail.Text + mail.HTML; !strings.Contains(text, publicURL+"/u/AAAA") {
		t.Errorf("the mail leads elsewhere: %s", text)
	}
}
