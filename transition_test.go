package tidings_test

import (
	"testing"

	"tidings"
)

func TestTransitionsThatMustNeverHappen(t *testing.T) {
	cases := []struct {
		why      string
		from, to tidings.Status
	}{
		{"only a claim sends, and it takes what is queued", tidings.Parked, tidings.Sending},
		{"an end is not sent again", tidings.Sent, tidings.Sending},
		{"what arrived has arrived", tidings.Delivered, tidings.Bounced},
		{"what arrived is not retried", tidings.Delivered, tidings.Parked},
		{"what was accepted is not retried", tidings.Sent, tidings.Parked},
		{"a cancelled delivery does not come back", tidings.Cancelled, tidings.Parked},
		{"a cancelled delivery stays so when a receipt says no", tidings.Cancelled, tidings.Failed},
		{"a suppressed delivery does not come back", tidings.Suppressed, tidings.Queued},
	}
	for _, c := range cases {
		if tidings.CanBecome(c.from, c.to) {
			t.Errorf("%s: %s can become %s", c.why, c.from, c.to)
		}
	}
}

func TestEveryStatusHasAWayInAndNoneIsNamedTwice(t *testing.T) {
	type step struct {
		from  tidings.Status
		event tidings.Event
	}
	seen, reached := map[step]bool{}, map[tidings.Status]bool{tidings.Parked: true, tidings.Queued: true}
	for _, tr := range tidings.Transitions() {
		if seen[step{tr.From, tr.Event}] {
			t.Errorf("%s on %s stands twice", tr.Event, tr.From)
		}
		seen[step{tr.From, tr.Event}] = true
		for _, to := range tr.To {
			reached[to] = true
		}
	}
	for _, s := range []tidings.Status{tidings.Sending, tidings.Unknown, tidings.Sent, tidings.Delivered, tidings.Bounced,
		tidings.Failed, tidings.Expired, tidings.Cancelled, tidings.Suppressed, tidings.Dead} {
		if !reached[s] {
			t.Errorf("nothing leads to %s", s)
		}
	}
}
