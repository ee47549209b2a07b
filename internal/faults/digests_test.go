package faults_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
	"tidings/internal/faults"
)

// The notifications of a history with a digest.
const (
	firstItem = iota
	secondItem
	theDigest
)

// told is a run in which a digest told of two events.
func told() faults.History {
	item := func(key string) wire.Trail {
		return wire.Trail{
			Notification: wire.Notification{ID: tidings.NewNotificationID(start), App: "shop", UserID: "u_1", Category: "social", DedupeKey: key, AcceptedAt: at(0), ExpiresAt: at(60)},
			Decisions:    []wire.Decision{{Channel: tidings.Push, Action: tidings.ActionHold, Reason: tidings.ReasonDigested, Until: at(10)}},
			Holds:        []wire.Hold{{Channel: tidings.Push, Reason: tidings.ReasonDigested, Until: at(10), State: tidings.HoldReleased}},
		}
	}
	first, second := item("k1"), item("k2")
	digest := digestOf(first.ID, second.ID)
	first.Digest, second.Digest = digest.ID, digest.ID
	return faults.History{
		Posts:  []faults.Post{{Key: "k1", ID: first.ID, Mark: "1"}, {Key: "k2", ID: second.ID, Mark: "2"}},
		Trails: []wire.Trail{first, second, digest},
		Ledger: []simulator.Entry{{At: at(11).Time, Provider: "apns", Address: "a1", DeliveryID: digest.Deliveries[0].ID.String(), Title: "2 comments", Text: "#1; #2;"}},
		Ended:  at(100).Time, Patience: 5 * time.Second, Slack: time.Second,
	}
}

// digestOf is a digest of some notifications, sent by push.
func digestOf(parts ...tidings.NotificationID) wire.Trail {
	id := tidings.NewNotificationID(start)
	return wire.Trail{
		Notification: wire.Notification{ID: id, App: "shop", UserID: "u_1", Category: "social", AcceptedAt: at(10), ExpiresAt: at(60)},
		Decisions: []wire.Decision{
			{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: 1},
			{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: tidings.ReasonNotRequested},
		},
		Deliveries: []wire.Delivery{{ID: tidings.DeliveryOf(id, 0), Channel: tidings.Push, Status: tidings.Sent, Final: true, Attempts: []wire.Attempt{{Number: 1, Outcome: tidings.OK}}}},
		Parts:      parts,
	}
}

func TestARunWithADigestHolds(t *testing.T) {
	v := faults.Check(told())
	if !v.Holds() {
		t.Errorf("violations: %v", v.Violations)
	}
	if want := (faults.Figures{Accepted: 2, Deliveries: 1, Accepts: 1, Digests: 1, Gathered: 2}); v.Figures != want {
		t.Errorf("figures %+v, want %+v", v.Figures, want)
	}
}

// A second phone is not told of an item that was late by then, while the first had been told in time.
func TestWhatExpiredBetweenTwoMessagesMayBeLeftOutOfTheSecondWhenItsTrailSaysSo(t *testing.T) {
	h := told()
	digest := &h.Trails[theDigest]
	second := digest.Deliveries[0]
	second.ID = tidings.DeliveryOf(digest.ID, 1)
	digest.Deliveries, digest.Decisions[0].Addresses = append(digest.Deliveries, second), 2
	h.Ledger = append(h.Ledger, simulator.Entry{At: at(20).Time, Provider: "apns", Address: "a2", DeliveryID: second.ID.String(), Text: "#2;"})
	broken := func() int { return len(faults.Check(h).Violations) }
	if broken() != 1 {
		t.Error("nobody minds that nothing says why the second message does not tell of it")
	}
	left := wire.Moment{At: at(19), Kind: "released", Text: "Push: left out of what the digest still sends, since it would have come too late."}
	h.Trails[firstItem].Timeline = []wire.Moment{left}
	if v := faults.Check(h); !v.Holds() {
		t.Errorf("violations: %v", v.Violations)
	}
	h.Trails[firstItem].Timeline[0].At = at(25)
	if broken() != 1 {
		t.Error("nobody minds that the second message was accepted before")
	}
}

// Each case breaks one promise of a run with a digest, and that promise alone must be found broken.
func TestWhatIsBrokenOfADigestIsFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		want  faults.Invariant
		wreck func(h *faults.History)
	}{
		{"an item that is in no digest", faults.Ends, func(h *faults.History) {
			h.Trails[theDigest].Parts = h.Trails[theDigest].Parts[1:]
			h.Trails[firstItem].Digest, h.Ledger[0].Text = tidings.NotificationID{}, "#2;"
		}},
		{"an item in two digests", faults.Once, func(h *faults.History) {
			second := digestOf(h.Trails[firstItem].ID)
			second.Deliveries, second.Decisions[0] = nil, wire.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutAll}
			h.Trails = append(h.Trails, second)
		}},
		{"a message that leaves out an item", faults.Told, func(h *faults.History) { h.Ledger[0].Text = "#1;" }},
		{"a message that tells of what is no part", faults.Told, func(h *faults.History) {
			h.Posts = append(h.Posts, faults.Post{Key: "k3", ID: tidings.NewNotificationID(start), Mark: "3"})
			third := wire.Trail{Notification: wire.Notification{ID: h.Posts[2].ID, App: "shop", DedupeKey: "k3"}}
			h.Trails, h.Ledger[0].Text = append(h.Trails, third), "#1; #2; #3;"
		}},
		{"a person who reads it in two messages", faults.Once, func(h *faults.History) {
			d := wire.Delivery{ID: tidings.DeliveryOf(h.Trails[firstItem].ID, 0), Channel: tidings.Push, Status: tidings.Sent, Final: true, Attempts: []wire.Attempt{{Number: 1, Outcome: tidings.OK}}}
			h.Trails[firstItem].Deliveries = []wire.Delivery{d}
			h.Ledger = append(h.Ledger, simulator.Entry{At: at(1).Time, Provider: "apns", Address: "a1", DeliveryID: d.ID.String(), Text: "#1;"})
		}},
		{"a part that names no digest", faults.Told, func(h *faults.History) { h.Trails[secondItem].Digest = tidings.NotificationID{} }},
		{"a part that names another digest", faults.Told, func(h *faults.History) { h.Trails[secondItem].Digest = h.Trails[firstItem].ID }},
		{"a part that is not in the log", faults.Conserved, func(h *faults.History) {
			h.Trails[theDigest].Parts = append(h.Trails[theDigest].Parts, tidings.NewNotificationID(start))
		}},
		{"a part that had been cancelled", faults.Stopped, func(h *faults.History) { h.Trails[firstItem].CancelledAt = at(8) }},
		{"a part that had expired", faults.Stopped, func(h *faults.History) { h.Trails[firstItem].ExpiresAt = at(8) }},
		{"a digest after an opt-out", faults.Stopped, func(h *faults.History) {
			h.Stops = []faults.Stop{{At: at(9).Time, User: "u_1", Category: "social"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := told()
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
}

func TestWhatADigestMayDoIsNoViolation(t *testing.T) {
	for _, c := range []struct {
		name string
		turn func(h *faults.History)
	}{
		{"it leaves out what nothing may be told of any more", func(h *faults.History) {
			h.Trails[theDigest].Parts = h.Trails[theDigest].Parts[1:]
			h.Trails[firstItem].Digest, h.Ledger[0].Text = tidings.NotificationID{}, "#2;"
			h.Trails[firstItem].Decisions[0] = wire.Decision{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonExpired}
		}},
		{"an item was cancelled before it closed", func(h *faults.History) {
			h.Trails[theDigest].Parts = h.Trails[theDigest].Parts[1:]
			h.Trails[firstItem].Digest, h.Ledger[0].Text = tidings.NotificationID{}, "#2;"
			h.Trails[firstItem].Holds[0].State, h.Trails[firstItem].CancelledAt = tidings.HoldCancelled, at(5)
		}},
		{"one channel is told by one digest and another by the next", func(h *faults.History) {
			first := &h.Trails[firstItem]
			first.Decisions = append(first.Decisions, wire.Decision{Channel: tidings.Email, Action: tidings.ActionHold})
			first.Holds = append(first.Holds, wire.Hold{Channel: tidings.Email, Reason: tidings.ReasonDigested, State: tidings.HoldReleased})
			second := digestOf(first.ID)
			second.Deliveries, second.Decisions = nil, []wire.Decision{
				{Channel: tidings.Push, Action: tidings.ActionSuppress, Reason: tidings.ReasonNotRequested},
				{Channel: tidings.Email, Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutChannel},
			}
			h.Trails = append(h.Trails, second)
		}},
		{"a message about somebody else", func(h *faults.History) { h.Ledger[0].Text += " #no mark" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := told()
			c.turn(&h)
			if v := faults.Check(h); !v.Holds() {
				t.Errorf("found %v", v.Violations)
			}
		})
	}
}
