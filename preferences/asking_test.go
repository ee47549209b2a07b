package preferences_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/preferences"
)

// reach is by which channels trips are sent, in their usual order.
func reach(p preferences.Preferences) string {
	var by []string
	for _, channel := range tidings.Channels() {
		if sends(p, "trips", channel) {
			by = append(by, string(channel))
		}
	}
	return strings.Join(by, " ")
}

// answered is an answer of a person, as "channel action" of its lines, and the first of them.
func answered(p *preferences.Preferences, channel tidings.Channel, yes bool) (lines []string, first tidings.ConsentID) {
	trips, _ := ledgerCategories("trips")
	entries := p.Answer(&trips, channel, yes, preferences.Origin{Source: preferences.SourceAPI, Wording: "w", Version: "1"}, noon)
	for _, e := range entries {
		lines = append(lines, fmt.Sprintf("%s %s", e.Channel, e.Action))
	}
	return lines, entries[0].ID
}

// agreed is somebody who confirmed trips by mail alone.
func agreed(t testing.TB) preferences.Preferences {
	t.Helper()
	var p preferences.Preferences
	_, line := answered(&p, tidings.Email, true)
	if confirm(&p, line); reach(p) != "email" {
		t.Fatalf("confirmed mail, and is sent %q", reach(p))
	}
	return p
}

func TestAConsentThatIsWidenedIsAskedForAndStandsMeanwhile(t *testing.T) {
	for _, c := range []struct {
		why, patch string
		lines      []string
		given      []string
		wide       string
	}{
		{"by a channel", `{"push":true}`, []string{"trips/push asked"}, []string{"push given"}, "push email"},
		{"to all", `true`, []string{"trips/ asked"}, []string{" given"}, "push sms email inbox webhook"},
		{"to all but one", `{"all":true,"sms":false}`, []string{"trips/push asked", "trips/sms withdrawn", "trips/inbox asked", "trips/webhook asked"},
			[]string{"push given", "inbox given", "webhook given"}, "push email inbox webhook"},
	} {
		p := agreed(t)
		p, lines := patched(t, p, `{"categories":{"trips":`+c.patch+`}}`)
		if !slices.Equal(lines, c.lines) || reach(p) != "email" || p.Consents["trips"].State != preferences.ConsentGiven {
			t.Errorf("%s: the ledger says %q, sent by %q, stands at %+v", c.why, lines, reach(p), p.Consents)
		}
		if given := confirm(&p, p.Consents["trips"].Newest()); !slices.Equal(given, c.given) || reach(p) != c.wide {
			t.Errorf("%s: confirmed, the ledger says %q, sent by %q", c.why, given, reach(p))
		}
		if line := p.Consents["trips"].Newest(); !line.IsZero() {
			t.Errorf("%s: %s waits still", c.why, line)
		}
	}
}

func TestAnAnswerIsConfirmedInItsOwnWords(t *testing.T) {
	for _, c := range []struct {
		why     string
		channel tidings.Channel
		given   []string
		reach   string
	}{
		{"to the whole", "", []string{" given"}, "push sms email inbox webhook"},
		{"to what was agreed to before", tidings.Email, []string{"email given"}, "email"},
		{"to another channel", tidings.SMS, []string{"sms given"}, "sms email"},
	} {
		p := agreed(t)
		old := p.Consents["trips"].Line
		lines, line := answered(&p, c.channel, true)
		if want := string(c.channel) + " asked"; lines[0] != want || len(lines) != 1 || reach(p) != "email" {
			t.Errorf("%s: %q, sent by %q", c.why, lines, reach(p))
		}
		if got := confirm(&p, old); got != nil {
			t.Errorf("%s: the link of before gave %q", c.why, got)
		}
		if got := confirm(&p, line); !slices.Equal(got, c.given) || reach(p) != c.reach || !p.Confirmed("trips", line) {
			t.Errorf("%s: confirmed %q, sent by %q", c.why, got, reach(p))
		}
	}
}

// Each link is good for the channels that were asked for with it, and not again since.
func TestALinkConfirmsWhatWasAskedForWithIt(t *testing.T) {
	var p preferences.Preferences
	_, mail := answered(&p, tidings.Email, true)
	_, push := answered(&p, tidings.Push, true)
	if got := confirm(&p, mail); !slices.Equal(got, []string{"email given"}) || reach(p) != "email" {
		t.Errorf("the link about mail gave %q, sent by %q", got, reach(p))
	}
	if got := confirm(&p, push); !slices.Equal(got, []string{"push given"}) || reach(p) != "push email" {
		t.Errorf("the link about push gave %q, sent by %q", got, reach(p))
	}
}

func TestWhatWasTakenBackIsAskedForAgain(t *testing.T) {
	for _, c := range []struct{ why, back string }{
		{"a yes to the channel", `{"email":true}`}, {"its no forgotten", `{"email":null}`}, {"a yes to all", `{"all":true,"email":null}`},
	} {
		var p preferences.Preferences
		_, line := answered(&p, "", true)
		confirm(&p, line)
		if lines, _ := answered(&p, tidings.Email, false); !slices.Equal(lines, []string{"email withdrawn"}) || reach(p) != "push sms inbox webhook" {
			t.Errorf("%s: %q, sent by %q", c.why, lines, reach(p))
		}
		p, lines := patched(t, p, `{"categories":{"trips":`+c.back+`}}`)
		if !slices.Equal(lines, []string{"trips/email asked"}) || reach(p) != "push sms inbox webhook" {
			t.Errorf("%s: the ledger says %q, sent by %q", c.why, lines, reach(p))
		}
	}
}

func TestWhatIsTakenBackBeforeItIsConfirmedIsNoWithdrawalOfTheLink(t *testing.T) {
	var p preferences.Preferences
	_, line := answered(&p, "", true)
	p, lines := patched(t, p, `{"categories":{"trips":{"sms":false}}}`)
	if !slices.Equal(lines, []string{"trips/sms withdrawn"}) {
		t.Fatalf("taken back, the ledger says %q", lines)
	}
	if got := confirm(&p, line); !slices.Equal(got, []string{"push given", "email given", "inbox given", "webhook given"}) || reach(p) != "push email inbox webhook" {
		t.Errorf("confirmed %q, sent by %q", got, reach(p))
	}
	p, _ = patched(t, agreed(t), `{"categories":{"trips":{"push":true}}}`)
	line = p.Consents["trips"].Newest()
	p, _ = patched(t, p, `{"categories":{"trips":{"push":false}}}`)
	if got := confirm(&p, line); got != nil || reach(p) != "email" {
		t.Errorf("confirmed %q of what was taken back, sent by %q", got, reach(p))
	}
}

// What was chosen while nothing had to be confirmed is not confirmed by the link to something else.
func TestAChoiceOfEarlierTimesIsNoConsent(t *testing.T) {
	p := read(t, `{"categories":{"trips":{"email":true}}}`)
	_, line := answered(&p, tidings.Push, true)
	if confirm(&p, line); reach(p) != "push" {
		t.Errorf("sent by %q", reach(p))
	}
	_, line = answered(&p, tidings.Email, true)
	if confirm(&p, line); reach(p) != "push email" {
		t.Errorf("asked for, sent by %q", reach(p))
	}
}

// What was stored before channels were asked for by themselves is read as it was meant.
func TestConsentsThatWereStoredBeforeAreReadAsBefore(t *testing.T) {
	line := tidings.NewConsentID(noon)
	asked := fmt.Sprintf(`{"categories":{"trips":{"all":true,"sms":false}},"consents":{"trips":{"state":"asked","at":"2026-01-01T00:00:00Z","line":%q}}}`, line)
	p := read(t, asked)
	if reach(p) != "" || p.Consents["trips"].Newest() != line {
		t.Errorf("asked, sent by %q; %+v", reach(p), p.Consents)
	}
	if confirm(&p, line); reach(p) != "push email inbox webhook" {
		t.Errorf("confirmed, sent by %q", reach(p))
	}
	p = read(t, asked)
	if p, _ = patched(t, p, `{"categories":{"trips":{"push":false}}}`); len(confirm(&p, line)) != 3 {
		t.Errorf("one taken back, sent by %q", reach(p))
	}
	p = read(t, `{"categories":{"trips":{"email":true}},"consents":{"trips":{"state":"given","at":"2026-01-01T00:00:00Z"}}}`)
	if reach(p) != "email" || !p.Consents["trips"].Newest().IsZero() {
		t.Errorf("given, sent by %q", reach(p))
	}
}

// Whatever was done in whatever order: of a category that asks twice nothing is sent by a channel but
// what a link confirmed that was made when the channel was asked for, and not taken back since.
func TestNothingIsSentThatNoLinkConfirmed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p preferences.Preferences
		lines := map[tidings.ConsentID]map[tidings.Channel]bool{} // what was asked for by a link
		confirmed := map[tidings.Channel]bool{}
		var links []tidings.ConsentID
		for i := range rapid.IntRange(1, 10).Draw(t, "steps") {
			now := noon.Add(time.Duration(i) * time.Minute)
			before := p.Clone()
			var entries []preferences.Entry
			trips, _ := ledgerCategories("trips")
			switch rapid.SampledFrom([]string{"patch", "answer", "confirm", "confirm", "opt out"}).Draw(t, "step") {
			case "patch":
				after, err := p.Patch(drawPatch(t, "trips"), ledgerKinds)
				if err != nil {
					t.Fatal(err)
				}
				entries = preferences.Settle(p, &after, ledgerCategories, preferences.Origin{}, now)
				p = after
			case "answer":
				of := rapid.SampledFrom([]tidings.Channel{"", tidings.Email, tidings.SMS}).Draw(t, "of")
				entries = p.Answer(&trips, of, rapid.Bool().Draw(t, "yes"), preferences.Origin{}, now)
			case "opt out":
				p.OptOut(&trips, tidings.Email)
				entries = preferences.Settle(before, &p, ledgerCategories, preferences.Origin{}, now)
			default:
				if len(links) > 0 {
					link := rapid.SampledFrom(links).Draw(t, "link")
					p.Confirm("trips", link, preferences.Origin{}, now)
					for channel := range lines[link] {
						confirmed[channel] = true
					}
				}
			}
			asked := map[tidings.Channel]bool{}
			for _, e := range entries {
				for _, channel := range tidings.Channels() {
					if e.Channel == "" || e.Channel == channel {
						asked[channel] = e.Action == preferences.ConsentAsked
						confirmed[channel] = confirmed[channel] && e.Action != preferences.ConsentWithdrawn
					}
				}
			}
			for channel := range asked { // an older link is of no use for what was asked for, or taken back, since
				for _, link := range links {
					delete(lines[link], channel)
				}
			}
			maps.DeleteFunc(asked, func(_ tidings.Channel, on bool) bool { return !on })
			if line := p.Consents["trips"].Newest(); len(asked) > 0 && !line.IsZero() && lines[line] == nil {
				lines[line] = asked
				links = append(links, line)
			}
			for _, channel := range tidings.Channels() {
				if sends(p, "trips", channel) && !confirmed[channel] {
					t.Fatalf("sent by %s, which nobody confirmed: %+v", channel, p)
				}
				if sends(before, "trips", channel) && !sends(p, "trips", channel) && confirmed[channel] {
					t.Fatalf("no more sent by %s, which nobody took back: %+v, then %+v", channel, before, p)
				}
			}
		}
		doc, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back preferences.Preferences
		if err := json.Unmarshal(doc, &back); err != nil || reach(back) != reach(p) {
			t.Fatalf("%s is read as %+v: %v", doc, back, err)
		}
	})
}

// Who agreed to some channels of a category is not told to have agreed to none.
func TestAYesThatIsMissingToOneChannelSaysSo(t *testing.T) {
	for _, c := range []struct {
		why, category, wants string
		channel              tidings.Channel
		cause                tidings.Cause
	}{
		{"off until it is asked for", "orders", `{}`, tidings.SMS, tidings.CauseChannel},
		{"asks first, and nobody agreed", "news", `{}`, tidings.SMS, ""},
		{"asks first, and mail was agreed to", "news", `{"categories":{"news":{"email":true}},"consents":{"news":{"state":"given","at":"2026-01-01T00:00:00Z"}}}`, tidings.SMS, tidings.CauseChannel},
		{"waits for the link", "trips", `{"categories":{"trips":true},"consents":{"trips":{"state":"asked","at":"2026-01-01T00:00:00Z"}}}`, tidings.SMS, ""},
		{"waits for the link beside a consent", "trips", `{"categories":{"trips":true},"consents":{"trips":{"state":"given","at":"2026-01-01T00:00:00Z","asked":{"sms":{}}}}}`, tidings.SMS, tidings.CauseChannel},
	} {
		category, _ := ledgerCategories(c.category)
		r := preferences.Request{Event: &tidings.EventType{Category: category, Channels: []tidings.Channel{c.channel}}}
		f := preferences.Facts{Preferences: read(t, c.wants), Providers: map[tidings.Channel]preferences.Carries{c.channel: anywhere}}
		if d := preferences.Decide(r, f, noon)[0]; d.Reason != tidings.ReasonConsentMissing || d.Cause != c.cause {
			t.Errorf("%s: %s %q", c.why, d.Reason, d.Cause)
		}
		again := preferences.Recheck{Event: r.Event, Channel: c.channel, Preferences: f.Preferences}
		if why := preferences.Why(again, tidings.ReasonConsentMissing, noon); why != c.cause {
			t.Errorf("%s: checked again %q", c.why, why)
		}
	}
}
