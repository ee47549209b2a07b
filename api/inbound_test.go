package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tidings/channels"
)

// writer is a provider that passes on what the number +15550142 wrote, signed by a header.
type writer struct{}

func (writer) ReadInbound(r *http.Request, _ string, body []byte) (channels.Inbound, error) {
	if r.Header.Get("X-Signature") != "good" {
		return channels.Inbound{}, channels.ErrForged
	}
	return channels.Inbound{From: "+15550142", Word: channels.WordOf(string(body))}, nil
}

func TestOnlyASignedStopStops(t *testing.T) {
	b := newBench(t)
	b.call("PUT", "/v1/users/u_1", `{"phone":"+15550142"}`).want(200, "")
	text := func(body, signature string) reply {
		r := httptest.NewRequest("POST", "/hooks/twilio/inbound", strings.NewReader(body))
		r.Header.Set("X-Signature", signature)
		return b.do(r)
	}
	text("STOP", "bad").want(403, "forbidden")
	text("HELP", "good").want(204, "")
	if got := b.consents("u_1"); len(got) != 0 {
		t.Errorf("ledger %q", got)
	}
	text("STOP", "good").want(204, "")
	text("Start", "good").want(204, "")
	if got := b.consents("u_1"); !slices.Equal(got, []string{"/sms given start ", "/sms withdrawn stop "}) {
		t.Errorf("ledger %q", got)
	}
	b.call("POST", "/hooks/smtp/inbound", "x", "Authorization", "").want(404, "not_found")
	b.call("POST", "/hooks/nobody/inbound", "x", "Authorization", "").want(404, "not_found")
}

func TestOnlyAnAdminKeyCanSayThatACategoryIsCritical(t *testing.T) {
	b := newBench(t)
	b.addKey("tid_live_almost", "shop", false, "send", "users", "read", "operate")
	files := `{"files":{"catalog.yaml":"categories: {offers: {kind: critical}}\nevents: {b: {category: offers, channels: [sms]}}","templates/b/sms.en.txt":"now"}}`
	b.call("PUT", "/v1/catalog", files, as("tid_live_almost")...).want(403, "forbidden")
	b.call("PUT", "/v1/catalog", files).want(200, "")
}
