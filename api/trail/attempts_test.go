package trail_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/store"
)

func TestTheTimelineTellsWhatIsMadeOfAnAttempt(t *testing.T) {
	dead := func(d *store.TrailDelivery, text string) {
		d.Status, d.DueAt, d.FinishedAt = tidings.Failed, time.Time{}, now()
		d.Attempts = []tidings.Attempt{{Delivery: d.ID, Number: 1, Provider: "apns", StartedAt: now(), EndedAt: now(), Outcome: tidings.RecipientDead, HTTPStatus: 410, Code: "Unregistered", Text: text}}
	}
	quick := func(d *store.TrailDelivery, before time.Duration) {
		d.Status, d.DueAt, d.FinishedAt = tidings.Delivered, time.Time{}, ago(before)
		d.Attempts = []tidings.Attempt{{Delivery: d.ID, Number: 1, Provider: "apns", StartedAt: ago(before), EndedAt: ago(before), Outcome: tidings.OutcomeUnknown, Code: store.CodeNotRecorded, Delivered: true}}
		d.Receipts = []tidings.Receipt{{Provider: "apns", Attempt: 1, Status: tidings.ReceiptDelivered, At: ago(before), ReceivedAt: ago(before)}}
	}
	for _, c := range []struct {
		why, attempt, summary string
		tr                    *store.Trail
	}{
		{"a receipt is awaited", "APNs gave no clear answer; a receipt that tells is awaited until 10:32:00 UTC, and nothing else is done before.",
			"Push was handed over without a clear answer; a receipt that tells is awaited until 10:32:00 UTC, and nothing else is done before.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.OutcomeUnknown)
				d.Status, d.Reason, d.DueAt = tidings.Unknown, tidings.ReasonOutcomeUnknown, now().Add(2*time.Minute)
			})},
		{"a receipt is awaited, and it was called off", "APNs gave no clear answer; a receipt that tells is awaited until 10:32:00 UTC.",
			"Push was handed over without a clear answer; a receipt that tells is awaited until 10:32:00 UTC, and it was called off meanwhile, so it is not tried again.",
			waiting(tidings.Push, time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.OutcomeUnknown)
				tr.Notification.CancelledAt = now()
				d.Status, d.Reason, d.DueAt = tidings.Unknown, tidings.ReasonOutcomeUnknown, now().Add(2*time.Minute)
			})},
		{"nothing is tried after no answer", "APNs gave no clear answer; it may have arrived, and is not tried again.", "Push may or may not have arrived: the provider gave no clear answer.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.OutcomeUnknown)
				d.Status, d.Reason, d.DueAt, d.FinishedAt = tidings.Unknown, tidings.ReasonOutcomeUnknown, time.Time{}, now()
			})},
		{"a receipt that ended it before the answer failed", "APNs gave no clear answer.", "Push reached the device at 10:29:15 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				quick(d, 45*time.Second)
				d.Attempts[0].Code, d.Attempts[0].EndedAt, d.Attempts[0].RetryAt = "", ago(40*time.Second), ago(35*time.Second)
			})},
		{"a newer registration", "APNs answered 410 Unregistered; the device stays in use, since it was registered again after APNs last saw it.",
			"Push could not be delivered: the provider knows only an older registration of the device, which stays in use.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				dead(d, "")
				d.Reason = tidings.ReasonRecipientRejected
			})},
		{"too many dead", "APNs answered 410 Unregistered; the device stays in use, since APNs calls so many devices dead at present that it is not believed.",
			"Push could not be delivered: the provider says that the device no longer exists.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				dead(d, "address kept, the provider calls too many dead; gone")
				d.Reason = tidings.ReasonRecipientDead
			})},
		{"a claim that nobody recorded", "The process that was sending it through APNs stopped before it told what came of it; it may have arrived; next try at 10:30:05 UTC.",
			"Push may or may not have got through yet: APNs gave no clear answer; the next try is at 10:30:05 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, 5*time.Second)
				tried(d, tidings.OutcomeUnknown)
				d.Attempts[0].Code, d.Attempts[0].RetryAt = "lease_over", now().Add(5*time.Second)
			})},
		{"a receipt that was quicker than the answer", "A receipt of APNs came before its answer to the call.", "Push reached the device at 10:29:20 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) { quick(d, 40*time.Second) })},
		{"a receipt for a claim that nobody recorded", "The process that was sending it through APNs stopped before it told what came of it; the receipts tell.", "Push reached the device at 10:28:59 UTC.",
			waiting(tidings.Push, 2*time.Minute, func(_ *store.Trail, d *store.TrailDelivery) { quick(d, 61*time.Second) })},
		{"a text that cannot be made", "The message could not be made, so APNs was not called (content too large).",
			"Push could not be delivered: its content is too large.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.ContentRejected)
				d.Attempts[0].Code = "content_too_large"
				d.Status, d.Reason, d.DueAt, d.FinishedAt = tidings.Failed, tidings.ReasonContentTooLarge, time.Time{}, now()
			})},
	} {
		t.Run(c.why, func(t *testing.T) {
			around := providers()
			around.Lease = time.Minute
			shown := trail.Present(c.tr, around, now())
			var said []string
			for _, m := range shown.Timeline {
				if m.Kind == "attempt" {
					said = append(said, m.Text)
				}
			}
			if strings.Join(said, " ") != c.attempt {
				t.Errorf("told  %s\nwant  %s", said, c.attempt)
			}
			if shown.Summary != c.summary {
				t.Errorf("said  %s\nwant  %s", shown.Summary, c.summary)
			}
		})
	}
}
