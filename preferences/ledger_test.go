package preferences_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidings"
	"tidings/preferences"
)

// ledgerCategories is a catalogue with a category of each consent.
func ledgerCategories(name string) (tidings.Category, bool) {
	c, known := map[string]tidings.Category{
		"security": {Kind: tidings.Critical},
		"orders":   {Kind: tidings.Transactional, Channels: map[tidings.Channel]bool{tidings.SMS: false}},
		"offers":   {Kind: tidings.Marketing, Consent: tidings.OptOut},
		"news":     {Kind: tidings.Marketing, Consent: tidings.OptIn},
		"trips":    {Kind: tidings.Marketing, Consent: tidings.DoubleOptIn},
	}[name]
	c.Name = name
	return c, known
}

func ledgerKinds(name string) (tidings.CategoryKind, bool) {
	c, known := ledgerCategories(name)
	return c.Kind, known
}

// patched applies a patch as the API does, and gives the lines as "category/channel action".
func patched(t rapid.TB, before preferences.Preferences, patch string) (preferences.Preferences, []string) {
	t.Helper()
	after, err := before.Patch([]byte(patch), ledgerKinds)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range preferences.Settle(before, &after, ledgerCategories, preferences.Origin{Source: preferences.SourceAPI, App: "shop"}, noon) {
		if e.ID.IsZero() || e.Source != preferences.SourceAPI || e.App != "shop" || !e.At.Equal(noon) {
			t.Errorf("the line %+v does not say who, how and when", e)
		}
		lines = append(lines, fmt.Sprintf("%s/%s %s", e.Category, e.Channel, e.Action))
	}
	return after, lines
}

func TestEveryOptInAndOptOutLeavesALine(t *testing.T) {
	for _, c := range []struct {
		why, before, patch string
		want               []string
	}{
		{"all", `{}`, `{"all":false}`, []string{"/ withdrawn"}},
		{"all again", `{"all":false}`, `{"all":false}`, nil},
		{"all taken back", `{"all":false}`, `{"all":null}`, []string{"/ given"}},
		{"a channel", `{}`, `{"channels":{"sms":false}}`, []string{"/sms withdrawn"}},
		{"channels forgotten", `{"channels":{"sms":false,"push":true}}`, `{"channels":null}`, []string{"/sms given"}},
		{"a category", `{}`, `{"categories":{"orders":false}}`, []string{"orders/ withdrawn"}},
		{"a channel of a category", `{}`, `{"categories":{"orders":{"email":false}}}`, []string{"orders/email withdrawn"}},
		{"a channel that is off until it is asked for", `{}`, `{"categories":{"orders":{"sms":true}}}`, []string{"orders/sms given"}},
		{"and no more asked for", `{"categories":{"orders":{"sms":true}}}`, `{"categories":{"orders":{"sms":null}}}`, []string{"orders/sms withdrawn"}},
		{"a yes to what was on", `{}`, `{"categories":{"orders":true}}`, []string{"orders/ given"}},
		{"that yes forgotten says nothing", `{"categories":{"orders":true}}`, `{"categories":{"orders":null}}`, nil},
		{"marketing that asks", `{}`, `{"categories":{"news":true}}`, []string{"news/ given"}},
		{"forgotten, it has no consent", `{"categories":{"news":true}}`, `{"categories":{"news":null}}`, []string{"news/ withdrawn"}},
		{"marketing that asks twice", `{}`, `{"categories":{"trips":{"email":true}}}`, []string{"trips/email asked"}},
		{"no ends each yes", `{"categories":{"news":{"email":true}}}`, `{"categories":{"news":false}}`, []string{"news/ withdrawn", "news/email withdrawn"}},
		{"a category that is no more in the catalogue", `{"categories":{"old":false}}`, `{"categories":{"old":null}}`, []string{"old/ given"}},
		{"two at once", `{}`, `{"all":true,"categories":{"news":true,"offers":false}}`, []string{"/ given", "news/ given", "offers/ withdrawn"}},
		{"quiet hours are no consent", `{}`, `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, nil},
	} {
		if _, got := patched(t, read(t, c.before), c.patch); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestTheConsentFollowsTheLedger(t *testing.T) {
	for _, c := range []struct {
		why     string
		patches []string
		of      string
		want    preferences.ConsentState
	}{
		{"a yes", []string{`{"categories":{"news":true}}`}, "news", preferences.ConsentGiven},
		{"a yes to one channel", []string{`{"categories":{"news":{"email":true}}}`}, "news", preferences.ConsentGiven},
		{"a no", []string{`{"categories":{"news":true}}`, `{"categories":{"news":false}}`}, "news", preferences.ConsentWithdrawn},
		{"the only yes taken back", []string{`{"categories":{"news":{"email":true}}}`, `{"categories":{"news":{"email":false}}}`}, "news", preferences.ConsentWithdrawn},
		{"one yes of two taken back", []string{`{"categories":{"news":{"email":true,"push":true}}}`, `{"categories":{"news":{"email":null}}}`}, "news", preferences.ConsentGiven},
		{"a yes after a no", []string{`{"categories":{"news":false}}`, `{"categories":{"news":true}}`}, "news", preferences.ConsentGiven},
		{"a yes to be confirmed", []string{`{"categories":{"trips":true}}`}, "trips", preferences.ConsentAsked},
		{"a wider refusal leaves it", []string{`{"categories":{"news":true}}`, `{"all":false}`}, "news", preferences.ConsentGiven},
		{"what is on until refused, refused and that taken back", []string{`{"categories":{"offers":false}}`, `{"categories":{"offers":null}}`}, "offers", ""},
		{"no marketing has none", []string{`{"categories":{"orders":false}}`}, "orders", ""},
	} {
		var p preferences.Preferences
		for _, patch := range c.patches {
			p, _ = patched(t, p, patch)
		}
		if got := p.Consents[c.of].State; got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// sends reports whether a category may reach the user on a channel.
func sends(p preferences.Preferences, category string, channel tidings.Channel) bool {
	c, _ := ledgerCategories(category)
	event := tidings.EventType{Name: "x", Category: c, Channels: []tidings.Channel{channel}}
	f := preferences.Facts{Preferences: p, Providers: map[tidings.Channel]bool{channel: true},
		Addresses: []tidings.Address{{ID: tidings.NewAddressID(noon), Channel: channel, Status: tidings.AddressActive}}}
	return preferences.Decide(preferences.Request{Event: &event}, f, noon)[0].Action == tidings.ActionSend
}

func TestAConsentReachesAsFarAsTheYes(t *testing.T) {
	p, _ := patched(t, preferences.Preferences{}, `{"categories":{"news":{"email":true}}}`)
	if !sends(p, "news", tidings.Email) || sends(p, "news", tidings.Push) {
		t.Error("a yes to mail is one to mail alone")
	}
	p, _ = patched(t, p, `{"categories":{"news":true}}`)
	if !sends(p, "news", tidings.Push) {
		t.Error("a yes to all is one to push")
	}
}

func TestAConsentThatAsksTwiceCountsOnceItIsConfirmed(t *testing.T) {
	p, _ := patched(t, preferences.Preferences{}, `{"categories":{"trips":true}}`)
	if sends(p, "trips", tidings.Email) {
		t.Error("sent before the person confirmed")
	}
	if !p.Confirm("trips", noon, noon) || !sends(p, "trips", tidings.Email) || p.Confirm("trips", noon, noon) {
		t.Errorf("confirmed, but %+v", p.Consents)
	}
	if asked, _ := patched(t, preferences.Preferences{}, `{"categories":{"trips":true}}`); asked.Confirm("trips", noon.Add(-1), noon) {
		t.Error("the link to an older question answered a newer one")
	}
	p, _ = patched(t, p, `{"categories":{"trips":false}}`)
	if p.Confirm("trips", noon, noon) || sends(p, "trips", tidings.Email) {
		t.Error("an old link took back a refusal")
	}
}

func TestAnOptOutReachesAsFarAsTheCategorySays(t *testing.T) {
	for _, c := range []struct {
		why      string
		category string
		scope    tidings.Scope
		channel  tidings.Channel
		want     string
	}{
		{"the category unless said otherwise", "offers", "", tidings.Email, `{"categories":{"offers":false},"version":0}`},
		{"the category", "offers", tidings.ScopeCategory, tidings.Email, `{"categories":{"offers":false},"version":0}`},
		{"the channel", "offers", tidings.ScopeChannel, tidings.Email, `{"channels":{"email":false},"version":0}`},
		{"the channel, when there is none", "offers", tidings.ScopeChannel, "", `{"categories":{"offers":false},"version":0}`},
		{"all", "offers", tidings.ScopeAll, tidings.Email, `{"all":false,"version":0}`},
		{"what is critical stays", "security", "", tidings.Email, `{"version":0}`},
		{"all but what is critical", "security", tidings.ScopeAll, tidings.Email, `{"all":false,"version":0}`},
	} {
		category, _ := ledgerCategories(c.category)
		category.OptOut = c.scope
		var p preferences.Preferences
		p.OptOut(&category, c.channel)
		if got := write(t, p); got != c.want {
			t.Errorf("%s: %s, want %s", c.why, got, c.want)
		}
	}
}

func TestAnAnswerIsKeptAlsoWhenNothingChanges(t *testing.T) {
	for _, c := range []struct {
		why, category string
		yes           bool
		first, second preferences.ConsentState
	}{
		{"a yes to what asks", "news", true, preferences.ConsentGiven, preferences.ConsentGiven},
		{"a no", "news", false, preferences.ConsentWithdrawn, preferences.ConsentWithdrawn},
		{"a yes that waits for the link", "trips", true, preferences.ConsentAsked, preferences.ConsentAsked},
		{"a no to what is on", "offers", false, preferences.ConsentWithdrawn, preferences.ConsentWithdrawn},
		{"a yes to what is no marketing", "orders", true, preferences.ConsentGiven, preferences.ConsentGiven},
	} {
		category, _ := ledgerCategories(c.category)
		var p preferences.Preferences
		for i, want := range []preferences.ConsentState{c.first, c.second} {
			lines := p.Answer(&category, c.yes, preferences.Origin{Source: preferences.SourceAPI}, noon)
			if len(lines) != 1 || lines[0].Category != c.category || lines[0].Action != want {
				t.Errorf("%s: answer %d left %+v, want %s", c.why, i+1, lines, want)
			}
			if category.Kind == tidings.Marketing && p.Consents[c.category].State != want {
				t.Errorf("%s: stands at %+v, want %s", c.why, p.Consents, want)
			}
		}
	}
}

func TestAnAnswerToAConfirmedConsentAsksNoMore(t *testing.T) {
	category, _ := ledgerCategories("trips")
	var p preferences.Preferences
	p.Answer(&category, true, preferences.Origin{}, noon)
	p.Confirm("trips", noon, noon)
	lines := p.Answer(&category, true, preferences.Origin{}, noon)
	if len(lines) != 1 || lines[0].Action != preferences.ConsentGiven || p.Consents["trips"].State != preferences.ConsentGiven {
		t.Errorf("%+v, stands at %+v", lines, p.Consents)
	}
}

// What an opt-out leaves can only be less, wherever the user stood.
func TestAnUnsubscribeNeverLetsThroughMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawWishes(t)
		name := rapid.SampledFrom([]string{"security", "orders", "offers", "news", "trips"}).Draw(t, "category")
		c, _ := ledgerCategories(name)
		c.OptOut = rapid.SampledFrom([]tidings.Scope{"", tidings.ScopeCategory, tidings.ScopeChannel, tidings.ScopeAll}).Draw(t, "scope")
		channel := rapid.SampledFrom(drawnChannels).Draw(t, "channel")
		after := p.Clone()
		after.OptOut(&c, channel)
		lines := preferences.Settle(p, &after, ledgerCategories, preferences.Origin{Source: preferences.SourceUnsubscribe}, noon)
		for _, e := range lines {
			if e.Action != preferences.ConsentWithdrawn {
				t.Errorf("an opt-out wrote %+v", e)
			}
		}
		if name != "security" && sends(after, name, channel) {
			t.Errorf("%s is still sent by %s", name, channel)
		}
		for _, other := range []string{"security", "orders", "offers", "news", "trips"} {
			for _, channel := range drawnChannels {
				if sends(after, other, channel) && !sends(p, other, channel) {
					t.Errorf("%s came to be sent by %s", other, channel)
				}
			}
		}
	})
}

// What a ledger tells of a user never lets through more than the user wants, nor forgets what
// they refused.
func TestWhatALedgerRecallsNeverLetsThroughMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, ledger := drawStory(t)
		recalled := preferences.Recall(ledger)
		for _, name := range []string{"security", "orders", "offers", "news", "trips"} {
			for _, channel := range drawnChannels {
				if sends(recalled, name, channel) && !sends(p, name, channel) {
					t.Errorf("%s came to be sent by %s: recalled %+v of %+v", name, channel, recalled, p)
				}
			}
		}
	})
}

func TestALedgerRecallsOptInsAndOptOutsAndNoWordsOfNumbers(t *testing.T) {
	line := func(category string, channel tidings.Channel, action preferences.ConsentState, source preferences.Source) preferences.Entry {
		return preferences.Origin{Source: source}.Entry(category, channel, action, noon)
	}
	p := preferences.Recall([]preferences.Entry{
		line("", tidings.SMS, preferences.ConsentWithdrawn, preferences.SourceStop),
		line("", tidings.Email, preferences.ConsentWithdrawn, preferences.SourceAPI),
		line("orders", "", preferences.ConsentWithdrawn, preferences.SourceUnsubscribe),
		line("news", tidings.Push, preferences.ConsentGiven, preferences.SourceAPI),
		line("trips", "", preferences.ConsentAsked, preferences.SourcePage),
	})
	for name, want := range map[string]string{
		"orders": "", "offers": "push sms", "news": "push", "trips": "",
	} {
		var got []string
		for _, channel := range []tidings.Channel{tidings.Push, tidings.Email, tidings.SMS} {
			if sends(p, name, channel) {
				got = append(got, string(channel))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is sent by %q, want %q", name, got, want)
		}
	}
	if p.Consents["trips"].State != preferences.ConsentAsked {
		t.Errorf("consents %+v", p.Consents)
	}
}

// drawWishes is where some patches, each settled, bring a user.
func drawWishes(t *rapid.T) preferences.Preferences {
	p, _ := drawStory(t)
	return p
}

// drawStory is where some patches bring a user, and the ledger of them.
func drawStory(t *rapid.T) (p preferences.Preferences, ledger []preferences.Entry) {
	for range rapid.IntRange(0, 5).Draw(t, "patches") {
		on := rapid.SampledFrom([]any{true, false, nil}).Draw(t, "on")
		var value any = on
		if channel := rapid.SampledFrom([]string{"", "push", "sms", "email"}).Draw(t, "channel"); channel != "" {
			value = map[string]any{channel: on}
		}
		name := rapid.SampledFrom([]string{"orders", "offers", "news", "trips"}).Draw(t, "category")
		patch, err := json.Marshal(map[string]any{"categories": map[string]any{name: value}})
		if err != nil {
			t.Fatal(err)
		}
		after, err := p.Patch(patch, ledgerKinds)
		if err != nil {
			t.Fatal(err)
		}
		ledger = append(ledger, preferences.Settle(p, &after, ledgerCategories, preferences.Origin{Source: preferences.SourceAPI}, noon)...)
		p = after
	}
	for _, name := range []string{"news", "trips"} {
		if rapid.Bool().Draw(t, "confirmed") && p.Confirm(name, noon, noon) {
			ledger = append(ledger, preferences.Origin{Source: preferences.SourcePage}.Entry(name, "", preferences.ConsentGiven, noon))
		}
	}
	return p, ledger
}
