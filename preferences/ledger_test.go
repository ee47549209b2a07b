package preferences_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s %s", e.Category, e.Channel, e.Action, e.About, e.Value)))
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
		{"that yes forgotten says nothing", `{"categories":{"offers":true}}`, `{"categories":{"offers":null}}`, nil},
		{"marketing that asks", `{}`, `{"categories":{"news":true}}`, []string{"news/ given"}},
		{"forgotten, it has no consent", `{"categories":{"news":true}}`, `{"categories":{"news":null}}`, []string{"news/ withdrawn"}},
		{"marketing that asks twice", `{}`, `{"categories":{"trips":{"email":true}}}`, []string{"trips/email asked"}},
		{"no beside a yes is one to the others", `{"categories":{"news":{"email":true}}}`, `{"categories":{"news":false}}`,
			[]string{"news/push withdrawn", "news/sms withdrawn", "news/inbox withdrawn", "news/webhook withdrawn"}},
		{"yes beside a no is one to the others", `{"categories":{"orders":{"email":false}}}`, `{"categories":{"orders":true}}`,
			[]string{"orders/push given", "orders/sms given", "orders/inbox given", "orders/webhook given"}},
		{"a yes forgotten under a no", `{"categories":{"orders":{"all":false,"email":true}}}`, `{"categories":{"orders":{"email":null}}}`, []string{"orders/email withdrawn"}},
		{"what is off until it is asked for is off again", `{"categories":{"orders":true}}`, `{"categories":{"orders":null}}`, []string{"orders/sms withdrawn"}},
		{"a no forgotten, where a channel is off until it is asked for", `{"categories":{"orders":false}}`, `{"categories":{"orders":null}}`,
			[]string{"orders/push given", "orders/email given", "orders/inbox given", "orders/webhook given"}},
		{"a thread muted, another heard", `{"threads":{"orders":{"a":false}}}`, `{"threads":{"orders":{"a":null,"b":false}}}`, []string{"orders/ unmuted a", "orders/ muted b"}},
		{"a category that is no more in the catalogue", `{"categories":{"old":false}}`, `{"categories":{"old":null}}`, []string{"old/ given"}},
		{"two at once", `{}`, `{"all":true,"categories":{"news":true,"offers":false}}`, []string{"/ given", "news/ given", "offers/ withdrawn"}},
		{"quiet hours", `{}`, `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, []string{"/ set quiet_hours 22:00-07:00"}},
		{"quiet hours forgotten", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":null}`, []string{"/ set quiet_hours"}},
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
	f := preferences.Facts{Preferences: p, Providers: map[tidings.Channel]preferences.Carries{channel: anywhere},
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
	line := p.Consents["trips"].Line
	if len(confirm(&p, line)) != 1 || !sends(p, "trips", tidings.Email) || len(confirm(&p, line)) > 0 || !p.Confirmed("trips", line) {
		t.Errorf("confirmed, but %+v", p.Consents)
	}
	p, _ = patched(t, p, `{"categories":{"trips":false}}`)
	if len(confirm(&p, line)) > 0 || sends(p, "trips", tidings.Email) || p.Confirmed("trips", line) {
		t.Error("an old link took back a refusal")
	}
}

// confirm follows the link to a line, and gives the lines it left as "channel action".
func confirm(p *preferences.Preferences, line tidings.ConsentID) (lines []string) {
	for _, e := range p.Confirm("trips", line, preferences.Origin{Source: preferences.SourcePage, Wording: "w"}, noon) {
		lines = append(lines, fmt.Sprintf("%s %s", e.Channel, e.Action))
	}
	return lines
}

// Asked again at the very same instant, only the newest question can be answered.
func TestOnlyTheNewestQuestionIsConfirmed(t *testing.T) {
	trips, _ := ledgerCategories("trips")
	by := preferences.Origin{Source: preferences.SourceAPI}
	var p preferences.Preferences
	first := p.Answer(&trips, "", true, by, noon)[0].ID
	second := p.Answer(&trips, "", true, by, noon)[0].ID
	if len(confirm(&p, first)) > 0 || sends(p, "trips", tidings.Email) {
		t.Error("the link to an older question answered a newer one")
	}
	if got := confirm(&p, second); !slices.Equal(got, []string{" given"}) || p.Confirmed("trips", first) {
		t.Errorf("the newest link left %q and %+v", got, p.Consents)
	}
}

func TestAConfirmationSaysWhatIsConsentedTo(t *testing.T) {
	for patch, want := range map[string][]string{
		`{"categories":{"trips":{"email":true,"push":true}}}`: {"push given", "email given"},
		`{"categories":{"trips":{"all":true,"sms":false}}}`:   {"push given", "email given", "inbox given", "webhook given"},
		`{"categories":{"trips":true}}`:                       {" given"},
	} {
		p, _ := patched(t, preferences.Preferences{}, patch)
		if got := confirm(&p, p.Consents["trips"].Line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", patch, got, want)
		}
	}
}

func TestAnAnswerMayBeAboutOneChannel(t *testing.T) {
	news, _ := ledgerCategories("news")
	var p preferences.Preferences
	by := preferences.Origin{Source: preferences.SourceAPI}
	for range 2 {
		lines := p.Answer(&news, tidings.Email, true, by, noon)
		if len(lines) != 1 || lines[0].Channel != tidings.Email || lines[0].Action != preferences.ConsentGiven {
			t.Fatalf("a yes to mail left %+v", lines)
		}
	}
	if !sends(p, "news", tidings.Email) || sends(p, "news", tidings.Push) {
		t.Errorf("a yes to mail is one to mail alone: %s", write(t, p))
	}
	p.Answer(&news, tidings.Push, true, by, noon)
	for range 2 {
		lines := p.Answer(&news, tidings.Email, false, by, noon)
		if len(lines) != 1 || lines[0].Channel != tidings.Email || lines[0].Action != preferences.ConsentWithdrawn {
			t.Fatalf("a no to mail left %+v", lines)
		}
	}
	if sends(p, "news", tidings.Email) || !sends(p, "news", tidings.Push) {
		t.Errorf("a no to mail is one to mail alone: %s", write(t, p))
	}
	lines := p.Answer(&news, "", true, by, noon)
	if len(lines) != 2 || lines[0].Channel != "" || lines[1].Channel != tidings.Email || lines[1].Action != preferences.ConsentWithdrawn {
		t.Errorf("a yes to the whole, beside a no to mail, left %+v", lines)
	}
}

// Who reads the ledger from its beginning knows what the user wants.
func TestTheLedgerSaysWhatHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p preferences.Preferences
		told := map[string]bool{} // by channel
		name := rapid.SampledFrom([]string{"orders", "offers", "news", "trips"}).Draw(t, "category")
		c, _ := ledgerCategories(name)
		for _, channel := range tidings.Channels() {
			told[string(channel)] = name != "news" && name != "trips" && !(name == "orders" && channel == tidings.SMS)
		}
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			before := p.Clone()
			var lines []preferences.Entry
			yes := rapid.Bool().Draw(t, "yes")
			switch rapid.SampledFrom([]string{"patch", "patch", "answer", "opt-out", "confirm"}).Draw(t, "way") {
			case "patch":
				var err error
				if p, err = p.Patch(drawPatch(t, name), ledgerKinds); err != nil {
					t.Fatal(err)
				}
			case "answer":
				lines = p.Answer(&c, rapid.SampledFrom([]tidings.Channel{"", tidings.Email}).Draw(t, "of"), yes, preferences.Origin{}, noon)
			case "confirm":
				lines = p.Confirm(name, p.Consents[name].Newest(), preferences.Origin{}, noon)
			default:
				p.OptOut(&c, tidings.Email)
			}
			if lines == nil {
				lines = preferences.Settle(before, &p, ledgerCategories, preferences.Origin{}, noon)
			}
			slices.SortStableFunc(lines, func(a, b preferences.Entry) int { return cmp.Compare(a.ID.String(), b.ID.String()) })
			for _, e := range lines {
				for _, channel := range tidings.Channels() {
					if asks := e.Action == preferences.ConsentAsked; !asks && (e.Channel == "" || e.Channel == channel) {
						told[string(channel)] = e.Action == preferences.ConsentGiven
					}
				}
			}
		}
		for _, channel := range drawnChannels {
			if got := sends(p, name, channel); got != told[string(channel)] {
				t.Errorf("%s by %s: sent %t, and the ledger says %t; %+v", name, channel, got, told[string(channel)], p.Categories)
			}
		}
	})
}

// drawPatch is a patch of some cells of a category.
func drawPatch(t *rapid.T, category string) []byte {
	cells := map[string]any{}
	for _, cell := range []string{"all", "email", "sms"} {
		if rapid.Bool().Draw(t, "with "+cell) {
			cells[cell] = rapid.SampledFrom([]any{true, false, nil}).Draw(t, cell)
		}
	}
	patch, err := json.Marshal(map[string]any{"categories": map[string]any{category: cells}})
	if err != nil {
		t.Fatal(err)
	}
	return patch
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
			lines := p.Answer(&category, "", c.yes, preferences.Origin{Source: preferences.SourceAPI}, noon)
			if len(lines) != 1 || lines[0].Category != c.category || lines[0].Action != want {
				t.Errorf("%s: answer %d left %+v, want %s", c.why, i+1, lines, want)
			}
			if category.Kind == tidings.Marketing && p.Consents[c.category].State != want {
				t.Errorf("%s: stands at %+v, want %s", c.why, p.Consents, want)
			}
		}
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
	for i := range rapid.IntRange(0, 6).Draw(t, "patches") {
		now := noon.Add(time.Duration(i) * time.Minute)
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
		ledger = append(ledger, preferences.Settle(p, &after, ledgerCategories, preferences.Origin{Source: preferences.SourceAPI}, now)...)
		p = after
		if rapid.Bool().Draw(t, "confirmed") {
			ledger = append(ledger, p.Confirm(name, p.Consents[name].Newest(), preferences.Origin{Source: preferences.SourcePage}, now)...)
		}
	}
	return p, ledger
}
