package simulator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// An Inbound asks for one callback by hand: a text that somebody wrote back.
type Inbound struct {
	Provider string `json:"provider"`        // the vendor type
	From     string `json:"from"`            // the number of who wrote
	Text     string `json:"text"`            // what they wrote
	Forge    bool   `json:"forge,omitempty"` // sign it wrongly
}

// Write makes a service pass on what somebody wrote back; see Inbound.
func (s *Simulator) Write(ctx context.Context, in Inbound) error {
	for _, d := range s.desks {
		if t, sms := d.service.(*twilio); sms && d.typ == in.Provider {
			return t.pass(ctx, in)
		}
	}
	return fmt.Errorf("no simulated service of type %q passes on what people write", in.Provider)
}

func (s *Simulator) postInbound(w http.ResponseWriter, r *http.Request) {
	var in Inbound
	if err := readStrict(w, r, &in); err != nil {
		refuse(w, err)
		return
	}
	if err := s.Write(r.Context(), in); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// pass calls the hook for texts, which lies beside the one for receipts. That a forged one is
// refused is no failure.
func (t *twilio) pass(ctx context.Context, in Inbound) error {
	if in.From == "" {
		return errors.New("a text comes from a number")
	}
	hook, err := t.inboundHook()
	if err != nil {
		return err
	}
	token := t.token
	if in.Forge {
		token = randomHex(16)
	}
	sid := "SM" + randomHex(16)
	form := url.Values{
		"MessageSid": {sid}, "SmsSid": {sid}, "SmsMessageSid": {sid}, "AccountSid": {twilioAccount}, "ApiVersion": {"2010-04-01"},
		"SmsStatus": {"received"}, "NumMedia": {"0"}, "NumSegments": {"1"}, "From": {in.From}, "To": {twilioFrom}, "Body": {in.Text},
	}
	answer, err := t.postForm(ctx, hook, form, token)
	if err == nil && answer >= http.StatusBadRequest && !in.Forge {
		err = fmt.Errorf("the service answered %d", answer)
	}
	return err
}

// inboundHook is where a customer would have told Twilio to pass on texts: beside the callback of the
// newest message, else below the hooks' base under the name that the written configuration has.
func (t *twilio) inboundHook() (string, error) {
	t.mu.Lock()
	callback := ""
	if n := len(t.sids); n > 0 {
		callback = t.sent[t.sids[n-1]].callback
	}
	t.mu.Unlock()
	base, _, _ := strings.Cut(callback, "?")
	if hooks := strings.TrimSuffix(t.desk.sim.settings.HooksURL, "/"); base == "" && hooks != "" {
		base = hooks + "/hooks/twilio"
	}
	if base == "" {
		return "", errors.New("where texts go is not known before a message asked for callbacks, or hooks are given")
	}
	return base + "/inbound", nil
}
