package api_test

import (
	"encoding/base64"
	"testing"
)

func TestAKeyIsTakenInTwoFormsAndNoOther(t *testing.T) {
	b := newBench(t)
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, c := range []struct {
		why, header string
		status      int
	}{
		{"basic", basic(allKey + ":" + secret), 200},
		{"bearer", "Bearer " + allKey + "." + secret, 200},
		{"schemes have no case", "bearer " + allKey + "." + secret, 200},
		{"none", "", 401},
		{"another scheme", "Digest " + allKey + "." + secret, 401},
		{"no base64", "Basic " + allKey + ":" + secret, 401},
		{"a wrong secret", basic(allKey + ":" + secret + "x"), 401},
		{"no secret", basic(allKey + ":"), 401},
		{"no colon", basic(allKey), 401},
		{"an unknown key", basic("tid_live_nobody:" + secret), 401},
		{"a revoked key", basic(goneKey + ":" + secret), 401},
		{"the secret of nobody", basic(":" + secret), 401},
	} {
		t.Run(c.why, func(t *testing.T) {
			r := b.call("GET", "/v1/lanes", "", "Authorization", c.header)
			if r.Code != c.status {
				t.Errorf("answered %d %s, want %d", r.Code, r.Body, c.status)
			}
			if c.status == 401 && r.Header().Get("WWW-Authenticate") == "" {
				t.Error("nobody says how to present a key")
			}
		})
	}
}

func TestScopesDoNotImplyEachOther(t *testing.T) {
	b := newBench(t)
	calls := map[string][2]string{
		"send": {"POST", "/v1/events"}, "read": {"GET", "/v1/notifications"}, "users": {"GET", "/v1/users/u"},
		"operate": {"GET", "/v1/lanes"}, "admin": {"GET", "/v1/catalog"},
	}
	for scope := range calls {
		b.addKey("tid_live_only_"+scope, "shop", false, scope)
	}
	for has := range calls {
		for needs, call := range calls {
			r := b.call(call[0], call[1], "", as("tid_live_only_"+has)...)
			if (r.Code == 403) == (has == needs) {
				t.Errorf("a key for %s is answered %d where %s is needed", has, r.Code, needs)
			}
		}
	}
}

func TestATestKeyMakesTestNotifications(t *testing.T) {
	b := newBench(t)
	url := b.call("POST", "/v1/events", shipped("u_1"), as(testKey)...).want(202, "").json()["url"].(string)
	if got := b.call("GET", url, "").want(200, "").json()["test"]; got != true {
		t.Errorf("test is %v", got)
	}
}
