package preferences_test

import (
	"fmt"
	"testing"
	"time"

	"tidings"
	"tidings/preferences"
)

var (
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	no   = new(bool)
	yes  = func() *bool { b := true; return &b }()
)

// address makes an active address of u_1; n tells addresses apart.
func address(channel tidings.Channel, n byte) tidings.Address {
	return tidings.Address{ID: tidings.AddressID{n}, UserID: "u_1", Channel: channel, Status: tidings.AddressActive}
}

func with(a tidings.Address, status tidings.AddressStatus, reason tidings.Reason) tidings.Address {
	a.Status, a.Reason = status, reason
	return a
}

// anywhere and nowhere are what a channel's providers carry to.
func anywhere(*tidings.Address) bool { return true }
func nowhere(*tidings.Address) bool  { return false }

// situation is an event of kind transactional on push, e-mail and SMS, all reachable; cases change it.
func situation() (preferences.Request, preferences.Facts) {
	event := &tidings.EventType{
		Name:     "order.shipped",
		Category: tidings.Category{Name: "orders", Kind: tidings.Transactional},
		Channels: []tidings.Channel{tidings.Push, tidings.Email, tidings.SMS},
	}
	return preferences.Request{Event: event, ExpiresAt: noon.Add(time.Hour)}, preferences.Facts{
		User:      tidings.User{ID: "u_1"},
		Addresses: []tidings.Address{address(tidings.Push, 1), address(tidings.Push, 2), address(tidings.Email, 3), address(tidings.SMS, 4)},
		Providers: map[tidings.Channel]preferences.Carries{tidings.Push: anywhere, tidings.Email: anywhere, tidings.SMS: anywhere},
	}
}

func orders(c preferences.Choice) preferences.Preferences {
	return preferences.Preferences{Categories: map[string]preferences.Choice{"orders": c}}
}

func TestDecideGivesTheFirstReasonThatApplies(t *testing.T) {
	type situated = func(r *preferences.Request, f *preferences.Facts)
	stop := func(reason tidings.Reason) preferences.Suppression { return preferences.Suppression{Reason: reason} }
	cases := []struct {
		why   string
		given situated
		push  string // what becomes of push: a reason, or "" for sent
		sms   string
	}{
		{"nothing speaks against it", func(*preferences.Request, *preferences.Facts) {}, "", ""},
		{"the app narrowed the channels", func(r *preferences.Request, _ *preferences.Facts) {
			r.Channels = []tidings.Channel{tidings.SMS}
		}, "not_requested", ""},
		{"an app's narrowing is told before a missing provider", func(r *preferences.Request, f *preferences.Facts) {
			r.Channels, f.Providers = []tidings.Channel{tidings.SMS}, nil
		}, "not_requested", "no_provider"},
		{"nobody could carry it", func(_ *preferences.Request, f *preferences.Facts) {
			f.Providers[tidings.Push] = nil
		}, "no_provider", ""},
		{"nobody carries to any of their addresses", func(_ *preferences.Request, f *preferences.Facts) {
			f.Providers[tidings.Push] = nowhere
		}, "no_provider", ""},
		{"that nobody carries to their addresses is told before a refusal", func(_ *preferences.Request, f *preferences.Facts) {
			f.Providers[tidings.Push], f.Preferences.All = nowhere, no
		}, "no_provider", "opted_out_all"},
		{"an address that is not used need not be carried to", func(_ *preferences.Request, f *preferences.Facts) {
			f.Providers[tidings.SMS] = nowhere
			f.Suppressed = map[tidings.AddressID]preferences.Suppression{{4}: stop(tidings.ReasonOptedOutChannel)}
		}, "", "opted_out_channel"},
		{"where there is no address, nobody is missed to carry to it", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses, f.Providers[tidings.SMS] = nil, nowhere
		}, "no_address", "no_address"},
		{"a missing provider is told before a refusal", func(_ *preferences.Request, f *preferences.Facts) {
			f.Providers[tidings.Push], f.Preferences.All = nil, no
		}, "no_provider", "opted_out_all"},
		{"the last instant before the expiry still counts", func(r *preferences.Request, _ *preferences.Facts) {
			r.ExpiresAt = noon.Add(time.Microsecond)
		}, "", ""},
		{"an expiry is the first instant that is too late", func(r *preferences.Request, _ *preferences.Facts) {
			r.ExpiresAt = noon
		}, "expired", "expired"},
		{"no expiry means for ever", func(r *preferences.Request, _ *preferences.Facts) {
			r.ExpiresAt = time.Time{}
		}, "", ""},
		{"what would be sent after its expiry never will be", func(r *preferences.Request, _ *preferences.Facts) {
			r.SendAt = r.ExpiresAt
		}, "expired", "expired"},
		{"all off", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.All = no
		}, "opted_out_all", "opted_out_all"},
		{"all on says nothing", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.All = yes
		}, "", ""},
		{"all off is wider than a channel and a category switched on", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences = orders(preferences.Choice{All: yes, Channels: map[tidings.Channel]bool{tidings.Push: true}})
			f.Preferences.All, f.Preferences.Channels = no, map[tidings.Channel]bool{tidings.Push: true}
		}, "opted_out_all", "opted_out_all"},
		{"one channel off", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.Channels = map[tidings.Channel]bool{tidings.Push: false}
		}, "opted_out_channel", ""},
		{"a channel off is wider than the category on it", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences = orders(preferences.Choice{Channels: map[tidings.Channel]bool{tidings.Push: true}})
			f.Preferences.Channels = map[tidings.Channel]bool{tidings.Push: false}
		}, "opted_out_channel", ""},
		{"a category off", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences = orders(preferences.Choice{All: no})
		}, "opted_out_category", "opted_out_category"},
		{"a category off on one channel", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences = orders(preferences.Choice{Channels: map[tidings.Channel]bool{tidings.Push: false}})
		}, "opted_out_category", ""},
		{"a category off but for one channel", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences = orders(preferences.Choice{All: no, Channels: map[tidings.Channel]bool{tidings.Push: true}})
		}, "", "opted_out_category"},
		{"another category is none of this event's business", func(_ *preferences.Request, f *preferences.Facts) {
			f.Preferences.Categories = map[string]preferences.Choice{"offers": {All: no}}
		}, "", ""},
		{"preferences never silence what is critical", func(r *preferences.Request, f *preferences.Facts) {
			r.Event.Category.Kind = tidings.Critical
			f.Preferences = orders(preferences.Choice{All: no})
			f.Preferences.All, f.Preferences.Channels = no, map[tidings.Channel]bool{tidings.SMS: false}
		}, "", ""},
		{"marketing is on until refused", func(r *preferences.Request, _ *preferences.Facts) {
			r.Event.Category.Kind, r.Event.Category.Consent = tidings.Marketing, tidings.OptOut
		}, "", ""},
		{"marketing that needs a consent has none", func(r *preferences.Request, _ *preferences.Facts) {
			r.Event.Category.Kind, r.Event.Category.Consent = tidings.Marketing, tidings.OptIn
		}, "consent_missing", "consent_missing"},
		{"a refusal is told before a missing consent", func(r *preferences.Request, f *preferences.Facts) {
			r.Event.Category.Kind, r.Event.Category.Consent = tidings.Marketing, tidings.OptIn
			f.Preferences.All = no
		}, "opted_out_all", "opted_out_all"},
		{"no address at all", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses = f.Addresses[3:]
		}, "no_address", ""},
		{"a refusal is told before a missing address", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses, f.Preferences.All = nil, no
		}, "opted_out_all", "opted_out_all"},
		{"every address is retired", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses[0] = with(f.Addresses[0], tidings.AddressRetired, tidings.ReasonAddressMoved)
			f.Addresses[1] = with(f.Addresses[1], tidings.AddressRetired, tidings.ReasonRecipientDead)
		}, "address_retired", ""},
		{"the newest device belongs to another user now", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses[0] = with(f.Addresses[0], tidings.AddressRetired, tidings.ReasonRecipientDead)
			f.Addresses[1] = with(f.Addresses[1], tidings.AddressRetired, tidings.ReasonAddressMoved)
		}, "address_moved", ""},
		{"a quarantined address may come back, so it is told first", func(_ *preferences.Request, f *preferences.Facts) {
			f.Addresses[0] = with(f.Addresses[0], tidings.AddressQuarantined, tidings.ReasonRecipientRejected)
			f.Addresses[1] = with(f.Addresses[1], tidings.AddressRetired, tidings.ReasonRecipientDead)
		}, "quarantined", ""},
		{"the number said stop", func(_ *preferences.Request, f *preferences.Facts) {
			f.Suppressed = map[tidings.AddressID]preferences.Suppression{{4}: stop(tidings.ReasonOptedOutChannel)}
		}, "", "opted_out_channel"},
		{"a stop silences what is critical too", func(r *preferences.Request, f *preferences.Facts) {
			r.Event.Category.Kind = tidings.Critical
			f.Suppressed = map[tidings.AddressID]preferences.Suppression{{4}: stop(tidings.ReasonOptedOutChannel)}
		}, "", "opted_out_channel"},
		{"the oldest stop is told when every address has one", func(_ *preferences.Request, f *preferences.Facts) {
			f.Suppressed = map[tidings.AddressID]preferences.Suppression{
				{1}: stop(tidings.ReasonSuppressedBounce), {2}: stop(tidings.ReasonSuppressedComplaint)}
		}, "suppressed_bounce", ""},
		{"a stop on one address leaves the other", func(_ *preferences.Request, f *preferences.Facts) {
			f.Suppressed = map[tidings.AddressID]preferences.Suppression{{1}: stop(tidings.ReasonSuppressedBounce)}
		}, "", ""},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			r, f := situation()
			c.given(&r, &f)
			decisions := preferences.Decide(r, f, noon)
			assertOrder(t, r, decisions)
			assertReason(t, decisions[0], c.push)
			assertReason(t, decisions[2], c.sms)
		})
	}
}

func assertOrder(t *testing.T, r preferences.Request, decisions []tidings.Decision) {
	t.Helper()
	if len(decisions) != len(r.Event.Channels) {
		t.Fatalf("%d decisions for %d channels", len(decisions), len(r.Event.Channels))
	}
	for i, d := range decisions {
		if d.Channel != r.Event.Channels[i] || !d.At.Equal(noon) {
			t.Errorf("decision %d is for %s at %s", i, d.Channel, d.At)
		}
	}
}

func assertReason(t *testing.T, d tidings.Decision, reason string) {
	t.Helper()
	want := tidings.ActionSuppress
	if reason == "" {
		want = tidings.ActionSend
	}
	if d.Action != want || string(d.Reason) != reason {
		t.Errorf("%s: %s %q, want %s %q", d.Channel, d.Action, d.Reason, want, reason)
	}
	if sends := d.Action == tidings.ActionSend; sends != (len(d.To) > 0) || d.Addresses != len(d.To) || !d.Until.IsZero() {
		t.Errorf("%s: %s to %d addresses, counted %d, until %s", d.Channel, d.Action, len(d.To), d.Addresses, d.Until)
	}
}

func TestDecideSendsOnlyToAddressesThatMayBeUsed(t *testing.T) {
	r, f := situation()
	f.Addresses = append(f.Addresses,
		with(address(tidings.Push, 5), tidings.AddressRetired, tidings.ReasonRecipientDead),
		with(address(tidings.Push, 6), tidings.AddressQuarantined, tidings.ReasonRecipientRejected),
		address(tidings.Push, 7))
	f.Suppressed = map[tidings.AddressID]preferences.Suppression{{1}: {Reason: tidings.ReasonSuppressedComplaint}}
	push := preferences.Decide(r, f, noon)[0]
	if push.Addresses != 2 || push.To[0].ID != (tidings.AddressID{2}) || push.To[1].ID != (tidings.AddressID{7}) {
		t.Errorf("sent to %+v", push.To)
	}
}

func TestDecideHoldsWhatIsScheduledAndPossible(t *testing.T) {
	r, f := situation()
	r.SendAt = noon.Add(time.Minute)
	f.Preferences.Channels = map[tidings.Channel]bool{tidings.SMS: false}
	f.Addresses = f.Addresses[2:]
	got := preferences.Decide(r, f, noon)
	assertReason(t, got[0], "no_address")
	assertReason(t, got[2], "opted_out_channel")
	email := got[1]
	if email.Action != tidings.ActionHold || email.Reason != tidings.ReasonScheduled || !email.Until.Equal(r.SendAt) || email.To != nil {
		t.Errorf("e-mail: %+v", email)
	}
	assertReason(t, preferences.Decide(r, f, r.SendAt)[1], "")
}

func TestDecideNeedsNothingFromAnUnknownUser(t *testing.T) {
	r, _ := situation()
	for _, d := range preferences.Decide(r, preferences.Facts{Providers: map[tidings.Channel]preferences.Carries{tidings.Push: anywhere}}, noon)[:1] {
		assertReason(t, d, "no_address")
	}
}

// What a user has said, refused and been told before costs a decision nothing but the look at it.
func TestDecideAllocatesNoMoreForALongHistory(t *testing.T) {
	cost := func(history int) float64 {
		r, f := situation()
		event := *r.Event
		event.Category = tidings.Category{Name: "offers", Kind: tidings.Marketing, Consent: tidings.OptIn}
		event.Limits = []tidings.Limit{{Cap: tidings.Cap{Count: 3, Per: 24 * time.Hour}, Scope: "user", Reason: tidings.ReasonRateLimitedUser}}
		r.Event, r.Thread = &event, "t_none"
		f.Preferences = preferences.Preferences{Categories: map[string]preferences.Choice{}, Threads: map[string]map[string]bool{"offers": {}},
			Consents: map[string]preferences.Consent{}}
		f.Told = map[string][]time.Time{}
		yes := true
		for i := range history {
			name := fmt.Sprint(i)
			f.Preferences.Categories[name] = preferences.Choice{All: &yes}
			f.Preferences.Consents[name] = preferences.Consent{State: preferences.ConsentGiven, At: noon}
			f.Preferences.Threads["offers"][name] = false
			f.Told["type:"+name] = []time.Time{noon}
			f.Told["user"] = append(f.Told["user"], noon.Add(time.Duration(i-history)*time.Hour-48*time.Hour))
		}
		f.Preferences.Categories["offers"] = preferences.Choice{All: &yes}
		f.Preferences.Consents["offers"] = preferences.Consent{State: preferences.ConsentGiven, At: noon}
		if d := preferences.Decide(r, f, noon); d[0].Action != tidings.ActionSend {
			t.Fatalf("decided %+v", d[0])
		}
		return testing.AllocsPerRun(100, func() { preferences.Decide(r, f, noon) })
	}
	if short, long := cost(1), cost(5000); long > short {
		t.Errorf("%v allocations with a long history, %v with a short one", long, short)
	}
}

func BenchmarkDecide(b *testing.B) {
	r, f := situation()
	f.Preferences = orders(preferences.Choice{Channels: map[tidings.Channel]bool{tidings.Email: false}})
	f.Suppressed = map[tidings.AddressID]preferences.Suppression{{1}: {Reason: tidings.ReasonSuppressedBounce}}
	b.ReportAllocs()
	for b.Loop() {
		preferences.Decide(r, f, noon)
	}
}
