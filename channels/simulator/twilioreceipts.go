package simulator

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The usual receipts: sent at once, delivered 50 ms after the message was accepted.
const (
	twilioUntilSent      = 10 * time.Millisecond
	twilioUntilDelivered = 40 * time.Millisecond
)

// keep remembers an accepted message, and forgets the oldest of too many.
func (t *twilio) keep(m twilioMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent[m.sid] = m
	t.sids = append(t.sids, m.sid)
	if len(t.sids) > twilioKept {
		delete(t.sent, t.sids[0])
		t.sids = t.sids[1:]
	}
}

// schedule reports what becomes of an accepted message, as the rule says.
func (t *twilio) schedule(m twilioMessage, rule ReceiptRule) {
	if m.callback == "" || rule.None {
		return
	}
	statuses, pauses := []string{"sent", "delivered"}, []time.Duration{twilioUntilSent, twilioUntilDelivered}
	if len(rule.Order) > 0 {
		statuses, pauses = rule.Order, nil
	}
	t.desk.after(0, func(ctx context.Context) {
		for i, status := range statuses {
			pause := time.Duration(rule.Delay)
			if pause == 0 && i < len(pauses) {
				pause = pauses[i]
			}
			if !wait(ctx, pause) {
				return
			}
			t.call(ctx, m, status, rule.Duplicate)
		}
	})
}

// call reports a status, twice if it has to. Twilio does not repeat what was not taken.
func (t *twilio) call(ctx context.Context, m twilioMessage, status string, twice bool) {
	_, _ = t.post(ctx, m, status, t.token)
	if twice {
		_, _ = t.post(ctx, m, status, t.token)
	}
}

// report sends the callback for a status by hand, such as "delivered", or "failed:30005" with
// an error code. That a forged one is refused is no failure.
func (t *twilio) report(ctx context.Context, r Report) error {
	t.mu.Lock()
	m, ok := t.sent[r.Ref]
	t.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("twilio accepted no message %q", r.Ref)
	case m.callback == "":
		return errors.New("the message asked for no callbacks")
	case r.Event != "":
		return errors.New("twilio reports a status and no event")
	}
	if err := twilioReports(r.Status); err != nil {
		return err
	}
	token := t.token
	if r.Forge {
		token = randomHex(16)
	}
	answer, err := t.post(ctx, m, r.Status, token)
	if err == nil && answer >= http.StatusBadRequest && !r.Forge {
		err = fmt.Errorf("the service answered %d", answer)
	}
	return err
}

// twilioReports refuses what is no status of a message that was sent, or a code where nothing failed
// (https://www.twilio.com/docs/messaging/api/message-resource#message-status-values).
func twilioReports(text string) error {
	status, code, coded := strings.Cut(text, ":")
	failed := slices.Contains([]string{"undelivered", "failed"}, status)
	_, err := strconv.ParseUint(code, 10, 32)
	switch {
	case coded && (!failed || err != nil):
		return fmt.Errorf("%q: an error code is a number, behind undelivered or failed", text)
	case failed || slices.Contains([]string{"accepted", "scheduled", "queued", "sending", "sent", "partially_delivered", "delivered", "read", "canceled"}, status):
		return nil
	}
	return fmt.Errorf("%q: twilio reports a status such as sent, delivered or failed:30005", text)
}

// post reports a status; see postForm.
func (t *twilio) post(ctx context.Context, m twilioMessage, status, token string) (answered int, err error) {
	return t.postForm(ctx, m.callback, m.form(status), token)
}

// postForm calls back, signed with the token over the URL that the service named, also where the
// call goes to another host, and gives the status of the answer.
func (t *twilio) postForm(ctx context.Context, callback string, form url.Values, token string) (answered int, err error) {
	target, err := t.reach(callback)
	if err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", twilioSignature(token, callback, form))
	answer, err := t.desk.sim.client.Do(r)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}

// reach is where a callback goes.
func (t *twilio) reach(callback string) (string, error) {
	target, err := url.Parse(callback)
	if err != nil {
		return "", err
	}
	hooks, err := url.Parse(t.desk.sim.settings.HooksURL)
	if err == nil && hooks.Host != "" {
		target.Scheme, target.Host = hooks.Scheme, hooks.Host
	}
	return target.String(), nil
}

// form is the body of a callback for a status, with an error code after a colon.
func (m twilioMessage) form(status string) url.Values {
	status, code, failed := strings.Cut(status, ":")
	form := url.Values{
		"MessageSid": {m.sid}, "SmsSid": {m.sid}, "AccountSid": {twilioAccount}, "ApiVersion": {"2010-04-01"},
		"MessageStatus": {status}, "SmsStatus": {status}, "To": {m.to}, "From": {m.from},
	}
	if failed {
		form.Set("ErrorCode", code)
	}
	if status == "delivered" {
		form.Set("RawDlrDoneDate", time.Now().UTC().Format("0601021504"))
	}
	return form
}

// twilioSignature is HMAC-SHA1 over the URL and the sorted form
// (https://www.twilio.com/docs/usage/security).
func twilioSignature(token, callback string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token))
	_, _ = mac.Write([]byte(callback))
	for _, key := range slices.Sorted(maps.Keys(form)) {
		_, _ = mac.Write([]byte(key + form.Get(key)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
