package trail_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/api/wire"
	"tidings/internal/store"
)

// story is a notification whose first push failed for good and whose e-mail was sent at the
// second try and arrived.
func story() *store.Trail {
	at := func(s string) time.Time {
		t, err := time.Parse(time.RFC3339, "2026-12-01T10:02:"+s+"Z")
		if err != nil {
			panic(err)
		}
		return t
	}
	id := tidings.NewNotificationID(at("00"))
	push, mail := tidings.DeliveryOf(id, 0), tidings.DeliveryOf(id, 1)
	return &store.Trail{
		Notification: tidings.Notification{
			ID: id, App: "shop", Type: "order.shipped", UserID: "u_4711", Category: "orders", CatalogVersion: 3, DedupeKey: "k",
			Data: json.RawMessage(`{"secret":"canary"}`), AcceptedAt: at("00"), ExpiresAt: at("00").Add(24 * time.Hour),
			Decisions: []tidings.Decision{
				{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: 1, At: at("00")},
				{Channel: tidings.Email, Action: tidings.ActionSend, Addresses: 1, At: at("00")},
			},
		},
		Deliveries: []store.TrailDelivery{
			{
				Delivery: tidings.Delivery{ID: push, Channel: tidings.Push, Lane: "push.bulk", Address: "dead56789abcdef0123456780f", Status: tidings.Failed,
					Reason: tidings.ReasonRecipientDead, QueuedAt: at("00"), FinishedAt: at("01")},
				Attempts: []tidings.Attempt{{Delivery: push, Number: 1, Provider: "apns", StartedAt: at("01"), EndedAt: at("01"), Outcome: tidings.RecipientDead, HTTPStatus: 410, Code: "Unregistered"}},
			},
			{
				Delivery: tidings.Delivery{ID: mail, Channel: tidings.Email, Lane: "email.bulk", Address: "ann@example.test", Status: tidings.Delivered, QueuedAt: at("00"), FinishedAt: at("13")},
				Attempts: []tidings.Attempt{
					{Delivery: mail, Number: 1, Provider: "mail-eu", StartedAt: at("02"), EndedAt: at("03"), Outcome: tidings.Transient, HTTPStatus: 503, Code: "Busy", RetryAt: at("12")},
					{Delivery: mail, Number: 2, Provider: "mail-eu", StartedAt: at("12"), EndedAt: at("13"), Outcome: tidings.OK, Ref: "r-1", Delivered: true},
				},
				Receipts: []tidings.Receipt{{Provider: "mail-eu", Ref: "r-1", Delivery: mail, Status: tidings.ReceiptDelivered, At: at("15"), ReceivedAt: at("16")}},
			},
		},
		Timeline: []store.Moment{{At: at("01"), Kind: "address_retired", Delivery: push, Text: "The device is no longer used"}},
	}
}

func types() trail.Service {
	return trail.Service{Providers: map[string]trail.Provider{"apns": {Type: "apns", Channel: tidings.Push}, "mail-eu": {Type: "ses", Channel: tidings.Email}}}
}

func TestTheTimelineTellsTheStoryInOrder(t *testing.T) {
	var b strings.Builder
	for _, m := range trail.Present(story(), types(), now()).Timeline {
		b.WriteString(m.At.Format("15:04:05 ") + m.Kind + ": " + m.Text + "\n")
	}
	want := `10:02:00 accepted: Accepted from shop.
10:02:00 decided: Push: send to 1 device.
10:02:00 decided: E-mail: send to 1 address.
10:02:00 queued: Push to dead…0f waits for its turn in the lane push.bulk.
10:02:00 queued: E-mail to a***@example.test waits for its turn in the lane email.bulk.
10:02:01 attempt: APNs answered 410 Unregistered.
10:02:01 address_retired: The device is no longer used.
10:02:03 attempt: SES (mail-eu) answered 503 Busy; next try at 10:02:12 UTC.
10:02:13 attempt: SES (mail-eu) accepted it.
10:02:15 receipt: SES (mail-eu) reports: delivered.
`
	if b.String() != want {
		t.Errorf("told\n%s\nwant\n%s", b.String(), want)
	}
}

func TestAttemptsAreToldForWhatTheyWere(t *testing.T) {
	for _, c := range []struct {
		why, want string
		attempt   tidings.Attempt
	}{
		{"no answer", "Twilio gave no clear answer.", tidings.Attempt{Provider: "twilio", Outcome: tidings.OutcomeUnknown}},
		{"never left", "Twilio could not be reached; nothing was sent.", tidings.Attempt{Provider: "twilio", Outcome: tidings.NotSent}},
		{"a fault without code", "Twilio did not take it: our allowance with it is used up.", tidings.Attempt{Provider: "twilio", Outcome: tidings.QuotaSpent}},
		{"late", "Twilio accepted it, after its time was up.", tidings.Attempt{Provider: "twilio", Outcome: tidings.OK, Late: true}},
		{"cut off at a stage that has a name", "The mail server gave no clear answer (it broke off after the whole message was handed over).", tidings.Attempt{Provider: "smtp", Outcome: tidings.OutcomeUnknown, Code: "dot"}},
		{"cut off before anything was sent", "The conversation with the mail server broke off before the message was handed over; nothing was sent.", tidings.Attempt{Provider: "smtp", Outcome: tidings.NotSent, Code: "rcpt"}},
		{"a reply that settles nothing", "The mail server answered 354.", tidings.Attempt{Provider: "smtp", Outcome: tidings.OutcomeUnknown, Code: "354"}},
		{"a status that settles nothing", "Twilio answered 502 20502.", tidings.Attempt{Provider: "twilio", Outcome: tidings.OutcomeUnknown, HTTPStatus: 502, Code: "20502"}},
		{"a type without a name of its own", "Carrier answered 500.", tidings.Attempt{Provider: "carrier", Outcome: tidings.Transient, HTTPStatus: 500}},
	} {
		tr := one(tidings.SMS)
		tr.Deliveries = deliveries(tidings.SMS, stand{status: tidings.Sent})
		tr.Deliveries[0].Attempts = []tidings.Attempt{c.attempt}
		said := ""
		for _, m := range trail.Present(tr, trail.Service{Providers: map[string]trail.Provider{"twilio": {Type: "twilio"}, "smtp": {Type: "smtp"}}}, now()).Timeline {
			if m.Kind == "attempt" {
				said = m.Text
			}
		}
		if said != c.want {
			t.Errorf("%s: told %q, want %q", c.why, said, c.want)
		}
	}
}

func TestTheTimelineTellsOfEndsThatNoAttemptBrought(t *testing.T) {
	for _, c := range []struct {
		why, kind, want string
		stand           stand
		past            bool
		tried           []tidings.Attempt
	}{
		{"expired and swept", "expired", "SMS to +1555***00 is not sent any more: it would come too late to be of use.", stand{status: tidings.Expired, reason: tidings.ReasonExpired}, true, nil},
		{"expired before the sweep", "expired", "SMS to +1555***00 is not sent any more: it would come too late to be of use.", stand{status: tidings.Queued}, true, nil},
		{"an opt-out since it was accepted", "decided", "SMS to +1555***00 is not sent, since the user switched off SMS.", stand{status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel}, false, nil},
		{"an opt-out after a try", "decided", "SMS to +1555***00 is not tried again, since the user switched off SMS.", stand{status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel}, false,
			[]tidings.Attempt{{Provider: "twilio", Outcome: tidings.OutcomeUnknown}}},
	} {
		tr := channel(tidings.SMS, c.stand)
		tr.Deliveries[0].Address, tr.Deliveries[0].Attempts = "+15550100", c.tried
		if c.past {
			tr.Notification.ExpiresAt = now()
		}
		var last wire.Moment
		for _, m := range trail.Present(tr, trail.Service{}, now()).Timeline {
			last = m
		}
		if last.Kind != c.kind || last.Text != c.want || last.DeliveryID != tr.Deliveries[0].ID {
			t.Errorf("%s: told %+v, want %s: %s", c.why, last, c.kind, c.want)
		}
	}
}

func TestASimulatedAttemptNamesNobodyAsHavingAccepted(t *testing.T) {
	tr := channel(tidings.SMS, stand{status: tidings.Sent, reason: tidings.ReasonSimulated})
	tr.Notification.Test = true
	tr.Deliveries[0].Attempts = []tidings.Attempt{{Provider: "twilio", Outcome: tidings.OK}}
	for _, m := range trail.Present(tr, trail.Service{Providers: map[string]trail.Provider{"twilio": {Type: "twilio"}}}, now()).Timeline {
		if m.Kind == "attempt" && m.Text != "Simulated for a test key; Twilio was not called." {
			t.Errorf("told %q", m.Text)
		}
	}
}

func TestATrailShowsNeitherAddressesNorData(t *testing.T) {
	b, err := json.Marshal(trail.Present(story(), types(), now()))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"ann@", "dead56789", "canary"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%s is shown: %s", secret, b)
		}
	}
}

func TestATrailShowsStatusesAsPeopleAreToldThem(t *testing.T) {
	for _, c := range []struct {
		why   string
		stand stand
		past  bool // the expiry is past
		want  string
	}{
		{"parked shows as queued", stand{status: tidings.Parked}, false, `"status":"queued","final":false`},
		{"parked after a try shows as retrying", stand{status: tidings.Parked, tries: 1}, false, `"status":"retrying","final":false`},
		{"queued past its expiry shows as expired", stand{status: tidings.Queued}, true, `"status":"expired","final":true,"reason":"expired","due_at":null`},
		{"unknown that waits is not final", stand{status: tidings.Unknown, live: true}, false, `"status":"unknown","final":false`},
		{"unknown given up is final", stand{status: tidings.Unknown}, false, `"status":"unknown","final":true`},
	} {
		tr := channel(tidings.Push, c.stand)
		if c.past {
			tr.Notification.ExpiresAt = now()
		}
		b, err := json.Marshal(trail.Present(tr, trail.Service{}, now()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), c.want) {
			t.Errorf("%s: no %s in %s", c.why, c.want, b)
		}
	}
}

func TestListsOfATrailAreNeverNull(t *testing.T) {
	b, err := json.Marshal(trail.Present(channel(tidings.Push, stand{status: tidings.Queued}), trail.Service{}, now()))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"decisions", "holds", "deliveries", "attempts", "receipts", "timeline"} {
		if strings.Contains(string(b), `"`+list+`":null`) {
			t.Errorf("%s is null: %s", list, b)
		}
	}
}

func TestATimelineKeepsThatADeliveryNeededAPerson(t *testing.T) {
	tr := pushes(stand{status: tidings.Dead, reason: tidings.ReasonPoison})
	d := &tr.Deliveries[0]
	d.Address, d.FinishedAt = "dead56789abcdef0123456780f", now()
	tr.Timeline = []store.Moment{{At: now().Add(-time.Hour), Kind: "died", Delivery: d.ID, Text: "retries_spent"}, {At: now().Add(-time.Minute), Kind: "redriven", Delivery: d.ID, Text: "an operator asked for another try"}}
	want := []string{
		"decided: Push to dead…0f needs a person now, since all tries failed.",
		"redriven: An operator asked for another try.",
		"decided: Push to dead…0f needs a person now, since whatever worked on it broke off, again and again.",
	}
	if got := kinds(tr, "decided", "redriven"); strings.Join(got[len(got)-3:], "\n") != strings.Join(want, "\n") {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
