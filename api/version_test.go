package api_test

import (
	"slices"
	"testing"

	"tidings/api/wire"
)

func TestTheVersionRisesExactlyWhenWhatIsShownChanges(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"timezone":"Europe/Berlin"}`).want(200, "")
	version := int64(0)
	for _, c := range []struct {
		method, path, body string
		rises              bool
	}{
		{"PATCH", "/preferences", `{}`, false},
		{"PATCH", "/preferences", `{"categories":{"orders":{"email":false}}}`, true},
		{"PATCH", "/preferences", `{"categories":{"orders":{"email":false}}}`, false},
		{"PATCH", "/preferences", `{"all":true}`, false}, // as it is shown without
		{"PATCH", "/preferences", `{"all":false}`, true},
		{"PATCH", "/preferences", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, true},
		{"PATCH", "/preferences", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, false},
		{"PATCH", "/preferences", `{"threads":{"social":{"a":false}}}`, true},
		{"PATCH", "/preferences", `{"threads":{"social":{"b":true}}}`, false},
		{"PATCH", "/preferences", `{"locale":"de"}`, true},
		{"PATCH", "/preferences", `{"locale":"de","timezone":"Europe/Berlin"}`, false},
		{"PUT", "", `{"locale":"de","timezone":"Europe/Paris"}`, true},
		{"PUT", "", `{"locale":"de","timezone":"Europe/Paris"}`, false},
		{"PUT", "", `{"timezone":"Europe/Paris"}`, true},
		{"PUT", "", `{"timezone":"Europe/Paris","email":"ann@example.test"}`, false},
		{"EVENT", "", `{"type":"order.shipped","user":{"id":"u_1","timezone":"Europe/Rome"},"data":{"order":"1","carrier":"UPS"}}`, true},
		{"EVENT", "", `{"type":"order.shipped","user":{"id":"u_1","timezone":"Europe/Rome"},"data":{"order":"1","carrier":"UPS"}}`, false},
		{"POST", "/consents", `{"category":"offers","action":"give","wording":"w","version":"1"}`, true},
		{"POST", "/consents", `{"category":"offers","action":"give","wording":"w","version":"2"}`, false},
	} {
		switch c.method {
		case "EVENT":
			b.call("POST", "/v1/events", c.body).want(202, "")
		case "POST":
			b.call(c.method, "/v1/users/u_1"+c.path, c.body).want(201, "")
		default:
			b.call(c.method, "/v1/users/u_1"+c.path, c.body).want(200, "")
		}
		var p wire.Preferences
		b.call("GET", "/v1/users/u_1/preferences", "").want(200, "").into(&p)
		if rose := p.Version - version; rose != map[bool]int64{true: 1}[c.rises] {
			t.Errorf("%s %s %s: the version rose by %d", c.method, c.path, c.body, rose)
		}
		version = p.Version
	}
}

func TestTheLedgerTellsOfThreadsAndSettings(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"timezone":"Europe/Berlin"}`).want(200, "")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"threads":{"social":{"4711":false}},"quiet_hours":{"start":"22:00","end":"07:00"},"timezone":"Europe/Paris","locale":"de"}`).want(200, "")
	b.call("PUT", "/v1/users/u_1", `{"locale":"de"}`).want(200, "")
	b.call("POST", "/v1/events", `{"type":"order.shipped","user":{"id":"u_1","timezone":"Europe/Rome"},"data":{"order":"1","carrier":"UPS"}}`).want(202, "")
	b.call("PATCH", "/v1/users/u_1/preferences", `{"threads":{"social":{"4711":true}},"quiet_hours":null}`).want(200, "")
	var page wire.Consents
	b.call("GET", "/v1/users/u_1/consents", "").want(200, "").into(&page)
	var got []string
	for _, c := range slices.Backward(page.Data) {
		got = append(got, c.Category+" "+string(c.Action)+" "+c.About+" "+c.Value)
		if c.Source != "api" || c.App != "shop" || c.At.IsZero() {
			t.Errorf("the line %+v does not say who, how and when", c)
		}
	}
	slices.Sort(got[:4]) // of one change
	want := []string{" set locale de", " set quiet_hours 22:00-07:00", " set timezone Europe/Paris", "social muted 4711 ",
		" set timezone ", " set timezone Europe/Rome", "social unmuted 4711 ", " set quiet_hours "}
	if !slices.Equal(got, want) {
		t.Errorf("the ledger says\n%q, want\n%q", got, want)
	}
}
