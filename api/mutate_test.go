package api_test

import (
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
)

// Thousands of bodies, each a good one with a few bytes or pieces changed. The fuzz targets
// search further and need more time.
func TestDamagedBodiesAreNeverTheServicesFault(t *testing.T) {
	b := newBench(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/events", `{"type":"order.shipped","user":{"id":"u_1","email":"ann@example.test","attributes":{"a":[1,{"b":null}]}},"data":{"order":"4711","carrier":"UPS"},"channels":["push"],"expires_in":"1h","send_at":"2026-12-01T08:00:00Z","dry_run":true}`},
		{"POST", "/v1/events/batch", `{"events":[` + shipped("u_1") + `,{"type":"login.code","user":"u","data":{"code":1}}]}`},
		{"PUT", "/v1/users/u_1", `{"locale":"de","timezone":"Europe/Berlin","email":"ann@example.test","phone":"+15550100","attributes":{"a":[1]}}`},
		{"POST", "/v1/users/u_1/addresses", `{"channel":"push","provider":"fcm","token":"x"}`},
		{"PATCH", "/v1/users/u_1/preferences", `{"all":true,"channels":{"sms":false},"categories":{"orders":{"all":true,"email":null},"offers":false},"locale":null}`},
		{"PUT", "/v1/catalog", `{"files":{"catalog.yaml":"categories: {a: {kind: critical}}\nevents: {b: {category: a, channels: [sms]}}","templates/b/sms.en.txt":"{{ .data.x }}"}}`},
	} {
		for range 500 {
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(damage(random, c.body)))
			r.Header.Set("Content-Type", "application/json")
			r.SetBasicAuth(allKey, secret)
			b.answers(t, b.do(r))
		}
	}
}

// damage changes a text at one to three places.
func damage(random *rand.Rand, s string) string {
	pieces := []string{`\u0000`, `\ud800`, "\x00", "\xff", `"`, `{`, `}`, `[`, `]`, `,`, `:`, `null`, `true`, `-0`, `1e999`, `{}`, `[]`, `""`, ` `, `\`, "é", strings.Repeat("[", 40), strings.Repeat("9", 400)}
	for range 1 + random.IntN(3) {
		at, to := random.IntN(len(s)+1), 0
		to = min(len(s), at+random.IntN(6))
		s = s[:at] + pieces[random.IntN(len(pieces))] + s[to:]
	}
	return s
}
