package preferences_test

import (
	"cmp"
	"testing"
	"time"

	"tidings"
	"tidings/preferences"
)

func TestMarketingSMSComesWhenTheLawOfThePhonesCountryLetsIt(t *testing.T) {
	zones, err := preferences.NewZones("UTC")
	if err != nil {
		t.Fatal(err)
	}
	narrow := map[string]tidings.Window{"US": {time.Monday: {From: 12 * 60, To: 13 * 60}}}
	always := map[string]tidings.Window{"US": {{To: 1440}, {To: 1440}, {To: 1440}, {To: 1440}, {To: 1440}, {To: 1440}, {To: 1440}}}
	others := map[string]tidings.Window{"*": {{From: 600, To: 660}, {From: 600, To: 660}, {From: 600, To: 660}, {From: 600, To: 660}, {From: 600, To: 660}, {From: 600, To: 660}, {From: 600, To: 660}}}
	for _, c := range []struct {
		why, phone, timezone, at, want string
		windows                        map[string]tidings.Window
	}{
		{"New York, one minute before eight", "+12125550123", "", "2027-01-15T12:59:00Z", "2027-01-15T13:00:00Z", nil},
		{"New York, the last minute", "+12125550123", "", "2027-01-16T01:59:00Z", "", nil},
		{"New York, at nine in the evening", "+12125550123", "", "2027-01-16T02:00:00Z", "2027-01-16T13:00:00Z", nil},
		{"New York in summer", "+12125550123", "", "2027-07-15T11:59:00Z", "2027-07-15T12:00:00Z", nil},
		{"the night on which the clock is put forward", "+12125550123", "", "2027-03-14T05:00:00Z", "2027-03-14T12:00:00Z", nil},
		{"California by its area code", "+13105550123", "", "2027-01-15T14:00:00Z", "2027-01-15T16:00:00Z", nil},
		{"a phone of New York whose owner lives in Hawaii", "+12125550123", "Pacific/Honolulu", "2027-01-15T14:00:00Z", "2027-01-15T18:00:00Z", nil},
		{"an area code over two zones waits for the later morning", "+18505550123", "", "2027-01-15T13:30:00Z", "2027-01-15T14:00:00Z", nil},
		{"and goes by the earlier evening", "+18505550123", "", "2027-01-16T02:30:00Z", "2027-01-16T14:00:00Z", nil},
		{"not on a Sunday in France", "+33655501000", "", "2027-01-16T21:30:00Z", "2027-01-18T07:00:00Z", nil},
		{"Saturday afternoon in Colombia", "+573055501000", "", "2027-01-16T20:30:00Z", "2027-01-18T12:00:00Z", nil},
		{"a country without such a law", "+4915755501000", "", "2027-01-15T02:00:00Z", "", nil},
		{"the catalogue narrows it", "+12125550123", "", "2027-01-15T14:00:00Z", "2027-01-18T17:00:00Z", narrow},
		{"the catalogue lifts it", "+12125550123", "", "2027-01-15T05:00:00Z", "", always},
		{"the catalogue gives one to all others", "+4915755501000", "", "2027-01-15T02:00:00Z", "2027-01-15T09:00:00Z", others},
		{"which the law of a country goes before", "+12125550123", "", "2027-01-15T18:00:00Z", "", others},
	} {
		t.Run(c.why, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, c.at)
			if err != nil {
				t.Fatal(err)
			}
			r, f := situation()
			r.Event.Category.Kind, r.Event.Category.Consent, r.Event.Windows = tidings.Marketing, tidings.OptOut, c.windows
			r.ExpiresAt = now.Add(96 * time.Hour)
			f.User.Timezone, f.Addresses[3].Value = c.timezone, c.phone
			zones.Place(&f)
			decisions := preferences.Decide(r, f, now)
			assertReason(t, decisions[0], "")
			until := ""
			if sms := decisions[2]; sms.Action == tidings.ActionHold {
				until = sms.Until.UTC().Format(time.RFC3339)
			}
			if until != c.want {
				t.Errorf("held until %q, want %q", until, c.want)
			}
			check := preferences.Recheck{Event: r.Event, Channel: tidings.SMS, Zone: f.Zone, Called: zones.Called(&f.User, c.phone),
				Address: f.Addresses[3], Owner: "u_1", ExpiresAt: r.ExpiresAt}
			if status, _, due := preferences.Check(check, now); (status == tidings.Parked) != (c.want != "") || c.want != "" && !due.Equal(decisions[2].Until) {
				t.Errorf("checked %q until %s", status, due)
			}
		})
	}
}

func TestTheLawOfMarketingLeavesTheRestAlone(t *testing.T) {
	night := time.Date(2027, 1, 15, 9, 0, 0, 0, time.UTC)
	for _, kind := range []tidings.CategoryKind{tidings.Critical, tidings.Transactional} {
		r, f := situation()
		r.Event.Category.Kind, r.ExpiresAt, f.Addresses[3].Value = kind, night.Add(time.Hour), "+12125550123"
		assertReason(t, preferences.Decide(r, f, night)[2], "")
	}
}

func TestMarketingThatCouldNeverRingIsNotSent(t *testing.T) {
	r, f := situation()
	r.Event.Category.Kind, r.Event.Category.Consent, r.ExpiresAt = tidings.Marketing, tidings.OptOut, time.Time{}
	r.Event.Windows = map[string]tidings.Window{"US": {time.Monday: {From: 8 * 60, To: 9 * 60}}}
	f.Addresses = append(f.Addresses[:3:3], address(tidings.SMS, 4), address(tidings.SMS, 5))
	f.Addresses[3].Value, f.Addresses[4].Value = "+12125550123", "+18085550123" // New York and Hawaii
	zones, err := preferences.NewZones("UTC")
	if err != nil {
		t.Fatal(err)
	}
	zones.Place(&f)
	assertReason(t, preferences.Decide(r, f, noon)[2], "quiet_hours")
}

func TestWhatWaitedTogetherIsReleasedApartButInTime(t *testing.T) {
	for _, c := range []struct {
		why          string
		left, spread time.Duration
		jitter       float64
		want         time.Duration
	}{
		{"the very first", time.Hour, time.Minute, 0, 0},
		{"half-way", time.Hour, time.Minute, 0.5, 30 * time.Second},
		{"no spread", time.Hour, 0, 0.9, 0},
		{"little time is left: half of it at most", time.Minute, time.Minute, 0.5, 15 * time.Second},
		{"no time is left", -time.Second, time.Minute, 0.9, 0},
	} {
		if got := preferences.Release(noon, noon.Add(c.left), c.spread, c.jitter).Sub(noon); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
	if got := preferences.Release(noon, time.Time{}, time.Minute, 0.25).Sub(noon); got != 15*time.Second {
		t.Errorf("without an expiry: %v", got)
	}
}

func TestAHoldSaysWhoseHoursTheyAre(t *testing.T) {
	paris, err := preferences.NewZones("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	night := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC) // 04:00 in Paris, where the law lets texts come from 8 to 22
	for _, c := range []struct {
		why, phone, input string
		hours             *preferences.Hours
		windows           map[string]tidings.Window
		want              tidings.Cause
	}{
		{"the law alone", "+33155500100", "the user has none; the law lets marketing texts to FR come from 08:00 to 22:00 in Europe/Paris, where it is 04:00 on 2026-12-01", nil, nil, tidings.CauseLaw},
		{"the user's end first", "+33155500100", "", &preferences.Hours{Start: 22 * 60, End: 7 * 60}, nil, tidings.CauseLaw},
		{"the user's end later", "+33155500100", "", &preferences.Hours{Start: 22 * 60, End: 9 * 60}, nil, ""},
		{"the catalogue", "+33155500100", "", nil, map[string]tidings.Window{"FR": {2: {From: 9 * 60, To: 10 * 60}}}, tidings.CauseWindow},
		{"never", "+33155500100", "", &preferences.Hours{Start: 9 * 60, End: 8 * 60}, map[string]tidings.Window{"FR": {2: {From: 9 * 60, To: 10 * 60}}}, tidings.CauseNever},
	} {
		event := &tidings.EventType{Name: "sale", Category: tidings.Category{Name: "offers", Kind: tidings.Marketing, Consent: tidings.OptOut}, Channels: []tidings.Channel{tidings.SMS}, Windows: c.windows}
		address := tidings.Address{Channel: tidings.SMS, Value: c.phone, Status: tidings.AddressActive, UserID: "u_1"}
		f := preferences.Facts{
			User: tidings.User{ID: "u_1", Phone: c.phone}, Addresses: []tidings.Address{address}, Providers: map[tidings.Channel]preferences.Carries{tidings.SMS: anywhere},
			Preferences: preferences.Preferences{QuietHours: c.hours},
		}
		paris.Place(&f)
		if f.ZoneFrom != preferences.ZoneOfPhone {
			t.Errorf("the zone is from %q", f.ZoneFrom)
		}
		e := preferences.Explain(preferences.Request{Event: event}, f, night)[0]
		if d := e.Decision; d.Reason != tidings.ReasonQuietHours || d.Cause != c.want {
			t.Errorf("%s: decided %+v", c.why, d)
		}
		for _, s := range e.Steps {
			if s.Rule == "quiet_hours" && c.input != "" && s.Input != c.input {
				t.Errorf("%s: looked at %q, want %q", c.why, s.Input, c.input)
			}
		}
		again := preferences.Recheck{Event: event, Channel: tidings.SMS, Preferences: f.Preferences, Zone: f.Zone, Called: paris.Called(&f.User, c.phone), Address: address, Owner: "u_1"}
		if _, reason, _ := preferences.Check(again, night); preferences.Why(again, reason, night) != c.want {
			t.Errorf("%s: of what is queued the cause is %q", c.why, preferences.Why(again, reason, night))
		}
		if c.want == tidings.CauseNever {
			continue
		}
		brief, outlasts := night.Add(time.Minute), cmp.Or(c.want, tidings.CauseQuiet)
		if d := preferences.Decide(preferences.Request{Event: event, ExpiresAt: brief}, f, night)[0]; d.Reason != tidings.ReasonExpired || d.Cause != outlasts {
			t.Errorf("%s: what is of no use by then is decided %+v", c.why, d)
		}
		again.ExpiresAt = brief
		if _, reason, _ := preferences.Check(again, night); reason != tidings.ReasonExpired || preferences.Why(again, reason, night) != outlasts {
			t.Errorf("%s: of what is queued and of no use by then the cause is %q", c.why, preferences.Why(again, reason, night))
		}
		if why := preferences.Why(again, tidings.ReasonExpired, brief); why != "" {
			t.Errorf("%s: of what is late for no other reason the cause is %q", c.why, why)
		}
	}
}

func TestAMutedThreadIsTheCause(t *testing.T) {
	r, f := situation()
	r.Thread = "t_1"
	f.Preferences.Threads = map[string]map[string]bool{"orders": {"t_1": false}}
	if d := preferences.Decide(r, f, noon)[0]; d.Reason != tidings.ReasonOptedOutCategory || d.Cause != tidings.CauseThread {
		t.Errorf("decided %+v", d)
	}
	again := preferences.Recheck{Event: r.Event, Channel: r.Event.Channels[0], Thread: "t_1", Preferences: f.Preferences}
	if why := preferences.Why(again, tidings.ReasonOptedOutCategory, noon); why != tidings.CauseThread {
		t.Errorf("the cause is %q", why)
	}
	f.Preferences.Categories = map[string]preferences.Choice{"orders": {All: no}}
	if d := preferences.Decide(r, f, noon)[0]; d.Cause != "" {
		t.Errorf("the whole category is off: %+v", d)
	}
}

func TestACapThatOutlastsAnEventIsWhyItExpires(t *testing.T) {
	r, f := situation()
	event := *r.Event
	event.Limits = []tidings.Limit{{Cap: tidings.Cap{Count: 1, Per: 24 * time.Hour, Hold: true}, Scope: "user", Reason: tidings.ReasonRateLimitedUser}}
	r.Event, f.Told = &event, map[string][]time.Time{"user": {noon.Add(-time.Hour)}}
	if d := preferences.Decide(r, f, noon)[0]; d.Reason != tidings.ReasonExpired || d.Cause != tidings.CauseLimits {
		t.Errorf("decided %+v", d)
	}
}
