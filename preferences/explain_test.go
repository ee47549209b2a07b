package preferences_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/preferences"
)

// drawTimed is a situation with all that rules about time look at.
func drawTimed(t *rapid.T) (preferences.Request, preferences.Facts) {
	r, f := drawSituation(t)
	hours := func(label string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Hour
	}
	r.Event.Category.Consent = rapid.SampledFrom([]string{tidings.OptIn, tidings.OptOut}).Draw(t, "consent")
	r.Event.Category.QuietHours = rapid.SampledFrom([]tidings.QuietRule{tidings.QuietHold, tidings.QuietDrop}).Draw(t, "quiet rule")
	r.ExpiresAt = r.ExpiresAt.Add(hours("expires in", 30))
	r.Thread = rapid.SampledFrom([]string{"", "t_1"}).Draw(t, "thread")
	r.Digest = rapid.Bool().Draw(t, "a digest")
	if rapid.Bool().Draw(t, "scheduled") {
		r.SendAt = noon.Add(hours("send at", 20))
	}
	if rapid.Bool().Draw(t, "digested") {
		r.Event.Digest = &tidings.Digest{Window: hours("window", 3), Channels: drawnChannels[:1]}
	}
	if rapid.Bool().Draw(t, "quiet hours") {
		start := rapid.IntRange(0, 23).Draw(t, "start")
		f.Preferences.QuietHours = &preferences.Hours{Start: preferences.Clock(60 * start), End: preferences.Clock((60*start + 480) % 1440)}
	}
	f.Braked = rapid.IntRange(0, 5).Draw(t, "braked") == 0
	if rapid.Bool().Draw(t, "limited") {
		r.Event.Limits = []tidings.Limit{{Cap: tidings.Cap{Count: 1, Per: 5 * time.Hour, Hold: rapid.Bool().Draw(t, "holds")}, Scope: "user", Reason: tidings.ReasonRateLimitedUser}}
		f.Told = map[string][]time.Time{"user": {noon.Add(-hours("told", 6))}}
	}
	f.Preferences.Threads = map[string]map[string]bool{"orders": {"t_1": !rapid.Bool().Draw(t, "muted")}}
	return r, f
}

func TestWhatIsExplainedIsWhatIsDecided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := drawTimed(t)
		decided := preferences.Decide(r, f, noon)
		for i, e := range preferences.Explain(r, f, noon) {
			if !reflect.DeepEqual(e.Decision, decided[i]) {
				t.Fatalf("explained %+v, decided %+v", e.Decision, decided[i])
			}
			assertFollows(t, e)
		}
	})
}

// assertFollows compares a decision with what the steps alone say.
func assertFollows(t *rapid.T, e preferences.Explanation) {
	want := preferences.Step{Verdict: preferences.VerdictPasses}
	for _, s := range e.Steps {
		if want.Verdict != preferences.VerdictSuppress && s.Verdict != preferences.VerdictPasses && s.Verdict != preferences.VerdictNotAsked {
			want = s
		}
		if (s.Input == "") != (s.Verdict == preferences.VerdictNotAsked) {
			t.Fatalf("%s is %s with input %q", s.Rule, s.Verdict, s.Input)
		}
	}
	action := map[preferences.Verdict]tidings.Action{
		preferences.VerdictPasses: tidings.ActionSend, preferences.VerdictHold: tidings.ActionHold, preferences.VerdictSuppress: tidings.ActionSuppress,
	}[want.Verdict]
	if d := e.Decision; d.Action != action || d.Reason != want.Reason || !d.Until.Equal(want.Until) {
		t.Fatalf("%s %s until %v does not follow from %+v", d.Action, d.Reason, d.Until, e.Steps)
	}
}

// steps are the verdicts of an explanation, but for what passes.
func steps(e preferences.Explanation) string {
	var all []string
	for _, s := range e.Steps {
		if s.Verdict != preferences.VerdictPasses {
			all = append(all, strings.TrimSpace(s.Rule+" "+string(s.Verdict)+" "+string(s.Reason)))
		}
	}
	return strings.Join(all, ", ")
}

func TestExplainTellsAllThatStandsInTheWay(t *testing.T) {
	notAsked := ", schedule not_asked, digest not_asked, quiet_hours not_asked, limits not_asked"
	cases := []struct {
		why  string
		with func(r *preferences.Request, f *preferences.Facts)
		want string
	}{
		{"nothing stands in the way", func(*preferences.Request, *preferences.Facts) {}, ""},
		{"a refusal hides none of the others", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.All, f.Addresses = no, nil
		}, "all suppress opted_out_all, address suppress no_address" + notAsked},
		{"an address that no provider carries to is one", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.All, f.Providers[tidings.Push] = no, nowhere
		}, "provider suppress no_provider, all suppress opted_out_all" + notAsked},
		{"each hold is told", func(r *preferences.Request, f *preferences.Facts) {
			r.SendAt, r.ExpiresAt = noon.Add(time.Hour), noon.Add(20*time.Hour)
			f.Preferences.QuietHours = &preferences.Hours{Start: 13 * 60, End: 14 * 60}
		}, "schedule hold scheduled, quiet_hours hold quiet_hours"},
		{"what waits for too long is told with the hold", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.QuietHours = &preferences.Hours{Start: 11 * 60, End: 14 * 60}
		}, "quiet_hours hold quiet_hours, expiry suppress expired"},
	}
	for _, c := range cases {
		r, f := situation()
		c.with(&r, &f)
		if got := steps(preferences.Explain(r, f, noon)[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}

func TestExplainSaysWhatARuleLookedAt(t *testing.T) {
	r, f := situation()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f.Zone = zone
	f.Addresses[0].Value, f.Addresses[1].Status = "dead00ff", tidings.AddressRetired
	f.Preferences.QuietHours = &preferences.Hours{Start: 22 * 60, End: 7 * 60}
	r.Thread = "order 4711"
	r.Event.Limits = []tidings.Limit{{Cap: tidings.Cap{Count: 3, Per: 24 * time.Hour}, Scope: "user", Reason: tidings.ReasonRateLimitedUser}}
	f.Told = map[string][]time.Time{"user": {noon.Add(-25 * time.Hour), noon.Add(-time.Hour)}}
	inputs := map[string]string{}
	for _, s := range preferences.Explain(r, f, noon)[0].Steps {
		inputs[s.Rule] = s.Input
		if strings.Contains(s.Input, "dead00ff") || strings.Contains(s.Input, "4711") {
			t.Errorf("%s shows %q", s.Rule, s.Input)
		}
	}
	for rule, want := range map[string]string{
		"requested":   "all channels",
		"provider":    "a provider is configured",
		"expiry":      "at 2026-12-01T12:00:00Z, of use until 2026-12-01T13:00:00Z",
		"category":    "orders is not set",
		"thread":      "the thread is not muted",
		"consent":     "none is needed",
		"address":     "2 known: 1 can be used, 0 quarantined, 1 retired, 0 suppressed",
		"schedule":    "at once",
		"quiet_hours": "22:00 to 07:00 in Europe/Berlin, where it is 13:00 on 2026-12-01",
		"limits":      "1 of 3 told in 24h of all that is not critical",
	} {
		if inputs[rule] != want {
			t.Errorf("%s looked at %q, want %q", rule, inputs[rule], want)
		}
	}
}

func TestExplainSaysHowManyAddressesNoProviderCarriesTo(t *testing.T) {
	for _, c := range []struct {
		carries preferences.Carries
		want    string
		cause   tidings.Cause
	}{
		{nil, "no provider is configured", ""},
		{anywhere, "a provider is configured", ""},
		{func(to *tidings.Address) bool { return to.ID == tidings.AddressID{1} }, "a provider is configured, but none carries to 1 of the 2 addresses that can be used", ""},
		{nowhere, "a provider is configured, but none carries to 2 of the 2 addresses that can be used", tidings.CauseRoute},
	} {
		r, f := situation()
		f.Addresses = append(f.Addresses, with(address(tidings.Push, 5), tidings.AddressRetired, tidings.ReasonRecipientDead))
		f.Providers[tidings.Push] = c.carries
		e := preferences.Explain(r, f, noon)[0]
		if s := e.Steps[1]; s.Rule != "provider" || s.Input != c.want || e.Decision.Cause != c.cause {
			t.Errorf("%s looked at %q, want %q; the cause is %q", s.Rule, s.Input, c.want, e.Decision.Cause)
		}
	}
}

func TestExplainSaysWhichChannelsAreGathered(t *testing.T) {
	r, f := situation()
	r.Event.Channels = []tidings.Channel{tidings.Push, tidings.Email}
	r.Event.Digest = &tidings.Digest{Window: time.Minute, Channels: []tidings.Channel{tidings.Push}}
	for i, want := range []string{"gathered for 1m", "email tells of each event for itself"} {
		for _, s := range preferences.Explain(r, f, noon)[i].Steps {
			if s.Rule == "digest" && s.Input != want {
				t.Errorf("channel %d: digest looked at %q, want %q", i, s.Input, want)
			}
		}
	}
}

func BenchmarkExplain(b *testing.B) {
	r, f := situation()
	b.ReportAllocs()
	for b.Loop() {
		preferences.Explain(r, f, noon)
	}
}

func TestExplainSaysThatCountsOfThePastAreNotKept(t *testing.T) {
	r, f := situation()
	r.Event.Limits = []tidings.Limit{
		{Cap: tidings.Cap{Count: 1, Per: 10 * time.Minute}, Scope: "type:order.shipped"}, {Cap: tidings.Cap{Count: 2, Per: 24 * time.Hour}, Scope: "category:orders"},
	}
	for _, c := range []struct {
		why, limits, brake string
		counted            time.Time
	}{
		{"asked about now", "0 of 1 told in 10m of the event type order.shipped; 0 of 2 told in 24h of the category orders", "not tripped", noon},
		{"about what is to come", "0 of 1 told in 10m of the event type order.shipped; 0 of 2 told in 24h of the category orders", "not tripped", noon.Add(-time.Hour)},
		{"about the past", "0 of 1 told in 10m of the event type order.shipped; 0 of 2 told in 24h of the category orders; counted at 2026-12-01T13:00:00Z, since the counts of the past are not kept",
			"not tripped; counted at 2026-12-01T13:00:00Z, since the counts of the past are not kept", noon.Add(time.Hour)},
	} {
		f.Counted = c.counted
		for _, s := range preferences.Explain(r, f, noon)[0].Steps {
			if s.Rule == "limits" && s.Input != c.limits || s.Rule == "brake" && s.Input != c.brake {
				t.Errorf("%s: %s looked at %q", c.why, s.Rule, s.Input)
			}
		}
	}
}
