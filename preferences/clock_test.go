package preferences_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/preferences"
)

// fortyZones are zones that change their clocks and zones that do not, on both sides of the equator, by an hour and
// by half of one, whole hours away from UTC and not.
var fortyZones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Lisbon", "Europe/Moscow", "Europe/Istanbul", "Europe/Kyiv",
	"Africa/Casablanca", "Africa/Cairo", "Africa/Johannesburg", "Africa/Lagos", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Tokyo",
	"Asia/Tehran", "Asia/Jerusalem", "Asia/Beirut", "Asia/Gaza", "Asia/Yangon", "Asia/Shanghai", "Australia/Lord_Howe",
	"Australia/Adelaide", "Australia/Sydney", "Australia/Eucla", "Pacific/Chatham", "Pacific/Auckland", "Pacific/Apia",
	"Pacific/Kiritimati", "Pacific/Honolulu", "America/New_York", "America/Los_Angeles", "America/Phoenix", "America/St_Johns",
	"America/Havana", "America/Santiago", "America/Asuncion", "America/Sao_Paulo", "America/Nuuk", "Antarctica/Troll",
}

// A calendar is what a wall clock shows, minute by minute, over a year and a day.
type calendar struct {
	zone  *time.Location
	first time.Time
	shows []int // minutes since 1970 as the clock shows them, by minutes since first
}

func newCalendar(t *testing.T, name string, year int) *calendar {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &calendar{zone: zone, first: time.Date(year-1, 12, 31, 0, 0, 0, 0, time.UTC)}
	for m := range 368 * 24 * 60 {
		at := c.instant(m)
		_, ahead := at.In(zone).Zone()
		c.shows = append(c.shows, int(at.Unix()/60)+ahead/60)
	}
	return c
}

func (c *calendar) instant(m int) time.Time { return c.first.Add(time.Duration(m) * time.Minute) }

// looks reports whether a minute is one to look at: one of many, and all in which the clock is changed soon or was.
func (c *calendar) looks(m, every int) bool {
	if m%every == 0 {
		return true
	}
	near := 5 * 60
	before, after := max(0, m-near), min(len(c.shows)-1, m+near)
	return m%3 == 0 && c.shows[after]-c.shows[before] != after-before
}

// What is expected is read from the calendar alone, minute by minute.
func TestAYearOfQuietHoursAndWallClockTimesInFortyZonesIsAsTheClocksShow(t *testing.T) {
	for _, name := range fortyZones {
		c := newCalendar(t, name, 2027)
		for _, span := range [][2]string{{"22:00", "07:00"}, {"02:15", "02:45"}, {"03:00", "02:30"}} {
			c.assertHours(t, hoursOf(t, span[0], span[1]))
		}
		c.assertTimes(t)
	}
	newCalendar(t, "Pacific/Apia", 2011).assertTimes(t) // the year that lost a whole day
}

func hoursOf(t *testing.T, start, end string) preferences.Hours {
	t.Helper()
	var h preferences.Hours
	for text, clock := range map[string]*preferences.Clock{start: &h.Start, end: &h.End} {
		c, err := preferences.ParseClock(text)
		if err != nil {
			t.Fatal(err)
		}
		*clock = c
	}
	return h
}

// assertHours goes through the year backwards: a minute that is not quiet is allowed itself, one that is quiet when the next one is.
func (c *calendar) assertHours(t *testing.T, h preferences.Hours) {
	t.Helper()
	var marked [24 * 60]bool // by what the clock shows
	for minute := int(h.Start); minute != int(h.End); minute = (minute + 1) % len(marked) {
		marked[minute] = true
	}
	allowed := -1 // the first minute from here on that is not quiet; -1: beyond the end
	for m := len(c.shows) - 1; m >= 0; m-- {
		quiet := marked[c.shows[m]%(24*60)]
		if !quiet {
			allowed = m
		}
		if allowed < 0 || !c.looks(m, 211) {
			continue
		}
		late := c.instant(m).Add(37*time.Second + 5)
		want, wantLate := c.instant(allowed), late
		if quiet {
			wantLate = want
		}
		if got := h.After(c.instant(m), c.zone); !got.Equal(want) {
			t.Fatalf("%s %v: from %s on allowed at %s, want %s", c.zone, h, c.instant(m).In(c.zone), got.In(c.zone), want.In(c.zone))
		}
		if got := h.After(late, c.zone); !got.Equal(wantLate) {
			t.Fatalf("%s %v: from %s on allowed at %s, want %s", c.zone, h, late.In(c.zone), got.In(c.zone), wantLate.In(c.zone))
		}
	}
}

// assertTimes goes through the year forwards: what the clock shows for the first time is there, what it jumps over is where it lands.
func (c *calendar) assertTimes(t *testing.T) {
	t.Helper()
	newest := c.shows[0]
	for m, shows := range c.shows {
		for newest < shows {
			newest++
			if !c.looks(m, 97) {
				continue
			}
			wall := time.Unix(int64(newest)*60, 0).UTC()
			at, shifted := preferences.At(wall, c.zone)
			if !at.Equal(c.instant(m)) || shifted != (newest < shows) {
				t.Fatalf("%s: %s is %s, shifted %t; want %s, %t", c.zone, wall.Format(time.DateTime), at, shifted, c.instant(m), newest < shows)
			}
		}
	}
}

// Quiet hours are half-open and of the wall clock, in summer as in winter, and also when the clock is changed.
func TestQuietHoursInBerlinInEverySeasonAndOnBothNightsOfChange(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	h := hoursOf(t, "22:00", "07:00")
	for _, day := range []time.Time{
		time.Date(2027, 1, 15, 0, 0, 0, 0, berlin), time.Date(2027, 7, 15, 0, 0, 0, 0, berlin),
		time.Date(2027, 3, 28, 0, 0, 0, 0, berlin), time.Date(2027, 10, 31, 0, 0, 0, 0, berlin),
	} {
		at := func(days, hour, minute int) time.Time {
			return time.Date(day.Year(), day.Month(), day.Day()+days, hour, minute, 0, 0, berlin)
		}
		for _, c := range []struct{ from, want time.Time }{
			{at(-1, 21, 59), at(-1, 21, 59)}, {at(-1, 22, 0), at(0, 7, 0)}, {at(-1, 23, 59), at(0, 7, 0)}, {at(0, 0, 0), at(0, 7, 0)},
			{at(0, 6, 59), at(0, 7, 0)}, {at(0, 7, 0), at(0, 7, 0)}, {at(0, 21, 59), at(0, 21, 59)}, {at(0, 22, 0), at(1, 7, 0)},
		} {
			if got := h.After(c.from, berlin); !got.Equal(c.want) {
				t.Errorf("from %s on allowed at %s, want %s", c.from, got, c.want)
			}
		}
	}
}

// The zone counts that holds when it is decided again, and what is critical passes.
func TestQuietHoursAreThoseOfTheZoneOfNow(t *testing.T) {
	r, f := situation()
	h := hoursOf(t, "22:00", "07:00")
	f.Preferences.QuietHours, r.ExpiresAt = &h, noon.Add(48*time.Hour)
	zones, err := preferences.NewZones("UTC")
	if err != nil {
		t.Fatal(err)
	}
	night := time.Date(2027, 1, 15, 23, 0, 0, 0, time.UTC)
	r.ExpiresAt = night.Add(24 * time.Hour)
	for zone, want := range map[string]time.Time{
		"Europe/Berlin": night.Add(7 * time.Hour), "America/New_York": {}, "Asia/Tokyo": {}, "Asia/Kathmandu": night.Add(2*time.Hour + 15*time.Minute),
	} {
		f.User.Timezone = zone
		zones.Place(&f)
		d := preferences.Decide(r, f, night)[0]
		if !d.Until.Equal(want) || (d.Action == tidings.ActionHold) != !want.IsZero() {
			t.Errorf("%s: %s until %s, want %s", zone, d.Action, d.Until, want)
		}
	}
	r.Event.Category.Kind, f.User.Timezone = tidings.Critical, "Europe/Berlin"
	zones.Place(&f)
	if d := preferences.Decide(r, f, night)[0]; d.Action != tidings.ActionSend {
		t.Errorf("what is critical is %s in the night", d.Action)
	}
}

// Go's time.Date gives 01:30, 03:30 and 23:30 of the day before for the first three.
func TestATimeInAGapIsTheFirstAfterItAndOneThatOccursTwiceTheFirst(t *testing.T) {
	for _, c := range []struct {
		zone, wall, want string
		shifted          bool
	}{
		{"America/New_York", "2027-03-14T02:30", "2027-03-14T07:00:00Z", true},
		{"Europe/Berlin", "2027-03-28T02:30", "2027-03-28T01:00:00Z", true},
		{"America/Havana", "2027-03-14T00:30", "2027-03-14T05:00:00Z", true},
		{"America/New_York", "2027-11-07T01:30", "2027-11-07T05:30:00Z", false},
		{"Australia/Lord_Howe", "2027-10-03T02:15", "2027-10-02T15:30:00Z", true},
		{"Australia/Lord_Howe", "2027-04-04T01:45", "2027-04-03T14:45:00Z", false},
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-30T10:00:00Z", true},
		{"Asia/Kathmandu", "2027-01-01T00:00", "2026-12-31T18:15:00Z", false},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		wall, err := time.Parse("2006-01-02T15:04", c.wall)
		if err != nil {
			t.Fatal(err)
		}
		at, shifted := preferences.At(wall, zone)
		if at.UTC().Format(time.RFC3339) != c.want || shifted != c.shifted {
			t.Errorf("%s in %s is %s, shifted %t; want %s, %t", c.wall, c.zone, at.UTC().Format(time.RFC3339), shifted, c.want, c.shifted)
		}
	}
}
