package trail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/golden"
	"tidings/internal/store"
)

// now is when every summary is asked for.
func now() time.Time { return time.Date(2026, 12, 1, 10, 30, 0, 0, time.UTC) }

func TestSummariesReadAsInTheTable(t *testing.T) {
	var b strings.Builder
	for _, s := range allStatuses() {
		fmt.Fprintf(&b, "\n# %s\n", s)
		for _, r := range append([]tidings.Reason{""}, tidings.Reasons()...) {
			tr := one(tidings.Push)
			tr.Deliveries = deliveries(tidings.Push, stand{status: s, reason: r})
			line(&b, orNone(r), tr)
		}
	}
	b.WriteString("\n# a decision not to send\n")
	for _, r := range tidings.Reasons() {
		for _, c := range []tidings.Channel{tidings.Email, tidings.SMS} {
			tr := one(c)
			tr.Notification.Decisions[0] = tidings.Decision{Channel: c, Action: tidings.ActionSuppress, Reason: r}
			line(&b, string(r), tr)
		}
	}
	b.WriteString("\n# a decision to hold\n")
	for _, r := range []tidings.Reason{tidings.ReasonScheduled, tidings.ReasonQuietHours, tidings.ReasonDigested, tidings.ReasonEscalation} {
		for _, state := range []tidings.HoldState{tidings.HoldWaiting, tidings.HoldCancelled} {
			tr := one(tidings.Email)
			until := now().Add(14 * time.Hour)
			tr.Notification.Decisions[0] = tidings.Decision{Channel: tidings.Email, Action: tidings.ActionHold, Reason: r, Until: until}
			tr.Holds = []tidings.Hold{{Channel: tidings.Email, Reason: r, Until: until, State: state}}
			line(&b, string(r)+" "+string(state), tr)
		}
	}
	golden.Check(t, "testdata/summaries.golden", b.String())
}

func TestSummariesOfSeveralAddressesAndChannels(t *testing.T) {
	gone := stand{status: tidings.Failed, reason: tidings.ReasonRecipientDead}
	for _, c := range []struct {
		why, want string
		trail     *store.Trail
	}{
		{"one of two devices, and an opt-out", "Push reached 1 of 2 devices at 10:02:11 UTC; e-mail was not sent: the user switched off e-mail for orders.", func() *store.Trail {
			tr := one(tidings.Push)
			tr.Notification.Decisions = append(tr.Notification.Decisions, tidings.Decision{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutCategory})
			tr.Deliveries = deliveries(tidings.Push, gone, stand{status: tidings.Sent})
			return tr
		}()},
		{"what is still tried is told beside what was reached", "Push reached 1 of 2 devices at 10:02:11 UTC, and 1 more under way.", pushes(stand{status: tidings.Sent}, stand{status: tidings.Parked, tries: 2})},
		{"all failed alike", "Push to 2 devices could not be delivered: the provider says that the device no longer exists.", pushes(gone, gone)},
		{"failed unlike: the most hopeful is told", "Push to 1 of 2 devices could not be delivered and needs a person: all tries failed.", pushes(gone, stand{status: tidings.Dead, reason: tidings.ReasonRetriesSpent})},
		{"a retry beats a failure", "Push to 1 of 2 devices has not got through yet; the next try is at 10:31:00 UTC.", pushes(gone, stand{status: tidings.Parked, tries: 1})},
		{"nothing but silence", "Push to 2 devices is on its way.", pushes(stand{status: tidings.Queued}, stand{status: tidings.Queued})},
		{"an e-mail that arrived", "E-mail was delivered at 10:02:11 UTC.", channel(tidings.Email, stand{status: tidings.Delivered})},
		{"one of two e-mail addresses", "E-mail was sent to 1 of 2 addresses at 10:02:11 UTC.", channel(tidings.Email, stand{status: tidings.Sent}, stand{status: tidings.Bounced})},
		{"a text message without receipt", "SMS was sent at 10:02:11 UTC.", channel(tidings.SMS, stand{status: tidings.Sent})},
		{"waiting for a receipt", "SMS was handed over without a clear answer; a receipt that tells is awaited until 10:31:00 UTC, and nothing else is done before.", channel(tidings.SMS, stand{status: tidings.Unknown, live: true, reason: tidings.ReasonOutcomeUnknown})},
		{"a test key", "SMS was only simulated, for a test key, at 10:02:11 UTC.", channel(tidings.SMS, stand{status: tidings.Sent, reason: tidings.ReasonSimulated})},
		{"expired before the sweep", "SMS was not sent in time: it would have come too late to be of use.", func() *store.Trail {
			tr := channel(tidings.SMS, stand{status: tidings.Queued})
			tr.Notification.ExpiresAt = now()
			return tr
		}()},
		{"not asked for is not told beside what was", "Push reached the device at 10:02:11 UTC.", func() *store.Trail {
			tr := pushes(stand{status: tidings.Sent})
			tr.Notification.Decisions = append(tr.Notification.Decisions, tidings.Decision{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: tidings.ReasonNotRequested})
			return tr
		}()},
		{"arrived long after it was sent", "SMS was delivered at 10:25:00 UTC.", func() *store.Trail {
			tr := channel(tidings.SMS, stand{status: tidings.Delivered})
			for _, minute := range []int{27, 25} { // the second comes out of order
				tr.Deliveries[0].Receipts = append(tr.Deliveries[0].Receipts, tidings.Receipt{Status: tidings.ReceiptDelivered, At: time.Date(2026, 12, 1, 10, minute, 0, 0, time.UTC)})
			}
			return tr
		}()},
		{"a newer one took its place", "Push was called off: a newer one took its place.", pushes(stand{status: tidings.Cancelled, reason: tidings.ReasonSuperseded})},
		{"a newer one took its place while it was sent", "Push is being sent: a newer one took its place.", pushes(stand{status: tidings.Sending, reason: tidings.ReasonSuperseded})},
		{"a newer one took its place while it was held", "E-mail was called off while it was held: a newer one took its place.", heldOff(tidings.ReasonSuperseded)},
		{"its user was erased while it was held", "E-mail was called off while it was held: the user's data were erased.", heldOff(tidings.ReasonErased)},
		{"each channel has its own reason", "Push was called off while it was held: a newer one took its place; e-mail was called off while it was held.", func() *store.Trail {
			tr := heldOff(tidings.ReasonCancelled)
			tr.Notification.Decisions = append(one(tidings.Push).Notification.Decisions, tr.Notification.Decisions...)
			tr.Holds = append(tr.Holds, tidings.Hold{Channel: tidings.Push, Reason: tidings.ReasonQuietHours, State: tidings.HoldCancelled, CalledOff: tidings.ReasonSuperseded})
			return tr
		}()},
		{"what may have arrived is the most hopeful", "Push to 1 of 2 devices may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the user switched off push.", func() *store.Trail {
			tr := pushes(stand{status: tidings.Dead, reason: tidings.ReasonRetriesSpent}, stand{status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel})
			tr.Deliveries[1].Attempts = []tidings.Attempt{{Provider: "apns", Outcome: tidings.OutcomeUnknown}}
			return tr
		}()},
		{"one of two alike ends may have arrived", "Push to 1 of 2 devices may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the provider says that the device no longer exists.", func() *store.Trail {
			tr := pushes(gone, gone)
			tr.Deliveries[1].Attempts = []tidings.Attempt{{Provider: "apns", Outcome: tidings.OutcomeUnknown}}
			return tr
		}()},
		{"nothing decided", "Nothing was asked for.", &store.Trail{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := trail.Summary(c.trail, trail.Service{}, now()); got != c.want {
				t.Errorf("said  %s\nwant  %s", got, c.want)
			}
		})
	}
}

// heldOff is a trail of an e-mail that was called off while it was held.
func heldOff(why tidings.Reason) *store.Trail {
	tr := one(tidings.Email)
	tr.Holds = []tidings.Hold{{Channel: tidings.Email, Reason: tidings.ReasonQuietHours, State: tidings.HoldCancelled, CalledOff: why}}
	return tr
}

func TestWhatMayHaveArrivedIsNeverSaidToBeUnsent(t *testing.T) {
	unclear := tidings.Attempt{Provider: "twilio", Outcome: tidings.OutcomeUnknown}
	for _, c := range []struct {
		why, want string
		stand     stand
		attempts  []tidings.Attempt
	}{
		{"expired while word was awaited", "SMS may or may not have arrived: the provider gave no clear answer, and it is too late for another try.",
			stand{status: tidings.Expired, reason: tidings.ReasonExpired}, []tidings.Attempt{unclear}},
		{"tries spent", "SMS may or may not have arrived and needs a person: all tries failed or were left without a clear answer.",
			stand{status: tidings.Dead, reason: tidings.ReasonRetriesSpent}, []tidings.Attempt{unclear, {Outcome: tidings.Transient}}},
		{"called off", "SMS was called off, but may have arrived: the provider gave no clear answer.",
			stand{status: tidings.Cancelled, reason: tidings.ReasonCancelled}, []tidings.Attempt{unclear}},
		{"a newer one took its place", "SMS was called off since a newer one took its place, but may have arrived: the provider gave no clear answer.",
			stand{status: tidings.Cancelled, reason: tidings.ReasonSuperseded}, []tidings.Attempt{unclear}},
		{"its user was erased", "SMS was called off since the user's data were erased, but may have arrived: the provider gave no clear answer.",
			stand{status: tidings.Cancelled, reason: tidings.ReasonErased}, []tidings.Attempt{unclear}},
		{"poison", "SMS may or may not have arrived and needs a person: whatever worked on it broke off, again and again.",
			stand{status: tidings.Dead, reason: tidings.ReasonPoison}, []tidings.Attempt{unclear}},
		{"an opt-out before the next try", "SMS may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the user switched off SMS.",
			stand{status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel}, []tidings.Attempt{unclear}},
		{"a number that moved before the next try", "SMS may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the number belongs to another user now.",
			stand{status: tidings.Suppressed, reason: tidings.ReasonAddressMoved}, []tidings.Attempt{unclear}},
		{"refused at the next try", "SMS may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the provider says that the number no longer exists.",
			stand{status: tidings.Failed, reason: tidings.ReasonRecipientDead}, []tidings.Attempt{unclear, {Number: 2, Outcome: tidings.RecipientDead}}},
		{"an older registration at the next try", "SMS may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the provider knows only an older registration of the number, which stays in use.",
			stand{status: tidings.Failed, reason: tidings.ReasonRecipientRejected}, []tidings.Attempt{unclear, {Number: 2, Outcome: tidings.RecipientDead}}},
		{"a text that cannot be made any more", "SMS may or may not have arrived: a try was left without a clear answer, and it was not tried again, since its text could not be made from the template.",
			stand{status: tidings.Failed, reason: tidings.ReasonTemplateError}, []tidings.Attempt{unclear}},
		{"the recipient could take nothing until all tries were spent", "SMS may or may not have arrived: all tries failed or were left without a clear answer.",
			stand{status: tidings.Failed, reason: tidings.ReasonRetriesSpent}, []tidings.Attempt{unclear, {Number: 2, Outcome: tidings.RecipientTemp}}},
		{"the account is refused since", "SMS may or may not have arrived and needs a person: a try was left without a clear answer, and it was not tried again, since the provider refuses our account or set-up.",
			stand{status: tidings.Dead, reason: tidings.ReasonProviderBroken}, []tidings.Attempt{unclear, {Number: 2, Outcome: tidings.ConfigFault}}},
		{"no provider is left", "SMS may or may not have arrived and needs a person: a try was left without a clear answer, and it was not tried again, since no provider is configured for it.",
			stand{status: tidings.Dead, reason: tidings.ReasonNoProvider}, []tidings.Attempt{unclear}},
		{"another try came back", "SMS may or may not have arrived: a try was left without a clear answer, and another came back.",
			stand{status: tidings.Bounced}, []tidings.Attempt{unclear, {Number: 2, Outcome: tidings.OK, Refused: true}}},
		{"refused by a receipt after a late answer that was none", "SMS could not be delivered: the provider refuses the message.",
			stand{status: tidings.Failed, reason: tidings.ReasonProviderRejected}, []tidings.Attempt{
				{Number: 1, Outcome: tidings.OutcomeUnknown, Refused: true}, {Number: 1, Late: true, Outcome: tidings.OutcomeUnknown, Refused: true}}},
		{"refused by a receipt", "SMS was not sent in time: it would have come too late to be of use.",
			stand{status: tidings.Expired, reason: tidings.ReasonExpired}, []tidings.Attempt{{Outcome: tidings.OutcomeUnknown, Refused: true}}},
		{"answered after all", "SMS could not be delivered and needs a person: all tries failed.",
			stand{status: tidings.Dead, reason: tidings.ReasonRetriesSpent}, []tidings.Attempt{{Number: 1, Outcome: tidings.OutcomeUnknown}, {Number: 1, Late: true, Outcome: tidings.Transient}}},
	} {
		t.Run(c.why, func(t *testing.T) {
			tr := channel(tidings.SMS, c.stand)
			tr.Deliveries[0].Attempts = c.attempts
			if got := trail.Summary(tr, trail.Service{}, now()); got != c.want {
				t.Errorf("said  %s\nwant  %s", got, c.want)
			}
		})
	}
}

func TestADayThatIsNotTodayIsNamed(t *testing.T) {
	tr := pushes(stand{status: tidings.Sent})
	if got, want := trail.Summary(tr, trail.Service{}, now().Add(24*time.Hour)), "Push reached the device at 10:02:11 UTC on 1 December 2026."; got != want {
		t.Errorf("said %s, want %s", got, want)
	}
}

// A stand is where a delivery of a test stands.
type stand struct {
	status tidings.Status
	reason tidings.Reason
	tries  int
	live   bool
}

func allStatuses() []tidings.Status {
	return []tidings.Status{tidings.Parked, tidings.Queued, tidings.Sending, tidings.Unknown, tidings.Sent, tidings.Delivered, tidings.Bounced,
		tidings.Failed, tidings.Expired, tidings.Cancelled, tidings.Suppressed, tidings.Dead}
}

// one is a trail with one decision to send.
func one(c tidings.Channel) *store.Trail {
	return &store.Trail{Notification: tidings.Notification{
		ID: tidings.NewNotificationID(now()), App: "shop", Type: "order.shipped", UserID: "u_4711", Category: "orders",
		AcceptedAt: now().Add(-time.Hour), ExpiresAt: now().Add(time.Hour),
		Decisions: []tidings.Decision{{Channel: c, Action: tidings.ActionSend, Addresses: 1}},
	}}
}

func pushes(all ...stand) *store.Trail { return channel(tidings.Push, all...) }

func channel(c tidings.Channel, all ...stand) *store.Trail {
	tr := one(c)
	tr.Deliveries = deliveries(c, all...)
	return tr
}

func deliveries(c tidings.Channel, all ...stand) []store.TrailDelivery {
	var out []store.TrailDelivery
	for i, s := range all {
		d := tidings.Delivery{ID: tidings.DeliveryOf(tidings.NotificationID{}, i), Channel: c, Status: s.status, Reason: s.reason, Tries: s.tries, QueuedAt: time.Date(2026, 12, 1, 10, 2, 0, 0, time.UTC)}
		switch s.status {
		case tidings.Parked, tidings.Queued, tidings.Sending:
			d.DueAt, d.QueuedAt = now().Add(time.Minute), now()
		default:
			d.FinishedAt = time.Date(2026, 12, 1, 10, 2, 11, 0, time.UTC)
		}
		if s.live {
			d.DueAt, d.FinishedAt = now().Add(time.Minute), time.Time{}
		}
		out = append(out, store.TrailDelivery{Delivery: d})
	}
	return out
}

func line(b *strings.Builder, label string, t *store.Trail) {
	fmt.Fprintf(b, "%-24s %s\n", label, trail.Summary(t, trail.Service{}, now()))
}

func orNone(r tidings.Reason) string {
	if r == "" {
		return "-"
	}
	return string(r)
}
