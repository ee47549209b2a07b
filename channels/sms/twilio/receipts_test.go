package twilio

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

const hookURL = "https://notify.example.test/hooks/twilio"

// aDelivery is some delivery, and the URL that Twilio was told to call for its second attempt.
func aDelivery() (id tidings.DeliveryID, callback string) {
	id = tidings.DeliveryOf(tidings.NewNotificationID(time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)), 1)
	return id, hookURL + "?d=" + id.String() + "&a=2"
}

// sign is the signature as Twilio documents it, written down here a second time.
func sign(token, callback string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token))
	text := callback
	for _, key := range slices.Sorted(maps.Keys(form)) {
		text += key + form.Get(key)
	}
	_, _ = mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestOnlySignedCallbacksAreRead(t *testing.T) {
	_, callback := aDelivery()
	form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"delivered"}, "To": {"+15550142"}}
	good := sign("first-token", callback, form)
	changed := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"failed"}, "To": {"+15550142"}}
	port := "https://notify.example.test:8443/hooks/twilio?a=2"

	for _, c := range []struct {
		why, url, signature string
		form                url.Values
		forged              bool
	}{
		{"as signed", callback, good, form, false},
		{"with the token that is being rotated in", callback, sign("second-token", callback, form), form, false},
		{"with a port of its own", port, sign("first-token", port, form), form, false},
		{"no signature", callback, "", form, true},
		{"with a token of somebody else", callback, sign("third-token", callback, form), form, true},
		{"with no token at all", callback, sign("", callback, form), form, true},
		{"the body was changed", callback, good, changed, true},
		{"another delivery in the URL", callback + "0", good, form, true},
		{"another host", "https://evil.example.test/hooks/twilio", good, form, true},
		{"the internal URL instead of the public one", "http://127.0.0.1:8080/hooks/twilio?a=2", good, form, true},
	} {
		p := &provider{Config: Config{AuthToken: "first-token", AuthTokenSecondary: "second-token"}, name: "twilio"}
		r := &http.Request{Header: http.Header{}}
		if c.signature != "" {
			r.Header.Set("X-Twilio-Signature", c.signature)
		}
		receipts, err := p.ReadReceipts(r, c.url, []byte(c.form.Encode()))
		if forged := errors.Is(err, channels.ErrForged); forged != c.forged || forged && receipts != nil {
			t.Errorf("%s: %v, %v", c.why, receipts, err)
		}
	}
}

func TestWithoutASecondTokenAnEmptyOneSignsNothing(t *testing.T) {
	_, callback := aDelivery()
	form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"delivered"}}
	p := &provider{Config: Config{AuthToken: "first-token"}}
	r := &http.Request{Header: http.Header{"X-Twilio-Signature": {sign("", callback, form)}}}
	if _, err := p.ReadReceipts(r, callback, []byte(form.Encode())); !errors.Is(err, channels.ErrForged) {
		t.Errorf("signed with an empty token: %v", err)
	}
}

func TestReceipts(t *testing.T) {
	id, callback := aDelivery()
	none := tidings.DeliveryID{}
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		why, url, body string
		want           tidings.Receipt // without provider and times
	}{
		{"queued", callback, "MessageStatus=queued&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptAccepted}},
		{"handed to the carrier", callback, "MessageStatus=sent&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptSent}},
		{"arrived", callback, "MessageStatus=delivered&MessageSid=SM1&RawDlrDoneDate=2612010800", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptDelivered}},
		{"read", callback, "MessageStatus=read&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptDelivered}},
		{"no such handset", callback, "MessageStatus=undelivered&MessageSid=SM1&ErrorCode=30005", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientDead, Code: "30005"}},
		{"said STOP", callback, "MessageStatus=failed&MessageSid=SM1&ErrorCode=21610", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientOptout, Code: "21610"}},
		{"too late", callback, "MessageStatus=failed&MessageSid=SM1&ErrorCode=30036", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.OutcomeExpired, Code: "30036"}},
		{"a code never heard of", callback, "MessageStatus=failed&MessageSid=SM1&ErrorCode=39999", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientTemp, Code: "39999"}},
		{"failed without a code", callback, "MessageStatus=failed&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientTemp}},
		{"a code beside good news counts for nothing", callback, "MessageStatus=delivered&MessageSid=SM1&ErrorCode=30005", tidings.Receipt{Ref: "SM1", Delivery: id, Attempt: 2, Status: tidings.ReceiptDelivered}},
		{"no query: found by reference", hookURL, "MessageStatus=sent&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: none, Status: tidings.ReceiptSent}},
		{"an id that is none", hookURL + "?d=dlv_x&a=2", "MessageStatus=sent&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: none, Status: tidings.ReceiptSent}},
		{"an attempt that is none", hookURL + "?a=-1&d=" + id.String(), "MessageStatus=sent&MessageSid=SM1", tidings.Receipt{Ref: "SM1", Delivery: id, Status: tidings.ReceiptSent}},
	} {
		c.want.Provider, c.want.At, c.want.ReceivedAt = "twilio", now, now
		got, err := readReceipts("twilio", c.url, []byte(c.body), now)
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %+v, %v\nwant %+v", c.why, got, err, c.want)
		}
	}
}

func TestAStatusNeverHeardOfIsNoReceipt(t *testing.T) {
	for _, body := range []string{"", "MessageStatus=teleported&MessageSid=SM1", "SmsStatus=received"} {
		if got, err := readReceipts("twilio", hookURL, []byte(body), time.Time{}); len(got) != 0 || err != nil {
			t.Errorf("%q: %v, %v", body, got, err)
		}
	}
}

func FuzzReceipts(f *testing.F) {
	_, callback := aDelivery()
	f.Add(callback, []byte("MessageStatus=delivered&MessageSid=SM1"))
	f.Add(callback, []byte("MessageStatus=failed&ErrorCode=30005"))
	f.Add(hookURL+"?d=%zz", []byte("MessageStatus=%zz;&a"))
	faults := tidings.Faults()
	f.Fuzz(func(t *testing.T, callback string, body []byte) {
		receipts, err := readReceipts("twilio", callback, body, time.Now())
		if err != nil && receipts != nil {
			t.Fatal("receipts beside an error")
		}
		for _, r := range receipts {
			if r.Status == tidings.ReceiptFailed && !slices.Contains(faults, r.Outcome) {
				t.Fatalf("failed with outcome %q", r.Outcome)
			}
			if r.Status != tidings.ReceiptFailed && r.Outcome != "" {
				t.Fatalf("%s with outcome %q", r.Status, r.Outcome)
			}
			if r.Attempt < 0 || r.Attempt > 0 && r.Delivery.IsZero() {
				t.Fatalf("attempt %d of delivery %v", r.Attempt, r.Delivery)
			}
		}
	})
}
