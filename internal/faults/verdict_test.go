package faults_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
	"tidings/internal/faults"
)

// start is when the histories of these tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) wire.Time {
	return wire.At(start.Add(time.Duration(seconds * float64(time.Second))))
}

// sound is a run in which a push and an SMS went out, the SMS twice with an unknown attempt between.
func sound() faults.History {
	id := tidings.NewNotificationID(start)
	push, sms := tidings.DeliveryOf(id, 0), tidings.DeliveryOf(id, 1)
	t := wire.Trail{
		Notification: wire.Notification{ID: id, App: "shop", UserID: "u_1", Category: "billing", DedupeKey: "k1", AcceptedAt: at(0), ExpiresAt: at(60)},
		Decisions: []wire.Decision{
			{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: 1}, {Channel: tidings.SMS, Action: tidings.ActionSend, Addresses: 1},
		},
		Deliveries: []wire.Delivery{
			{ID: push, Channel: tidings.Push, Status: tidings.Sent, Final: true, Attempts: []wire.Attempt{{Number: 1, Outcome: tidings.OK}}},
			{ID: sms, Channel: tidings.SMS, Status: tidings.Delivered, Final: true,
				Attempts: []wire.Attempt{{Number: 1, Outcome: tidings.OutcomeUnknown}, {Number: 2, Outcome: tidings.OK}},
				Receipts: []wire.Receipt{{Status: tidings.ReceiptDelivered}}},
		},
	}
	return faults.History{
		Posts:  []faults.Post{{Key: "k1", ID: id}, {Key: "k1", ID: id}},
		Trails: []wire.Trail{t},
		Ledger: []simulator.Entry{
			{At: at(1).Time, Provider: "apns", DeliveryID: push.String()},
			{At: at(1).Time, Provider: "twilio", DeliveryID: sms.String(), Attempt: 1},
			{At: at(9).Time, Provider: "twilio", DeliveryID: sms.String(), Attempt: 2},
		},
		Sightings: []faults.Sighting{
			{At: at(0.5).Time, Delivery: wire.Delivery{ID: push, Status: tidings.Queued}},
			{At: at(2).Time, Delivery: wire.Delivery{ID: sms, Status: tidings.Sending, DueAt: at(6)}},
			{At: at(8).Time, Delivery: wire.Delivery{ID: sms, Status: tidings.Retrying, Attempts: []wire.Attempt{{Number: 1, Outcome: tidings.OutcomeUnknown}}}},
		},
		Ended: at(100).Time, Patience: 5 * time.Second, Slack: time.Second,
	}
}

func TestARunInWhichAllWentWellHolds(t *testing.T) {
	v := faults.Check(sound())
	if !v.Holds() {
		t.Errorf("violations: %v", v.Violations)
	}
	if want := (faults.Figures{Accepted: 1, Deliveries: 2, Accepts: 3, Unknown: 1, Doubled: 1}); v.Figures != want {
		t.Errorf("figures %+v, want %+v", v.Figures, want)
	}
}

// Each case breaks one promise of a sound run, and that promise alone must be found broken.
func TestWhatIsBrokenIsFound(t *testing.T) {
	push := func(h *faults.History) *wire.Delivery { return &h.Trails[0].Deliveries[0] }
	sms := func(h *faults.History) *wire.Delivery { return &h.Trails[0].Deliveries[1] }
	cases := []struct {
		name  string
		want  faults.Invariant
		wreck func(h *faults.History)
	}{
		{"the log lacks what was answered", faults.Ends, func(h *faults.History) {
			h.Posts = append(h.Posts, faults.Post{Key: "k2", ID: tidings.NewNotificationID(start)})
		}},
		{"a delivery is still queued at the end", faults.Ends, func(h *faults.History) {
			push(h).Status, push(h).Final, push(h).Attempts = tidings.Retrying, false, nil
			h.Ledger = h.Ledger[1:]
		}},
		{"a hold was forgotten", faults.Ends, func(h *faults.History) {
			h.Trails[0].Holds = []wire.Hold{{State: tidings.HoldWaiting, Until: at(50)}}
		}},
		{"a failure without a reason", faults.Sent, func(h *faults.History) {
			push(h).Status, push(h).Attempts = tidings.Failed, nil
			h.Ledger = h.Ledger[1:]
		}},
		{"sent by a receipt that nobody could give", faults.Sent, func(h *faults.History) {
			push(h).Attempts = nil
			h.Ledger = h.Ledger[1:]
		}},
		{"sent twice without a doubt in the trail", faults.Once, func(h *faults.History) {
			push(h).Attempts = append(push(h).Attempts, wire.Attempt{Number: 2, Outcome: tidings.OK})
			h.Ledger = append(h.Ledger, h.Ledger[0])
		}},
		{"an accept that the trail does not tell of", faults.Told, func(h *faults.History) { push(h).Attempts[0].Outcome = tidings.Transient }},
		{"an accept of an attempt that the trail calls refused", faults.Told, func(h *faults.History) { h.Ledger[1].Attempt = 3 }},
		{"a success that no provider knows of", faults.Told, func(h *faults.History) {
			sms(h).Attempts = append(sms(h).Attempts, wire.Attempt{Number: 3, Outcome: tidings.OK}, wire.Attempt{Number: 4, Outcome: tidings.OK},
				wire.Attempt{Number: 5, Outcome: tidings.OK})
		}},
		{"an accept of something that is not in the log", faults.Told, func(h *faults.History) {
			h.Ledger = append(h.Ledger, simulator.Entry{DeliveryID: tidings.DeliveryOf(tidings.NewNotificationID(start), 0).String()})
		}},
		{"an accept without an id", faults.Told, func(h *faults.History) { h.Ledger = append(h.Ledger, simulator.Entry{Provider: "apns"}) }},
		{"an accept after the expiry", faults.Stopped, func(h *faults.History) { h.Trails[0].ExpiresAt = at(7) }},
		{"an accept after a cancel", faults.Stopped, func(h *faults.History) { h.Trails[0].CancelledAt = at(7) }},
		{"an accept after an opt-out", faults.Stopped, func(h *faults.History) {
			h.Stops = []faults.Stop{{At: at(7).Time, User: "u_1", Category: "billing"}}
		}},
		{"one key answered with two ids", faults.Conserved, func(h *faults.History) {
			second := sound()
			second.Trails[0].DedupeKey = ""
			h.Posts = append(h.Posts, faults.Post{Key: "k1", ID: second.Posts[0].ID})
			h.Trails, h.Ledger = append(h.Trails, second.Trails...), append(h.Ledger, second.Ledger...)
		}},
		{"a notification that nobody posted", faults.Conserved, func(h *faults.History) { h.Posts = nil }},
		{"a delivery fewer than decided", faults.Conserved, func(h *faults.History) { h.Trails[0].Decisions[0].Addresses = 2 }},
		{"a status that went back", faults.Forward, func(h *faults.History) {
			h.Sightings[0].Delivery.Status, h.Sightings[0].Delivery.Final = tidings.Delivered, true
		}},
		{"an end that was taken back", faults.Forward, func(h *faults.History) {
			h.Sightings = append(h.Sightings[:0],
				faults.Sighting{At: at(2).Time, Delivery: wire.Delivery{ID: sms(h).ID, Status: tidings.Unknown, Final: true}},
				faults.Sighting{At: at(3).Time, Delivery: wire.Delivery{ID: sms(h).ID, Status: tidings.Retrying}})
		}},
		{"an attempt that was forgotten", faults.Forward, func(h *faults.History) { h.Sightings[2].Delivery.Attempts[0].Number = 7 }},
		{"a receipt that was forgotten", faults.Forward, func(h *faults.History) { h.Sightings[2].Delivery.Receipts = make([]wire.Receipt, 2) }},
		{"a phone number in the log", faults.Discreet, func(h *faults.History) { h.Leaks = []faults.Leak{{What: "a phone number", Where: "log"}} }},
		{"a claim that nobody closed", faults.NotAbandoned, func(h *faults.History) { h.Sightings[1].At = at(12).Time }},
		{"a claim that nobody closed who lived", faults.NotAbandoned, func(h *faults.History) {
			h.Sightings[1].At = at(20).Time
			h.Alive = []faults.Span{{From: at(0).Time, To: at(9).Time}, {From: at(11).Time, To: at(60).Time}}
		}},
	}
	seen := map[faults.Invariant]bool{}
	for _, c := range cases {
		seen[c.want] = true
		t.Run(c.name, func(t *testing.T) {
			h := sound()
			c.wreck(&h)
			v := faults.Check(h)
			if v.Holds() {
				t.Fatal("nothing was found")
			}
			for _, violation := range v.Violations {
				if violation.Invariant != c.want {
					t.Errorf("found %v, want %s alone", violation, c.want)
				}
			}
		})
	}
	for _, i := range faults.Invariants() {
		if !seen[i] {
			t.Errorf("no case breaks %s", i)
		}
	}
}

func TestWhatNobodyPromisedIsNoViolation(t *testing.T) {
	cases := []struct {
		name string
		turn func(h *faults.History)
	}{
		{"a caller who got no answer", func(h *faults.History) { h.Posts, h.Unanswered = nil, 1 }},
		{"an accept right after an opt-out", func(h *faults.History) {
			h.Stops = []faults.Stop{{At: at(8.5).Time, User: "u_1"}}
		}},
		{"an opt-out from another category", func(h *faults.History) {
			h.Stops = []faults.Stop{{At: at(0).Time, User: "u_1", Category: "offers"}, {At: at(0).Time, User: "u_1", Channel: tidings.Email}}
		}},
		{"a second send that somebody asked for", func(h *faults.History) {
			d := &h.Trails[0].Deliveries[0]
			h.Trails[0].Timeline = []wire.Moment{{Kind: "redriven", DeliveryID: d.ID}}
			d.Attempts = append(d.Attempts, wire.Attempt{Number: 2, Outcome: tidings.OK})
			h.Ledger = append(h.Ledger, h.Ledger[0])
		}},
		{"a hold that is not due yet", func(h *faults.History) {
			h.Trails[0].Holds = []wire.Hold{{State: tidings.HoldWaiting, Until: at(5000)}}
		}},
		{"a claim that nobody was there to close", func(h *faults.History) {
			h.Sightings[1].At = at(12).Time
			h.Alive = []faults.Span{{From: at(0).Time, To: at(7).Time}, {From: at(11).Time, To: at(60).Time}}
		}},
		{"a late answer after the end", func(h *faults.History) {
			d := &h.Trails[0].Deliveries[1]
			h.Sightings[2].Delivery.Status, h.Sightings[2].Delivery.Final = tidings.Unknown, true
			d.Attempts = append(d.Attempts, wire.Attempt{Number: 1, Late: true, Outcome: tidings.OK})
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := sound()
			c.turn(&h)
			if v := faults.Check(h); !v.Holds() {
				t.Errorf("found %v", v.Violations)
			}
		})
	}
}

func TestALeakIsFoundInAnyFileOfAFolder(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "streams", "1.blk")
	if err := os.MkdirAll(filepath.Dir(deep), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(deep, []byte("\x00binary +15550123001 more"), 0o600); err != nil {
		t.Fatal(err)
	}
	canaries := []faults.Canary{{What: "a phone number", Text: "+15550123001"}, {What: "a code", Text: "482913"}}
	found, err := faults.FindLeaks(canaries, dir, filepath.Join(dir, "gone"))
	if err != nil || len(found) != 1 || found[0] != (faults.Leak{What: "a phone number", Where: deep}) {
		t.Errorf("found %v, %v", found, err)
	}
}
