package api_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/api"
	"tidings/api/client"
	"tidings/api/wire"
	"tidings/internal/store"
)

// dead posts an event for a user with a device and lets its push die.
func (b *bench) dead(user string) tidings.DeliveryID {
	b.t.Helper()
	var posted wire.Posted
	b.device(user)
	b.call("POST", "/v1/events", shipped(user)).want(202, "").into(&posted)
	id := tidings.DeliveryOf(posted.ID, 0)
	b.die(id)
	return id
}

// die claims a queued delivery and records that its last try failed.
func (b *bench) die(id tidings.DeliveryID) {
	b.t.Helper()
	now := time.Now().UTC()
	claimed, err := b.store.Claim(context.Background(), store.Normal, store.ClaimRequest{Lane: "push.bulk", IDs: []tidings.DeliveryID{id}, Now: now, Lease: time.Minute})
	if err != nil || len(claimed) != 1 {
		b.t.Fatal(claimed, err)
	}
	_, err = b.store.Record(context.Background(), store.Normal, []store.Result{{
		Attempt: tidings.Attempt{Delivery: id, Number: claimed[0].Delivery.ClaimNo, Provider: "apns", StartedAt: now, EndedAt: now,
			Outcome: tidings.Transient, HTTPStatus: 503, Code: "Shutdown"},
		Lane: "push.bulk", Status: tidings.Dead, Reason: tidings.ReasonRetriesSpent,
	}})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestDeadLettersAreListedByPagesAndFilters(t *testing.T) {
	b := newBench(t)
	var want []tidings.DeliveryID
	for i := range 3 {
		want = append(want, b.dead(fmt.Sprintf("u_%d", i)))
	}
	slices.Reverse(want)
	b.call("POST", "/v1/events", shipped("u_0")).want(202, "")
	var page wire.DeadLetters
	b.call("GET", "/v1/dead-letters?limit=2", "").want(200, "").into(&page)
	if len(page.Data) != 2 || page.Data[0].ID != want[0] || page.NextCursor == nil {
		t.Fatalf("the first page is %+v", page)
	}
	got := page.Data[0]
	if got.NotificationID != tidings.NotificationOf(want[0]) || got.UserID != "u_2" || got.App != "shop" || got.Status != tidings.Dead || got.Reason != "retries_spent" ||
		got.DiedAt.IsZero() || !strings.Contains(got.Address, "…") || got.LastAttempt == nil || got.LastAttempt.HTTPStatus != 503 || got.LastAttempt.Provider != "apns" {
		t.Errorf("a dead letter is %+v", got)
	}
	b.call("GET", "/v1/dead-letters?limit=2&cursor="+*page.NextCursor, "").want(200, "").into(&page)
	if len(page.Data) != 1 || page.Data[0].ID != want[2] || page.NextCursor != nil {
		t.Fatalf("the second page is %+v", page)
	}
	for query, n := range map[string]int{
		"user_id=u_1": 1, "user_id=nobody": 0, "app=shop": 3, "app=forum": 0, "event=order.shipped": 3, "event=login.code": 0, "channel=push": 3, "channel=sms": 0,
		"lane=push.bulk": 3, "lane=push.priority": 0, "reason=retries_spent": 3, "reason=poison": 0, "provider=apns": 3, "provider=fcm": 0,
		"since=2020-01-01T00:00:00Z": 3, "until=2020-01-01T00:00:00Z": 0, "user_id=u_1&provider=apns&lane=push.bulk": 1,
	} {
		page = wire.DeadLetters{}
		b.call("GET", "/v1/dead-letters?"+query, "").want(200, "").into(&page)
		if len(page.Data) != n {
			t.Errorf("%s: %d, want %d", query, len(page.Data), n)
		}
	}
}

func TestARedriveMovesWhatIsDeadAndNothingTwice(t *testing.T) {
	var woken int
	b := newBench(t, func(s *api.Settings) { s.Wake = func(time.Time) { woken++ } })
	one, two := b.dead("u_1"), b.dead("u_2")
	redrive := func(body string) (out wire.Redriven) {
		t.Helper()
		b.call("POST", "/v1/dead-letters/redrive", body).want(200, "").into(&out)
		out.LastDueAt = wire.Time{}
		return out
	}
	check := func(body string, want wire.Redriven) {
		t.Helper()
		if got := redrive(body); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
	check(`{"dry_run":true}`, wire.Redriven{DryRun: true, Matched: 2, Redriven: 2})
	check(`{"dry_run":true,"limit":1}`, wire.Redriven{DryRun: true, Matched: 1, Redriven: 1, More: true})
	check(`{"user_id":"nobody"}`, wire.Redriven{})
	if woken != 0 {
		t.Error("the workers were woken for nothing")
	}
	check(fmt.Sprintf(`{"ids":[%q,%q],"user_id":"u_1"}`, one, two), wire.Redriven{Matched: 1, Redriven: 1, Skipped: 1})
	check(fmt.Sprintf(`{"ids":[%q,%q,%q]}`, one, one, two), wire.Redriven{Matched: 1, Redriven: 1, Skipped: 1})
	check(`{}`, wire.Redriven{})
	if woken != 2 {
		t.Errorf("the workers were woken %d times", woken)
	}
	var trail wire.Trail
	b.call("GET", "/v1/notifications/"+tidings.NotificationOf(one).String(), "").want(200, "").into(&trail)
	d := trail.Deliveries[0]
	if d.Status != tidings.Queued || d.Final || d.Reason != tidings.ReasonRedriven || trail.Status != tidings.NotificationAccepted ||
		!strings.Contains(trail.Summary, "Push is on its way: an operator asked for another try") {
		t.Errorf("the trail is %+v", trail)
	}
	last := trail.Timeline[len(trail.Timeline)-1]
	if last.Kind != "redriven" || last.DeliveryID != one || last.Text != "An operator asked for another try." {
		t.Errorf("the last moment is %+v", last)
	}
	if _, err := b.store.Due(t.Context(), "push.bulk", time.Now(), 10); err != nil {
		t.Fatal(err)
	}
	b.die(one)
	b.die(two)
	check(`{"reason":"retries_spent"}`, wire.Redriven{Matched: 2, Redriven: 2})
}

func TestTheNumbersOfRedrivesAtOnceAddUp(t *testing.T) {
	b := newBench(t)
	for i := range 50 {
		b.dead(fmt.Sprintf("u_%d", i))
	}
	var wg sync.WaitGroup
	out := make([]wire.Redriven, 8)
	for i := range out {
		wg.Go(func() { b.call("POST", "/v1/dead-letters/redrive", `{}`).want(200, "").into(&out[i]) })
	}
	wg.Wait()
	moved := 0
	for _, r := range out {
		moved += r.Redriven
		if r.Matched != r.Redriven+r.Expired+r.Cancelled+r.Skipped {
			t.Errorf("it does not add up: %+v", r)
		}
	}
	if moved != 50 {
		t.Errorf("%d were redriven", moved)
	}
}

func TestARedriveCountsWhatANewerEventTookThePlaceOfAsCancelled(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	event := strings.Replace(shipped("u_1"), "{", `{"collapse_key":"order-4711",`, 1)
	var posted wire.Posted
	b.call("POST", "/v1/events", event).want(202, "").into(&posted)
	b.die(tidings.DeliveryOf(posted.ID, 0))
	b.call("POST", "/v1/events", event).want(202, "")
	for _, dry := range []bool{true, false} {
		var out wire.Redriven
		b.call("POST", "/v1/dead-letters/redrive", fmt.Sprintf(`{"dry_run":%t}`, dry)).want(200, "").into(&out)
		if want := (wire.Redriven{DryRun: dry, Matched: 1, Cancelled: 1}); out != want {
			t.Errorf("it came to %+v, want %+v", out, want)
		}
	}
}

func TestARedriveIsSpreadAsItsRateSays(t *testing.T) {
	b := newBench(t)
	for i := range 5 {
		b.dead(fmt.Sprintf("u_%d", i))
	}
	for _, dry := range []bool{true, false} {
		var out wire.Redriven
		before := time.Now()
		b.call("POST", "/v1/dead-letters/redrive", fmt.Sprintf(`{"rate_per_second":0.5,"dry_run":%t}`, dry)).want(200, "").into(&out)
		if ahead := out.LastDueAt.Sub(before); out.Redriven != 5 || ahead < 8*time.Second-time.Millisecond || ahead > 9*time.Second {
			t.Errorf("the last of %d is due %v ahead", out.Redriven, ahead)
		}
	}
}

func TestWhatIsWrongWithARedriveIsNamed(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ body, at string }{
		{`{"x":1}`, "/x"}, {`{"ids":[]}`, "/ids"}, {`{"ids":"dlv_x"}`, "/ids"}, {`{"ids":["ntf_x"]}`, "/ids/0"}, {`{"limit":0}`, "/limit"}, {`{"limit":100001}`, "/limit"},
		{`{"limit":1.5}`, "/limit"}, {`{"rate_per_second":0}`, "/rate_per_second"}, {`{"dry_run":1}`, "/dry_run"}, {`{"channel":"fax"}`, "/channel"},
		{`{"lane":"push"}`, "/lane"}, {`{"reason":"bored"}`, "/reason"}, {`{"app":""}`, "/app"}, {`{"event":"a b"}`, "/event"}, {`{"user_id":7}`, "/user_id"},
		{`{"provider":""}`, "/provider"}, {`{"since":"today"}`, "/since"}, {`{"until":"2026-12-01"}`, "/until"}, {`[]`, ""},
	} {
		if at := b.call("POST", "/v1/dead-letters/redrive", c.body).want(422, "invalid_input").at(); !slices.Equal(at, []string{c.at}) {
			t.Errorf("%s: %v", c.body, at)
		}
	}
	for query, at := range map[string]string{
		"x=1": "/x", "limit=0": "/limit", "limit=201": "/limit", "cursor=ntf_x": "/cursor", "channel=fax": "/channel", "lane=fax.bulk": "/lane", "reason=bored": "/reason",
		"app=a%20b": "/app", "provider=": "/provider", "since=today": "/since", "until=today": "/until", "app=a&app=b": "/app",
	} {
		if got := b.call("GET", "/v1/dead-letters?"+query, "").want(422, "invalid_input").at(); !slices.Equal(got, []string{at}) {
			t.Errorf("%s: %v", query, got)
		}
	}
	b.call("POST", "/v1/dead-letters/redrive", "").want(415, "unsupported_media_type")
	b.call("GET", "/v1/dead-letters", "", as(readKey)...).want(403, "forbidden")
	b.call("POST", "/v1/dead-letters/redrive", "{}", as(sendKey)...).want(403, "forbidden")
}

func TestTheClientListsAndRedrives(t *testing.T) {
	b := newBench(t)
	id := b.dead("u_1")
	server := httptest.NewServer(b)
	defer server.Close()
	c := client.New(server.URL, allKey, secret)
	defer c.CloseIdleConnections()
	for _, query := range []url.Values{nil, {"user_id": {"u_1"}}} {
		page, err := c.DeadLetters(t.Context(), query)
		if err != nil || len(page.Data) != 1 || page.Data[0].ID != id {
			t.Errorf("listed %+v, %v", page, err)
		}
	}
	for _, want := range []int{1, 0} {
		done, err := c.Redrive(t.Context(), wire.Redrive{IDs: []tidings.DeliveryID{id}, RatePerSecond: 5})
		if err != nil || done.Redriven != want {
			t.Errorf("redriven %+v, %v", done, err)
		}
	}
}
