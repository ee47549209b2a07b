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
		level:   rapid.SampledFrom([]string{"all", "channels", "categories", "threads"}).Draw(t, label+" level"),
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
	if c.level == "threads" {
		return fmt.Appendf(nil, `{"threads":{%q:{%q:%s}}}`, c.name, c.channel, value)
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
		ExpiresAt: noon.Add(rapid.SampledFrom([]time.Duration{-1, 0, 1, 2, 2 * time.Hour, 48 * time.Hour}).Draw(t, "expiry")),
		Thread:    rapid.SampledFrom([]string{"", "t_1"}).Draw(t, "thread"),
	}
	drawRules(t, &r)
	f := preferences.Facts{Preferences: drawAllWishes(t), Suppressed: map[tidings.AddressID]preferences.Suppression{}, Providers: map[tidings.Channel]preferences.Carries{}}
	f.Zone = rapid.SampledFrom(drawnZones(t)).Draw(t, "zone")
	f.Told = map[string][]time.Time{"user": {noon.Add(-time.Duration(rapid.IntRange(0, 300).Draw(t, "told")) * time.Minute)}}
	for _, c := range drawnChannels {
		switch rapid.IntRange(0, 4).Draw(t, "provider") {
		case 0: // there is none
		case 1:
			f.Providers[c] = func(to *tidings.Address) bool { return to.ID[0]%2 == 0 }
		default:
			f.Providers[c] = anywhere
		}
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

// drawRules draws what the catalogue and the app say beside the kind.
func drawRules(t *rapid.T, r *preferences.Request) {
	c := &r.Event.Category
	c.QuietHours = rapid.SampledFrom([]tidings.QuietRule{"", tidings.QuietHold, tidings.QuietDrop}).Draw(t, "quiet rule")
	if c.Kind == tidings.Marketing {
		c.Consent = rapid.SampledFrom([]string{tidings.OptOut, tidings.OptIn}).Draw(t, "consent")
	}
	if c.Kind != tidings.Critical && rapid.Bool().Draw(t, "off by default") {
		c.Channels = map[tidings.Channel]bool{rapid.SampledFrom(drawnChannels).Draw(t, "off"): false}
	}
	if rapid.Bool().Draw(t, "scheduled") {
		r.SendAt = noon.Add(time.Duration(rapid.IntRange(-60, 600).Draw(t, "send at")) * time.Minute)
	}
	if c.Kind != tidings.Critical && rapid.Bool().Draw(t, "digested") {
		r.Event.Digest = &tidings.Digest{Window: 10 * time.Minute, Channels: drawnChannels[:1]}
	}
	if c.Kind != tidings.Critical && rapid.Bool().Draw(t, "limited") {
		per := time.Duration(rapid.IntRange(1, 300).Draw(t, "per")) * time.Minute
		r.Event.Limits = []tidings.Limit{{Cap: tidings.Cap{Count: 1, Per: per, Hold: rapid.Bool().Draw(t, "over")}, Scope: "user", Reason: tidings.ReasonRateLimitedUser}}
	}
}

// drawAllWishes draws preferences with all that a user can wish, and the consents beside them.
func drawAllWishes(t *rapid.T) preferences.Preferences {
	p := drawPreferences(t)
	if rapid.Bool().Draw(t, "quiet") {
		p = apply(t, p, fmt.Appendf(nil, `{"quiet_hours":{"start":%q,"end":%q}}`,
			rapid.SampledFrom([]string{"11:30", "12:00", "22:00"}).Draw(t, "start"), rapid.SampledFrom([]string{"12:45", "07:00", "02:30"}).Draw(t, "end")))
	}
	if rapid.Bool().Draw(t, "muted") {
		p = apply(t, p, []byte(`{"threads":{"orders":{"t_1":false}}}`))
	}
	if state := rapid.SampledFrom([]preferences.ConsentState{"", preferences.ConsentAsked, preferences.ConsentGiven}).Draw(t, "agreed"); state != "" {
		stands := preferences.Consent{State: state}
		if rapid.Bool().Draw(t, "widened") {
			stands.Asked = map[tidings.Channel]preferences.Asking{rapid.SampledFrom(drawnChannels).Draw(t, "asked for"): {Stands: rapid.Bool().Draw(t, "stands")}}
		}
		p.Consents = map[string]preferences.Consent{"orders": stands}
	}
	return p
}

// What is held may go out at its until: nothing but a cap, which counts what is sent meanwhile, says no then.
func TestWhatIsHeldMayGoOutAtItsUntil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawSituation(t)
		for i, d := range preferences.Decide(r, f, noon) {
			if d.Action != tidings.ActionHold {
				continue
			}
			again := r
			again.SendAt, again.Digest = time.Time{}, true
			then := preferences.Decide(again, f, d.Until)[i]
			limited := then.Reason == tidings.ReasonRateLimitedUser && d.Reason != tidings.ReasonRateLimitedUser
			if digested := d.Reason == tidings.ReasonDigested; then.Action != tidings.ActionSend && !limited && !digested {
				t.Fatalf("%s held until %s for %s is then %s %s until %s", d.Channel, d.Until, d.Reason, then.Action, then.Reason, then.Until)
			}
		}
	})
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

func drawnZones(t *rapid.T) []*time.Location {
	var zones []*time.Location
	for _, name := range []string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, zone)
	}
	return zones
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
		r.SendAt, r.Event.Digest, r.Event.Limits = time.Time{}, nil, nil // none of them is asked again
		decisions := preferences.Decide(r, f, noon)
		to := reached(decisions)
		for _, a := range f.Addresses {
			if carries := f.Providers[a.Channel]; carries == nil || !carries(&a) {
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
