package twilio

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"tidings/channels"
)

func TestOnlySignedMessagesAreRead(t *testing.T) {
	const inboundURL = hookURL + "/inbound"
	p := &provider{Config: Config{AuthToken: "first-token"}}
	for _, c := range []struct {
		why    string
		form   url.Values
		token  string
		want   channels.Inbound
		forged bool
	}{
		{"stop", url.Values{"From": {"+15550142"}, "Body": {"Stop"}}, "first-token", channels.Inbound{From: "+15550142", Word: channels.WordStop}, false},
		{"start", url.Values{"From": {"+15550142"}, "Body": {"START"}}, "first-token", channels.Inbound{From: "+15550142", Word: channels.WordStart}, false},
		{"something else", url.Values{"From": {"+15550142"}, "Body": {"thank you"}}, "first-token", channels.Inbound{From: "+15550142"}, false},
		{"a word of the customer's own", url.Values{"From": {"+15550142"}, "Body": {"basta"}, "OptOutType": {"STOP"}}, "first-token", channels.Inbound{From: "+15550142", Word: channels.WordStop}, false},
		{"what Twilio takes for a question", url.Values{"From": {"+15550142"}, "Body": {"yes"}, "OptOutType": {"HELP"}}, "first-token", channels.Inbound{From: "+15550142"}, false},
		{"of somebody else", url.Values{"From": {"+15550142"}, "Body": {"Stop"}}, "other-token", channels.Inbound{}, true},
	} {
		r := &http.Request{Header: http.Header{"X-Twilio-Signature": {sign(c.token, inboundURL, c.form)}}}
		got, err := p.ReadInbound(r, inboundURL, []byte(c.form.Encode()))
		if got != c.want || errors.Is(err, channels.ErrForged) != c.forged || err != nil && !c.forged {
			t.Errorf("%s: %+v, %v", c.why, got, err)
		}
	}
}
