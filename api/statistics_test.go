package api_test

import (
	"strings"
	"testing"
	"time"

	"tidings/api/wire"
)

func TestStatisticsCountWhatWasAcceptedByDay(t *testing.T) {
	b := newBench(t)
	b.device("u_1")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
	b.call("POST", "/v1/events", shipped("u_1")).want(202, "")
	var all wire.Statistics
	today := time.Now().UTC().Format(time.DateOnly)
	b.call("GET", "/v1/statistics", "").want(200, "").into(&all)
	want := wire.Statistic{Day: today, Channel: "push", Category: "orders", Status: "queued", Deliveries: 2}
	if len(all.Data) != 1 || all.Data[0] != want {
		t.Errorf("counted %+v, want %+v", all.Data, want)
	}
	for _, none := range []string{"channel=sms", "provider=apns", "category=social", "status=sent", "until=" + today, "since=1970-01-01&until=1970-03-01"} {
		b.call("GET", "/v1/statistics?"+none, "").want(200, "").into(&all)
		if len(all.Data) != 0 {
			t.Errorf("%s: counted %+v", none, all.Data)
		}
	}
}

func TestStatisticsRefuseWhatTheyCannotCount(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ why, query, pointer string }{
		{"no day", "since=2026-13-01", "/since"},
		{"an instant is no day", "until=2026-11-01T00:00:00Z", "/until"},
		{"before there were days", "since=1969-12-31", "/since"},
		{"nothing lies between", "since=2026-11-02&until=2026-11-02", "/until"},
		{"more than 400 days", "since=2025-01-01&until=2026-11-01", "/since"},
		{"no channel", "channel=fax", "/channel"},
		{"a status that is never shown", "status=parked", "/status"},
		{"no name", "category=a%20b", "/category"},
	} {
		if r := b.call("GET", "/v1/statistics?"+c.query, "").want(422, "invalid_input"); !strings.Contains(r.Body.String(), `"`+c.pointer+`"`) {
			t.Errorf("%s: answered %s", c.why, r.Body)
		}
	}
}
