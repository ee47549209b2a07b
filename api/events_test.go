package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
)

// device registers a device of a user, so that there is something to send to.
func (b *bench) device(user string) {
	b.t.Helper()
	b.call("POST", "/v1/users/"+user+"/addresses", `{"channel":"push","provider":"apns","token":"`+strings.Repeat("ab", 32)+`"}`).want(201, "")
}

func TestAnAcceptedEventHasATrail(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	r := b.call("POST", "/v1/events", shipped("u_1"), "X-Request-Id", "my-id").want(202, "")
	var posted wire.Posted
	r.into(&posted)
	if posted.Status != tidings.NotificationAccepted || posted.Duplicate || posted.ID.IsZero() || posted.URL != "/v1/notifications/"+posted.ID.String() {
		t.Errorf("posted %+v", posted)
	}
	if r.Header().Get("Location") != posted.URL || r.Header().Get("X-Request-Id") != "my-id" {
		t.Errorf("headers are %v", r.Header())
	}
	if d := posted.Decisions; len(d) != 2 || d[0].Action != tidings.ActionSend || d[0].Addresses != 1 || d[1].Reason != tidings.ReasonNoAddress {
		t.Errorf("decided %+v", d)
	}
	var trail wire.Trail
	b.call("GET", posted.URL, "").want(200, "").into(&trail)
	if trail.App != "shop" || trail.Status != tidings.NotificationAccepted || len(trail.Deliveries) != 1 || trail.Deliveries[0].Address != "abab…ab" {
		t.Errorf("the trail is %+v", trail)
	}
	if want := "Push is on its way; e-mail was not sent: the user has no address for it."; trail.Summary != want {
		t.Errorf("the summary is %q, want %q", trail.Summary, want)
	}
}

func TestTheSameKeyGivesTheFirstNotification(t *testing.T) {
	b := newBench(t)
	event := func(user, more string) string {
		return `{"type":"order.shipped","user":` + user + `,"data":{"order":"4711","carrier":"UPS"}` + more + `}`
	}
	var first, again wire.Posted
	b.call("POST", "/v1/events", event(`"u_1"`, `,"dedupe_key":"k"`)).want(202, "").into(&first)
	for _, c := range []struct{ why, body, header, key string }{
		{"the same bytes", event(`"u_1"`, `,"dedupe_key":"k"`), "", allKey},
		{"the user as an object", event(`{"id":"u_1"}`, `,"dedupe_key":"k"`), "", allKey},
		{"the key in the header", event(`"u_1"`, ``), "k", allKey},
		{"the key in the body goes before the header", event(`"u_1"`, `,"dedupe_key":"k"`), "other", allKey},
		{"another order and other escapes", `{"dedupe_key":"\u006b","data":{"carrier":"UPS", "order":"4711"},"user":"u_1","type":"order.shipped"}`, "", allKey},
		{"another key of the app", event(`"u_1"`, `,"dedupe_key":"k"`), "", sendKey},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call("POST", "/v1/events", c.body, append(as(c.key), "Idempotency-Key", c.header)...)
			r.t = t
			r.want(200, "").into(&again)
			if again.ID != first.ID || !again.Duplicate || r.Header().Get("Idempotency-Replayed") != "true" || len(again.Decisions) != 2 {
				t.Errorf("answered %s with %v", r.Body, r.Header())
			}
		})
	}
	b.call("POST", "/v1/events", event(`"u_2"`, `,"dedupe_key":"k"`)).want(409, "dedupe_conflict")
	b.call("POST", "/v1/events", event(`{"id":"u_1","locale":"de"}`, `,"dedupe_key":"k"`)).want(409, "dedupe_conflict")
	b.call("POST", "/v1/events", event(`"u_1"`, ``), "Idempotency-Key", "k\xff").want(422, "invalid_input")
	for why, key := range map[string]string{"of another app": otherKey, "in test mode": testKey} {
		if r := b.call("POST", "/v1/events", event(`"u_1"`, `,"dedupe_key":"k"`), as(key)...); r.Code != http.StatusAccepted {
			t.Errorf("the key %s answers %d", why, r.Code)
		}
	}
}

func TestOnlyAcceptedRequestsAreRemembered(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	b.call("POST", "/v1/events", `{"type":"order.shipped","user":"u_1","dedupe_key":"k"}`).want(422, "missing_data")
	b.call("POST", "/v1/events", `{"type":"order.shipped","user":"u_1","dedupe_key":"k","dry_run":true,"data":{"order":"1","carrier":"UPS"}}`).want(200, "")
	b.call("POST", "/v1/events", `{"type":"order.shipped","user":"u_1","dedupe_key":"k","data":{"order":"4711","carrier":"UPS"}}`).want(202, "")
}

func TestWhatIntakeRefusesIsAProblemAtItsPlace(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	for _, c := range []struct {
		why, body, code, pointer string
	}{
		{"no such type", `{"type":"no.such","user":"u_1"}`, "unknown_event_type", "/type"},
		{"data that a template needs", `{"type":"order.shipped","user":"u_1","data":{"order":"1"}}`, "missing_data", "/data/carrier"},
		{"a channel that the type does not have", `{"type":"order.shipped","user":"u_1","data":{},"channels":["sms"]}`, "invalid_input", "/channels/0"},
		{"a time beyond what is kept", `{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"send_at":"2099-01-01T00:00:00Z"}`, "invalid_input", "/send_at"},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call("POST", "/v1/events", c.body)
			r.t = t
			if at := r.want(422, c.code).at(); len(at) != 1 || at[0] != c.pointer {
				t.Errorf("the problem is at %q, want %q", at, c.pointer)
			}
		})
	}
}

func TestADryRunDecidesAndRendersAndChangesNothing(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	r := b.call("POST", "/v1/events", `{"type":"order.shipped","user":"u_1","data":{"order":"4711","carrier":"UPS"},"dry_run":true}`).want(200, "")
	var posted wire.Posted
	r.into(&posted)
	if !posted.ID.IsZero() || posted.URL != "" || r.Header().Get("Location") != "" || strings.Contains(r.Body.String(), `"id"`) {
		t.Errorf("answered %s with %v", r.Body, r.Header())
	}
	if push := posted.Rendered[tidings.Push]; push.Title == "" || len(posted.Decisions) != 2 {
		t.Errorf("rendered %+v", posted)
	}
	if list := b.call("GET", "/v1/notifications", "").want(200, "").json()["data"].([]any); len(list) != 0 {
		t.Errorf("left %v", list)
	}
}

func TestAnEventForLaterIsHeld(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var posted wire.Posted
	b.call("POST", "/v1/events", fmt.Sprintf(`{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"channels":["push"],"send_at":%q}`, at.Format(time.RFC3339))).want(202, "").into(&posted)
	if d := posted.Decisions[0]; posted.Status != tidings.NotificationHeld || d.Action != tidings.ActionHold || d.Reason != tidings.ReasonScheduled || !d.Until.Equal(at) {
		t.Errorf("posted %+v", posted)
	}
	if d := posted.Decisions[1]; d.Reason != tidings.ReasonNotRequested {
		t.Errorf("e-mail is %+v", d)
	}
	var trail wire.Trail
	b.call("GET", posted.URL, "").want(200, "").into(&trail)
	if len(trail.Holds) != 1 || !strings.HasPrefix(trail.Summary, "Push is held until ") {
		t.Errorf("the trail is %+v", trail)
	}
	var done wire.Cancelled
	b.call("POST", posted.URL+"/cancel", "").want(200, "").into(&done)
	if done.Holds != 1 || done.Cancelled == nil || done.Cancelling == nil || done.Kept == nil {
		t.Errorf("cancelled %+v", done)
	}
	again := b.call("POST", posted.URL+"/cancel", "{}").want(200, "")
	if again.json()["holds"] != 1.0 {
		t.Errorf("the second cancel answers %s", again.Body)
	}
}

func TestCancellingWhatIsOverIsAConflict(t *testing.T) {
	b := newBench(t)
	var posted wire.Posted
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "").into(&posted)
	b.call("POST", posted.URL+"/cancel", "").want(409, "nothing_to_cancel")
	b.call("POST", posted.URL+"/cancel", "", as(otherKey)...).want(404, "not_found")
	b.call("POST", "/v1/notifications/"+tidings.NewNotificationID(time.Now()).String()+"/cancel", "").want(404, "not_found")
}

func TestEventsOfABatchStandForThemselves(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	events := []string{
		`{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"dedupe_key":"a"}`,
		`{"type":"order.shipped","user":"u_1","data":{"order":"1"}}`,
		`{"type":"order.shipped","user":"u_1","x":1}`,
		`7`,
		`{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"dedupe_key":"a"}`,
		`{"type":"order.shipped","user":"u_2","data":{"order":"1","carrier":"UPS"},"dedupe_key":"a"}`,
		`{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"dry_run":true}`,
		`{"type":"no.such","user":"u_1"}`,
		`{"type":"order.shipped","user":"u_3","data":{"order":"1","carrier":"UPS"},"send_at_local":"2099-12-01T09:00"}`,
	}
	var got wire.BatchResults
	b.call("POST", "/v1/events/batch", `{"events":[`+strings.Join(events, ",")+`]}`).want(200, "").into(&got)
	if len(got.Results) != len(events) {
		t.Fatalf("%d results", len(got.Results))
	}
	for i, want := range []string{"id", "missing_data /data/carrier", "invalid_input /x", "invalid_input ", "duplicate", "dedupe_conflict -", "dry", "unknown_event_type /type", "invalid_input /send_at_local"} {
		if r := got.Results[i]; said(r) != want || r.Index != i {
			t.Errorf("event %d came to %q, want %q: %+v", i, said(r), want, r)
		}
	}
	if got.Results[0].ID != got.Results[4].ID {
		t.Error("a key repeated in one batch gave two notifications")
	}
}

// said is a result of a batch in short.
func said(r wire.BatchResult) string {
	switch {
	case r.Error != nil && len(r.Error.Errors) == 0:
		return string(r.Error.Code) + " -"
	case r.Error != nil:
		return string(r.Error.Code) + " " + r.Error.Errors[0].Pointer
	case r.Duplicate:
		return "duplicate"
	case !r.ID.IsZero():
		return "id"
	case len(r.Decisions) > 0 && len(r.Rendered) > 0:
		return "dry"
	}
	return "nothing"
}

func TestAppsSeeTheirOwnNotifications(t *testing.T) {
	b := newBench(t)
	b.addKey("tid_live_ops", "console", false, "read", "operate")
	var posted wire.Posted
	b.call("POST", "/v1/events", shipped("u_1"), as(sendKey)...).want(202, "").into(&posted)
	b.call("GET", posted.URL, "", as(readKey)...).want(200, "")
	b.call("GET", posted.URL, "", as(otherKey)...).want(404, "not_found")
	b.call("GET", posted.URL, "", as("tid_live_ops")...).want(200, "")
	for key, want := range map[string]int{readKey: 1, otherKey: 0, "tid_live_ops": 1} {
		if list := b.call("GET", "/v1/notifications", "", as(key)...).want(200, "").json()["data"].([]any); len(list) != want {
			t.Errorf("%s sees %d", key, len(list))
		}
	}
	if list := b.call("GET", "/v1/notifications?app=shop", "", as(otherKey)...).want(200, "").json()["data"].([]any); len(list) != 0 {
		t.Errorf("another app sees %v", list)
	}
}

func TestListsArePagedNewestFirst(t *testing.T) {
	b := newBench(t)
	var ids []string
	for range 5 {
		ids = append(ids, b.call("POST", "/v1/events", shipped("u_1")).want(202, "").json()["id"].(string))
	}
	var seen []string
	path := "/v1/notifications?limit=2&user_id=u_1"
	for pages := 0; path != ""; pages++ {
		if pages > 3 {
			t.Fatal("the pages do not end")
		}
		var page wire.Page
		b.call("GET", path, "").want(200, "").into(&page)
		for _, n := range page.Data {
			seen = append([]string{n.ID.String()}, seen...)
		}
		path = ""
		if page.NextCursor != nil {
			path = "/v1/notifications?limit=2&user_id=u_1&cursor=" + *page.NextCursor
		}
	}
	if fmt.Sprint(seen) != fmt.Sprint(ids) {
		t.Errorf("seen %v, posted %v", seen, ids)
	}
}

func TestAListTellsOfEachWhatItsTrailTells(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"categories":{"orders":{"email":false}}}`).want(200, "")
	for _, body := range []string{shipped("u_1"), shipped("u_2"), `{"type":"login.code","user":{"id":"u_3","phone":"+15550100"},"data":{"code":"482913"}}`,
		`{"type":"order.shipped","user":"u_1","data":{"order":"1","carrier":"UPS"},"send_at":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`} {
		b.call("POST", "/v1/events", body).want(202, "")
	}
	var page wire.Page
	b.call("GET", "/v1/notifications", "").want(200, "").into(&page)
	if len(page.Data) != 4 {
		t.Fatalf("%d are listed", len(page.Data))
	}
	for _, n := range page.Data {
		var trail wire.Trail
		b.call("GET", "/v1/notifications/"+n.ID.String(), "").want(200, "").into(&trail)
		if n.Summary == "" || n.Summary != trail.Summary || n.Status != trail.Status {
			t.Errorf("listed as %s: %q, and the trail says %s: %q", n.Status, n.Summary, trail.Status, trail.Summary)
		}
	}
}

func TestFiltersAreReadStrictly(t *testing.T) {
	b := newBench(t)
	b.call("POST", "/v1/events", strings.Replace(shipped("u_1"), `"user"`, `"dedupe_key":"k","user"`, 1)).want(202, "")
	for query, want := range map[string]int{
		"dedupe_key=k": 1, "dedupe_key=x": 0, "event=order.shipped": 1, "event=login.code": 0, "status=suppressed": 1, "status=sent": 0,
		"channel=push": 0, "channel=push&reason=no_address": 1, "channel=sms&reason=no_address": 0, "reason=no_address": 1, "reason=quiet_hours": 0, "since=2026-01-01T00:00:00Z": 1, "until=2026-01-01T00:00:00Z": 0, "app=shop": 1,
	} {
		if list := b.call("GET", "/v1/notifications?"+query, "").want(200, "").json()["data"].([]any); len(list) != want {
			t.Errorf("%s finds %d, want %d", query, len(list), want)
		}
	}
	for _, query := range []string{"status=retrying", "channel=fax", "reason=mood", "since=yesterday", "until=1", "limit=0", "limit=201", "limit=x", "cursor=2", "user_id=a%20b", "app=", "event=%00", "dedupe_key=", "dedupe_key=%00", "dedupe_key=%ff"} {
		r := b.call("GET", "/v1/notifications?"+query, "").want(422, "invalid_input")
		if name, _, _ := strings.Cut(query, "="); len(r.at()) != 1 || r.at()[0] != "/"+name {
			t.Errorf("%s: the problem is at %q", query, r.at())
		}
	}
}
