package twilio

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"tidings/channels"
)

// ReadInbound checks the signature of a message that somebody wrote back and reads it. OptOutType
// says what Twilio took it for, where its Advanced Opt-Out is on, with words of the customer's own
// (https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out).
func (p *provider) ReadInbound(r *http.Request, publicURL string, body []byte) (channels.Inbound, error) {
	if !p.signed(publicURL, body, r.Header.Get(signatureHeader)) {
		return channels.Inbound{}, channels.ErrForged
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return channels.Inbound{}, errors.New("read twilio message: the body is not a form")
	}
	in := channels.Inbound{From: form.Get("From"), Word: channels.WordOf(form.Get("Body"))}
	switch strings.ToUpper(form.Get("OptOutType")) {
	case "STOP":
		in.Word = channels.WordStop
	case "START":
		in.Word = channels.WordStart
	case "HELP":
		in.Word = channels.WordNone
	}
	return in, nil
}
