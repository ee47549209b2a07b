package trail_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/store"
)

func digestID() tidings.NotificationID { return tidings.NewNotificationID(now()) }

// gathered is a part of a digest that it waited for on push and e-mail.
func gathered(id tidings.NotificationID, on ...tidings.Channel) *store.Trail {
	tr := one(tidings.Push)
	tr.Notification.Decisions = nil
	for _, c := range []tidings.Channel{tidings.Push, tidings.Email} {
		d := tidings.Decision{Channel: c, Action: tidings.ActionHold, Reason: tidings.ReasonDigested, Until: now()}
		tr.Notification.Decisions = append(tr.Notification.Decisions, d)
		tr.Holds = append(tr.Holds, tidings.Hold{Channel: c, Reason: tidings.ReasonDigested, Until: now(), State: tidings.HoldReleased})
	}
	tr.Digests = []store.PartOf{{Digest: tidings.Notification{ID: id, ExpiresAt: now().Add(time.Hour)}, Channels: on}}
	return tr
}

func TestAPartTellsOfEachChannelOfItsDigest(t *testing.T) {
	id := digestID()
	sent := store.TrailDelivery{Delivery: tidings.Delivery{Channel: tidings.Email, Status: tidings.Sent}}
	push := func(s tidings.Status, r tidings.Reason, tries ...tidings.Attempt) store.TrailDelivery {
		return store.TrailDelivery{Delivery: tidings.Delivery{Channel: tidings.Push, Status: s, Reason: r}, Attempts: tries}
	}
	unclear := tidings.Attempt{Number: 1, Provider: "apns", Outcome: tidings.OutcomeUnknown}
	refused := func(r tidings.Reason) []tidings.Decision {
		return []tidings.Decision{{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: r}}
	}
	for _, c := range []struct {
		why, want string
		status    tidings.NotificationStatus
		of        store.PartOf
	}{
		{"opted out of one channel before the close", "which was not sent: the user switched off push", tidings.NotificationSent,
			store.PartOf{Digest: tidings.Notification{Decisions: refused(tidings.ReasonOptedOutChannel)}, Deliveries: []store.TrailDelivery{sent}}},
		{"over a cap", "which was not sent: the user was told enough of this kind already", tidings.NotificationSent,
			store.PartOf{Digest: tidings.Notification{Decisions: refused(tidings.ReasonRateLimitedCategory)}, Deliveries: []store.TrailDelivery{sent}}},
		{"no device", "which was not sent: the user has no device for it", tidings.NotificationSent,
			store.PartOf{Digest: tidings.Notification{Decisions: refused(tidings.ReasonNoAddress)}, Deliveries: []store.TrailDelivery{sent}}},
		{"a dead token", "which could not be delivered: the provider says that the device no longer exists", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonRecipientDead), sent}}},
		{"one of two devices", "which was sent", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonRecipientDead), push(tidings.Sent, ""), sent}}},
		{"a template error", "which could not be delivered: its text could not be made from the template", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonTemplateError), sent}}},
		{"too large", "which could not be delivered: its content is too large", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonContentTooLarge), sent}}},
		{"too late", "which was not sent in time", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Expired, tidings.ReasonExpired), sent}}},
		{"erased", "which was called off: the user's data were erased", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Cancelled, tidings.ReasonErased), sent}}},
		{"given up without an answer", "which may or may not have arrived: the provider gave no clear answer", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Unknown, tidings.ReasonOutcomeUnknown, unclear), sent}}},
		{"opted out after a try without an answer", "which may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the user switched off push", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Suppressed, tidings.ReasonOptedOutChannel, unclear), sent}}},
		{"a dead token beside one that may have been told", "which may or may not have arrived: a try was left without a clear answer, and it was not tried again, since the provider refuses the message", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonRecipientDead), push(tidings.Failed, tidings.ReasonProviderRejected, unclear), sent}}},
		{"one device that may have been told beside one that was", "which was sent", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{push(tidings.Failed, tidings.ReasonProviderRejected, unclear), push(tidings.Sent, ""), sent}}},
		{"held", "which is held until 11:30:00 UTC: these are the user's quiet hours", tidings.NotificationHeld,
			store.PartOf{Deliveries: []store.TrailDelivery{sent}, Holds: []tidings.Hold{{Channel: tidings.Push, Reason: tidings.ReasonQuietHours, Until: now().Add(time.Hour)}}}},
		{"on its way", "which is on its way", tidings.NotificationSent,
			store.PartOf{Deliveries: []store.TrailDelivery{{Delivery: tidings.Delivery{Channel: tidings.Push, Status: tidings.Queued, DueAt: now()}}, sent}}},
		{"called off", "which was called off", tidings.NotificationCancelled, store.PartOf{Digest: tidings.Notification{CancelledAt: now()}}},
	} {
		tr := gathered(id, tidings.Push, tidings.Email)
		c.of.Digest.ID, c.of.Channels = id, tr.Digests[0].Channels
		tr.Digests[0] = c.of
		shown := trail.Present(tr, trail.Service{}, now())
		if clause, _, _ := strings.Cut(shown.Summary, "; "); clause != "Push is part of the digest "+id.String()+", "+c.want || shown.Status != c.status {
			t.Errorf("%s: %s, %s; want %s, %s", c.why, shown.Status, clause, c.status, c.want)
		}
	}
}

func TestWhatWasLeftOutOfADigestTellsHowItWaited(t *testing.T) {
	tr := gathered(digestID())
	tr.Digests = nil
	accepted := tr.Notification.AcceptedAt
	until := accepted.Add(10 * time.Minute)
	for i, h := range tr.Holds {
		before, err := json.Marshal(tidings.Decision{Channel: h.Channel, Action: tidings.ActionHold, Reason: tidings.ReasonDigested, Until: until, At: accepted})
		if err != nil {
			t.Fatal(err)
		}
		tr.Timeline = append(tr.Timeline, store.Moment{At: accepted, Kind: "held", Text: string(before)})
		tr.Notification.Decisions[i] = tidings.Decision{Channel: h.Channel, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired, At: until}
	}
	tr.Timeline = append(tr.Timeline, store.Moment{At: until, Kind: "released", Text: "left out of the digest ntf_1"})
	shown := trail.Present(tr, trail.Service{}, now())
	var lines []string
	for _, m := range shown.Timeline {
		lines = append(lines, m.Kind+" "+m.Text)
	}
	said := strings.Join(lines, "\n")
	for _, want := range []string{"held Push: hold until ", "held E-mail: hold until ", "since it goes out together with others", "released Left out of the digest", "decided Push: do not send, since it would have come too late"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

func TestWhatOnlySomeWereToldOfSaysSo(t *testing.T) {
	tr := gathered(digestID(), tidings.Push)
	text, err := json.Marshal(tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired, At: now()})
	if err != nil {
		t.Fatal(err)
	}
	tr.Timeline = append(tr.Timeline, store.Moment{At: now(), Kind: "released", Text: string(text)})
	shown := trail.Present(tr, trail.Service{}, now())
	last := shown.Timeline[len(shown.Timeline)-1]
	if want := "Push: left out of what the digest still sends, since it would have come too late to be of use."; last.Text != want || last.Kind != "released" {
		t.Errorf("%s: %s; want %s", last.Kind, last.Text, want)
	}
	if want := ", but what was sent last left this out: it would have come too late to be of use"; !strings.Contains(shown.Summary, want) {
		t.Errorf("%s: want %q", shown.Summary, want)
	}
}

func TestAPartWhoseDigestIsForgottenIsNotSaidToWait(t *testing.T) {
	tr := gathered(digestID())
	tr.Digests, tr.Notification.CancelledAt = nil, now()
	shown := trail.Present(tr, trail.Service{}, now())
	if want := "Push was part of a digest of which nothing is known any more; "; !strings.HasPrefix(shown.Summary, want) || shown.Status != tidings.NotificationCancelled {
		t.Errorf("%s: %s", shown.Status, shown.Summary)
	}
}

func TestAPartThatIsCalledOffSaysHowFarItsDigestWas(t *testing.T) {
	for _, c := range []struct {
		why, want string
		moments   []store.Moment
	}{
		{"it was gathering", "Push was called off while it was held.", nil},
		{"it waited in its lane, or was dead", "Push was called off before its digest was sent.",
			[]store.Moment{{At: now(), Kind: "released", Text: "part of the digest " + digestID().String() + ", which has 2"}}},
	} {
		tr := one(tidings.Push)
		tr.Notification.CancelledAt = now()
		tr.Holds = []tidings.Hold{{Channel: tidings.Push, Reason: tidings.ReasonDigested, State: tidings.HoldCancelled, CalledOff: tidings.ReasonCancelled}}
		tr.Timeline = c.moments
		if got := trail.Summary(tr, trail.Service{}, now()); got != c.want {
			t.Errorf("%s: said %s, want %s", c.why, got, c.want)
		}
	}
}
