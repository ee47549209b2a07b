package preferences_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/preferences"
)

var (
	drawnKinds    = []tidings.CategoryKind{tidings.Critical, tidings.Transactional, tidings.Marketing}
	drawnChannels = []tidings.Channel{tidings.Push, tidings.SMS, tidings.Email}
	drawnStatuses = []tidings.AddressStatus{tidings.AddressActive, tidings.AddressActive, tidings.AddressQuarantined, tidings.AddressRetired}
	drawnStops    = []tidings.Reason{tidings.ReasonOptedOutChannel, tidings.ReasonSuppressedBounce, tidings.ReasonSuppressedComplaint}
)

// A cell is one place of a preferences document that a patch can name.
type cell struct{ level, name, channel string }

func drawCell(t *rapid.T, label string) cell {
	c := cell{
		level:   rapid.SampledFrom([]string{"all", "channels", "categories"}).Draw(t, label+" level"),
		name:    rapid.SampledFrom([]string{"orders", "offers"}).Draw(t, label+" category"),
		channel: rapid.SampledFrom([]string{"all", "push", "sms", "email"}).Draw(t, label+" channel"),
	}
	switch {
	case c.level == "all":
		return cell{level: "all"}
	case c.level == "channels" && c.channel == "all":
		return cell{level: "channels", channel: "push"}
	case c.level == "channels":
		c.name = ""
	}
	return c
}

func (c cell) patch(value string) []byte {
	switch c.level {
	case "all":
		return fmt.Appendf(nil, `{"all":%s}`, value)
	case "channels":
		return fmt.Appendf(nil, `{"channels":{%q:%s}}`, c.channel, value)
	}
	return fmt.Appendf(nil, `{"categories":{%q:{%q:%s}}}`, c.name, c.channel, value)
}

func apply(t *rapid.T, p preferences.Preferences, patch []byte) preferences.Preferences {
	out, err := p.Patch(patch, kinds)
	if err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	return out
}

func drawPreferences(t *rapid.T) preferences.Preferences {
	var p preferences.Preferences
	for i := range rapid.IntRange(0, 6).Draw(t, "choices") {
		p = apply(t, p, drawCell(t, fmt.Sprint("choice ", i)).patch(rapid.SampledFrom([]string{"true", "false"}).Draw(t, "value")))
	}
	return p
}

func drawSituation(t *rapid.T) (preferences.Request, preferences.Facts) {
	category := tidings.Category{Name: "orders", Kind: rapid.SampledFrom(drawnKinds).Draw(t, "kind"), Consent: tidings.OptOut}
	r := preferences.Request{
		Event:     &tidings.EventType{Category: category, Channels: drawnChannels},
		ExpiresAt: noon.Add(time.Duration(rapid.IntRange(-1, 2).Draw(t, "expiry"))),
	}
	f := preferences.Facts{Preferences: drawPreferences(t), Suppressed: map[tidings.AddressID]preferences.Suppression{}, Providers: map[tidings.Channel]bool{}}
	for _, c := range drawnChannels {
		f.Providers[c] = rapid.IntRange(0, 3).Draw(t, "provider") > 0
	}
	for n := range rapid.IntRange(0, 6).Draw(t, "addresses") {
		a := with(address(rapid.SampledFrom(drawnChannels).Draw(t, "channel"), byte(n)), rapid.SampledFrom(drawnStatuses).Draw(t, "status"), "")
		f.Addresses = append(f.Addresses, a)
		if rapid.IntRange(0, 3).Draw(t, "stopped") == 0 {
			f.Suppressed[a.ID] = preferences.Suppression{Channel: a.Channel, Reason: rapid.SampledFrom(drawnStops).Draw(t, "stop")}
		}
	}
	return r, f
}

// reached is the set of addresses that a decision sends to.
func reached(decisions []tidings.Decision) map[tidings.AddressID]bool {
	to := map[tidings.AddressID]bool{}
	for _, d := range decisions {
		for _, a := range d.To {
			to[a.ID] = true
		}
	}
	return to
}

func assertNothingAdded(t *rapid.T, before, after map[tidings.AddressID]bool) {
	for id := range after {
		if !before[id] {
			t.Fatalf("%v is reached now and was not before", id)
		}
	}
}

func TestAnOptOutNeverLetsThroughMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawSituation(t)
		before := reached(preferences.Decide(r, f, noon))
		f.Preferences = apply(t, f.Preferences, drawCell(t, "opted out").patch("false"))
		assertNothingAdded(t, before, reached(preferences.Decide(r, f, noon)))
	})
}

func TestNarrowingNeverAdds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawSituation(t)
		before := reached(preferences.Decide(r, f, noon))
		r.Channels = rapid.SliceOfNDistinct(rapid.SampledFrom(drawnChannels), 1, 3, rapid.ID).Draw(t, "channels")
		decisions := preferences.Decide(r, f, noon)
		assertNothingAdded(t, before, reached(decisions))
		for _, d := range decisions {
			if !slices.Contains(r.Channels, d.Channel) && d.Reason != tidings.ReasonNotRequested {
				t.Fatalf("%s was left out and is %s %s", d.Channel, d.Action, d.Reason)
			}
		}
	})
}

func TestAStopNeverLetsThroughMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawSituation(t)
		before := reached(preferences.Decide(r, f, noon))
		for _, a := range f.Addresses {
			f.Suppressed[a.ID] = preferences.Suppression{Reason: tidings.ReasonSuppressedBounce}
		}
		after := reached(preferences.Decide(r, f, noon))
		if len(after) > 0 {
			t.Fatalf("every address is stopped, reached %d of %d", len(after), len(before))
		}
	})
}

func TestPatchesOnDifferentCellsCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t)
		a, b := drawCell(t, "first"), drawCell(t, "second")
		if a == b {
			return
		}
		values := rapid.SampledFrom([]string{"true", "false", "null"})
		first, second := a.patch(values.Draw(t, "first value")), b.patch(values.Draw(t, "second value"))
		if x, y := document(t, apply(t, apply(t, p, first), second)), document(t, apply(t, apply(t, p, second), first)); x != y {
			t.Fatalf("%s then %s gives %s, the other way round %s", first, second, x, y)
		}
	})
}

func TestPreferencesSurviveTheirOwnJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPreferences(t)
		var back preferences.Preferences
		if err := json.Unmarshal([]byte(document(t, p)), &back); err != nil {
			t.Fatal(err)
		}
		if document(t, back) != document(t, p) {
			t.Fatalf("%s came back as %s", document(t, p), document(t, back))
		}
	})
}

func document(t *rapid.T, p preferences.Preferences) string {
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What Decide sends to an address, Check lets through to it while nothing changes, and the other way round.
func TestDecideAndCheckAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawSituation(t)
		decisions := preferences.Decide(r, f, noon)
		to := reached(decisions)
		for _, a := range f.Addresses {
			if !f.Providers[a.Channel] {
				continue
			}
			status, reason, _ := preferences.Check(recheck(r, f, a), noon)
			if passes := status == ""; passes != to[a.ID] {
				t.Fatalf("%v: decided to send %t, checked %q %q", a.ID, to[a.ID], status, reason)
			}
			assertKnown(t, decisions, f, a, reason)
		}
	})
}

func recheck(r preferences.Request, f preferences.Facts, a tidings.Address) preferences.Recheck {
	c := preferences.Recheck{
		Event: r.Event, Channel: a.Channel, Zone: f.Zone, Thread: r.Thread,
		Preferences: f.Preferences, Address: a, Owner: a.UserID, ExpiresAt: r.ExpiresAt,
	}
	if s, stopped := f.Suppressed[a.ID]; stopped {
		c.Suppressed = &s
	}
	return c
}

// assertKnown compares the reasons where the channel as a whole has one because of this address alone.
func assertKnown(t *rapid.T, decisions []tidings.Decision, f preferences.Facts, a tidings.Address, reason tidings.Reason) {
	alone := true
	for _, other := range f.Addresses {
		alone = alone && (other.Channel != a.Channel || other.ID == a.ID)
	}
	for _, d := range decisions {
		if d.Channel == a.Channel && alone && d.Reason != reason {
			t.Fatalf("%s: decided %q, checked %q", a.Channel, d.Reason, reason)
		}
	}
}
