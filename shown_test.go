package tidings_test

import (
	"testing"
	"time"

	"tidings"
)

func TestADeliveryShowsWhatAPersonCanUse(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	later, earlier := now.Add(time.Minute), now.Add(-time.Minute)
	for _, c := range []struct {
		why      string
		delivery tidings.Delivery
		expires  time.Time
		want     tidings.Status
		final    bool
	}{
		{"not tried yet", tidings.Delivery{Status: tidings.Parked, DueAt: now}, later, tidings.Queued, false},
		{"in its lane for the first time", tidings.Delivery{Status: tidings.Queued, DueAt: now}, later, tidings.Queued, false},
		{"parked for a second try", tidings.Delivery{Status: tidings.Parked, DueAt: now, Tries: 1}, later, tidings.Retrying, false},
		{"in its lane for a second try", tidings.Delivery{Status: tidings.Queued, DueAt: now, Tries: 1}, later, tidings.Retrying, false},
		{"parked after a try that does not count", tidings.Delivery{Status: tidings.Parked, DueAt: now, ClaimNo: 1}, later, tidings.Retrying, false},
		{"redriven, and not tried since", tidings.Delivery{Status: tidings.Queued, DueAt: now, ClaimNo: 5, Reason: tidings.ReasonRedriven}, later, tidings.Queued, false},
		{"waits, but of no more use", tidings.Delivery{Status: tidings.Parked, DueAt: later}, earlier, tidings.Expired, true},
		{"expiry is the first useless instant", tidings.Delivery{Status: tidings.Queued, DueAt: now}, now, tidings.Expired, true},
		{"a call under way outlives the expiry", tidings.Delivery{Status: tidings.Sending, DueAt: later}, earlier, tidings.Sending, false},
		{"a receipt may still come", tidings.Delivery{Status: tidings.Unknown, DueAt: later}, later, tidings.Unknown, false},
		{"no receipt will be waited for", tidings.Delivery{Status: tidings.Unknown}, later, tidings.Unknown, true},
		{"an end is an end", tidings.Delivery{Status: tidings.Sent}, earlier, tidings.Sent, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			got, final := c.delivery.Shown(c.expires, now)
			if got != c.want || final != c.final {
				t.Errorf("Shown = %s, final %t; want %s, %t", got, final, c.want, c.final)
			}
		})
	}
}

func TestANotificationIsTheBestOfItsDeliveries(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	live := func(s tidings.Status) tidings.Delivery { return tidings.Delivery{Status: s, DueAt: now} }
	end := func(s tidings.Status) tidings.Delivery { return tidings.Delivery{Status: s} }
	type list = []tidings.Delivery
	for _, c := range []struct {
		why        string
		deliveries list
		holding    bool
		cancelled  bool
		want       tidings.NotificationStatus
	}{
		{"nobody to send to", nil, false, false, tidings.NotificationSuppressed},
		{"only held", nil, true, false, tidings.NotificationHeld},
		{"cancelled while held", nil, false, true, tidings.NotificationCancelled},
		{"one device is enough", list{end(tidings.Failed), end(tidings.Delivered)}, false, false, tidings.NotificationDelivered},
		{"sent beats what is under way", list{live(tidings.Sending), end(tidings.Sent)}, false, false, tidings.NotificationSent},
		{"under way beats failure", list{end(tidings.Dead), live(tidings.Queued)}, false, false, tidings.NotificationAccepted},
		{"waiting for a receipt is under way", list{live(tidings.Unknown)}, false, false, tidings.NotificationAccepted},
		{"unknown for good is a failure", list{end(tidings.Unknown), end(tidings.Expired)}, false, false, tidings.NotificationFailed},
		{"a bounce is a failure", list{end(tidings.Bounced), end(tidings.Cancelled)}, false, false, tidings.NotificationFailed},
		{"expired beats cancelled", list{end(tidings.Cancelled), end(tidings.Expired)}, false, false, tidings.NotificationExpired},
		{"cancelled beats suppressed", list{end(tidings.Suppressed), end(tidings.Cancelled)}, false, true, tidings.NotificationCancelled},
		{"what is under way comes before what is held", list{live(tidings.Queued)}, true, false, tidings.NotificationAccepted},
		{"nothing is under way and more is to come", list{end(tidings.Sent)}, true, false, tidings.NotificationHeld},
	} {
		t.Run(c.why, func(t *testing.T) {
			n := tidings.Notification{ExpiresAt: now.Add(time.Hour)}
			if c.cancelled {
				n.CancelledAt = now
			}
			if got := tidings.Summarise(&n, c.deliveries, c.holding, now); got != c.want {
				t.Errorf("Summarise = %s, want %s", got, c.want)
			}
		})
	}
}
