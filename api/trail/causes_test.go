package trail_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/store"
)

// decidedOn is a trail of one decision about a channel.
func decidedOn(d tidings.Decision) *store.Trail {
	tr := one(d.Channel)
	d.At = tr.Notification.AcceptedAt
	tr.Notification.Category, tr.Notification.Decisions = "social", []tidings.Decision{d}
	if d.Action == tidings.ActionHold {
		tr.Holds = []tidings.Hold{{Channel: d.Channel, Reason: d.Reason, Until: d.Until, State: tidings.HoldWaiting}}
	}
	return tr
}

// kinds are the lines of a timeline of some kinds, as "kind: text".
func kinds(tr *store.Trail, some ...string) (lines []string) {
	for _, m := range trail.Present(tr, trail.Service{}, now()).Timeline {
		if strings.Contains(strings.Join(some, " "), m.Kind) {
			lines = append(lines, m.Kind+": "+m.Text)
		}
	}
	return lines
}

func TestWhatOneReasonCoversIsToldApart(t *testing.T) {
	until := now().Add(time.Hour)
	for _, c := range []struct {
		why, summary, line string
		decision           tidings.Decision
	}{
		{"a muted thread", "Push was not sent: the user muted this thread of social.", "decided: Push: do not send, since the user muted this thread of social.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutCategory, Cause: tidings.CauseThread}},
		{"no yes at all", "Push was not sent: the user has not agreed to social.", "decided: Push: do not send, since the user has not agreed to social.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonConsentMissing}},
		{"no yes to the channel", "Push was not sent: the user has not agreed to push for social.", "decided: Push: do not send, since the user has not agreed to push for social.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonConsentMissing, Cause: tidings.CauseChannel}},
		{"the user's quiet hours", "Push is held until 11:30:00 UTC: these are the user's quiet hours.", "held: Push: hold until 11:30:00 UTC, since these are the user's quiet hours.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionHold, Reason: tidings.ReasonQuietHours, Until: until}},
		{"hours of the law", "SMS is held until 11:30:00 UTC: the law of the phone's country keeps marketing texts back until then.",
			"held: SMS: hold until 11:30:00 UTC, since the law of the phone's country keeps marketing texts back until then.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionHold, Reason: tidings.ReasonQuietHours, Cause: tidings.CauseLaw, Until: until}},
		{"hours of the catalogue", "SMS is held until 11:30:00 UTC: the catalogue's hours for the phone's country keep marketing texts back until then.",
			"held: SMS: hold until 11:30:00 UTC, since the catalogue's hours for the phone's country keep marketing texts back until then.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionHold, Reason: tidings.ReasonQuietHours, Cause: tidings.CauseWindow, Until: until}},
		{"no moment is left", "SMS was not sent: the hours in which marketing texts may come leave no moment for it.",
			"decided: SMS: do not send, since the hours in which marketing texts may come leave no moment for it.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionSuppress, Reason: tidings.ReasonQuietHours, Cause: tidings.CauseNever}},
		{"a country without a route", "SMS was not sent: no provider is configured for numbers of that country.", "decided: SMS: do not send, since no provider is configured for numbers of that country.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionSuppress, Reason: tidings.ReasonNoProvider, Cause: tidings.CauseRoute}},
		{"a token whose provider is gone", "Push was not sent: no provider is configured for the kind of device that the user has.", "decided: Push: do not send, since no provider is configured for the kind of device that the user has.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonNoProvider, Cause: tidings.CauseRoute}},
		{"no provider at all", "SMS was not sent: no provider is configured for it.", "decided: SMS: do not send, since no provider is configured for it.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionSuppress, Reason: tidings.ReasonNoProvider}},
		{"quiet hours that outlast it", "Push was not sent: the user's quiet hours last for longer than it is of use.",
			"decided: Push: do not send, since the user's quiet hours last for longer than it is of use.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired, Cause: tidings.CauseQuiet}},
		{"hours of the law that outlast it", "SMS was not sent: the law of the phone's country keeps marketing texts back for longer than it is of use.",
			"decided: SMS: do not send, since the law of the phone's country keeps marketing texts back for longer than it is of use.",
			tidings.Decision{Channel: tidings.SMS, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired, Cause: tidings.CauseLaw}},
		{"a cap that outlasts it", "Push was not sent: the user was told enough already, and may be told more only when it is of no use any more.",
			"decided: Push: do not send, since the user was told enough already, and may be told more only when it is of no use any more.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired, Cause: tidings.CauseLimits}},
		{"too late for no other reason", "Push was not sent: it would have come too late to be of use.", "decided: Push: do not send, since it would have come too late to be of use.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired}},
		{"a loop", "Push was not sent: the app posts in a circle.", "decided: Push: do not send, since the app posts in a circle.",
			tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonLoopBrake}},
	} {
		tr := decidedOn(c.decision)
		if got := trail.Summary(tr, trail.Service{}, now()); got != c.summary {
			t.Errorf("%s: %q, want %q", c.why, got, c.summary)
		}
		if got := kinds(tr, "decided", "held"); len(got) != 1 || got[0] != c.line {
			t.Errorf("%s: told %q, want %q", c.why, got, c.line)
		}
	}
}

func TestWhatWasQueuedIsToldApartToo(t *testing.T) {
	tr := channel(tidings.Push, stand{status: tidings.Suppressed, reason: tidings.ReasonOptedOutCategory})
	tr.Notification.Category = "social"
	id := tr.Deliveries[0].ID
	tr.Timeline = []store.Moment{{At: now(), Kind: "decided", Delivery: id, Text: "the cause is thread"}}
	if got, want := trail.Summary(tr, trail.Service{}, now()), "Push was not sent: the user muted this thread of social."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := kinds(tr, "decided"); !strings.HasSuffix(got[len(got)-1], "is not sent, since the user muted this thread of social.") || strings.Contains(strings.Join(got, " "), "cause") {
		t.Errorf("told %q", got)
	}
	tr = channel(tidings.SMS, stand{status: tidings.Expired, reason: tidings.ReasonExpired})
	tr.Timeline = []store.Moment{{At: now(), Kind: "decided", Delivery: tr.Deliveries[0].ID, Text: "the cause is window"}}
	const window = "the catalogue's hours for the phone's country keep marketing texts back for longer than it is of use."
	if got, want := trail.Summary(tr, trail.Service{}, now()), "SMS was not sent in time: "+window; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := kinds(tr, "expired"); len(got) != 1 || !strings.HasSuffix(got[0], "is not sent any more: "+window) {
		t.Errorf("told %q", got)
	}
	tr = channel(tidings.SMS, stand{status: tidings.Parked})
	tr.Deliveries[0].DueAt, tr.Deliveries[0].Reason = now().Add(time.Hour), tidings.ReasonQuietHours
	tr.Timeline = []store.Moment{{At: now(), Kind: "held", Delivery: tr.Deliveries[0].ID, Text: "waits for the end of quiet hours at 2026-11-29T11:30:00Z by law"}}
	until := trail.Summary(tr, trail.Service{}, now())
	if !strings.HasPrefix(until, "SMS waits until 11:30:00 UTC") || !strings.HasSuffix(until, ": the law of the phone's country keeps marketing texts back until then.") {
		t.Errorf("%q", until)
	}
}

// The route of a dead letter may have been mended since, and something else be wrong with it.
func TestWhatSomethingDiedOfIsNotTheCauseOfWhatCameLater(t *testing.T) {
	tr := channel(tidings.SMS, stand{status: tidings.Dead, reason: tidings.ReasonNoProvider})
	d := &tr.Deliveries[0]
	d.Address, d.FinishedAt = "+15550100", now().Add(-time.Hour)
	tr.Timeline = []store.Moment{{At: d.FinishedAt, Kind: "decided", Delivery: d.ID, Text: "the cause is route"}}
	const line = "decided: SMS to +1555***00 needs a person now, since no provider is configured for numbers of that country."
	if got, want := trail.Summary(tr, trail.Service{}, now()), "SMS could not be delivered and needs a person: no provider is configured for numbers of that country."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := kinds(tr, "decided"); got[len(got)-1] != line {
		t.Errorf("told %q", got)
	}
	tr.Timeline = append(tr.Timeline, store.Moment{At: d.FinishedAt, Kind: "died", Delivery: d.ID, Text: "no_provider"}, store.Moment{At: now(), Kind: "redriven", Delivery: d.ID})
	d.Status, d.Reason, d.FinishedAt = tidings.Suppressed, tidings.ReasonOptedOutChannel, now()
	if got, want := trail.Summary(tr, trail.Service{}, now()), "SMS was not sent: the user switched off SMS."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := kinds(tr, "decided"); !slices.Contains(got, line) {
		t.Errorf("told %q", got)
	}
}

func TestATimelineKeepsWhatWasDecidedBefore(t *testing.T) {
	tr := decidedOn(tidings.Decision{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: 1})
	at := tr.Notification.AcceptedAt
	tr.Notification.Decisions[0].At = at.Add(time.Hour)
	tr.Timeline = []store.Moment{
		{At: at, Kind: "held", Text: `{"channel":"push","action":"hold","reason":"quiet_hours","until":"` + at.Add(time.Hour).UTC().Format(time.RFC3339) + `","at":"` + at.UTC().Format(time.RFC3339) + `"}`},
		{At: at.Add(time.Hour), Kind: "released", Text: "push, email, sms"},
	}
	clock := at.Add(time.Hour).UTC().Format("15:04:05") + " UTC"
	want := []string{
		"held: Push: hold until " + clock + ", since these are the user's quiet hours.",
		"released: The time has come for push, e-mail and SMS, so it is decided again.",
		"decided: Push: send to 1 device.",
	}
	if got := kinds(tr, "decided", "held", "released"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	tr.Timeline = []store.Moment{{At: at, Kind: "cancelled", Text: "what was held for sms, email is superseded by ntf_1, a newer event with the same collapse_key"}}
	if got := kinds(tr, "cancelled"); got[0] != "cancelled: What was held for SMS and e-mail is superseded by ntf_1, a newer event with the same collapse_key." {
		t.Errorf("told %q", got)
	}
}

func TestATimelineTellsOfChannelsInTheOrderOfTheDecisions(t *testing.T) {
	channels := []tidings.Channel{tidings.SMS, tidings.Push, tidings.Email}
	at := now().Add(-time.Hour).Truncate(time.Second)
	held := func(c tidings.Channel) tidings.Decision {
		return tidings.Decision{Channel: c, Action: tidings.ActionHold, Reason: tidings.ReasonQuietHours, Until: at.Add(time.Minute), At: at}
	}
	released := func(some ...tidings.Channel) *store.Trail {
		tr := one(tidings.Push)
		tr.Notification.AcceptedAt, tr.Notification.Decisions = at, nil
		for _, c := range channels {
			d := held(c)
			if slices.Contains(some, c) {
				text, _ := json.Marshal(d)
				tr.Timeline = append(tr.Timeline, store.Moment{At: at, Kind: "held", Text: string(text)})
				d = tidings.Decision{Channel: c, Action: tidings.ActionSuppress, Reason: tidings.ReasonNoAddress, At: at.Add(time.Minute)}
			}
			tr.Notification.Decisions = append(tr.Notification.Decisions, d)
		}
		slices.Reverse(tr.Timeline)
		return tr
	}
	for _, some := range [][]tidings.Channel{nil, {tidings.Push}, {tidings.SMS}, {tidings.Email, tidings.SMS}, channels} {
		var told []string
		for _, line := range kinds(released(some...), "held") {
			told = append(told, strings.Fields(line)[1])
		}
		if got := strings.Join(told, " "); got != "SMS: Push: E-mail:" {
			t.Errorf("with %v released, held are told as %s", some, got)
		}
	}
	tr := released(channels...)
	tr.Timeline = []store.Moment{{At: at, Kind: "released", Text: "email, push, sms"}}
	if got, want := kinds(tr, "released"), "released: The time has come for SMS, push and e-mail, so it is decided again."; len(got) != 1 || got[0] != want {
		t.Errorf("told %q, want %q", got, want)
	}
}
