package preferences

import (
	"errors"
	"fmt"
	"time"
)

// A Clock is a time of day as a wall clock shows it, in minutes since midnight.
type Clock int16

// ParseClock reads "22:00"; the day has 24 hours and no 24:00.
func ParseClock(s string) (Clock, error) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, fmt.Errorf("%q is not a time of day like 22:00", s)
	}
	return Clock(t.Hour()*60 + t.Minute()), nil
}

// String is the time of day as ParseClock reads it.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", c/60, c%60) }

// MarshalText writes the time of day as ParseClock reads it.
func (c Clock) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Clock) UnmarshalText(b []byte) (err error) {
	*c, err = ParseClock(string(b))
	return err
}

// Hours are a span of the day on the wall clock of a zone, from Start up to and without End. They
// go over midnight when End is before Start.
type Hours struct {
	Start Clock `json:"start"`
	End   Clock `json:"end"`
}

var errNoHours = errors.New("start and end must differ")

// Validate refuses hours that are empty, or the whole day.
func (h Hours) Validate() error {
	if h.Start == h.End {
		return errNoHours
	}
	return nil
}

// holds reports whether a time of day lies in the hours.
func (h Hours) holds(wall time.Duration) bool {
	start, end := h.Start.span(), h.End.span()
	if start < end {
		return start <= wall && wall < end
	}
	return wall >= start || wall < end
}

func (c Clock) span() time.Duration { return time.Duration(c) * time.Minute }

// After is the first instant from t on at which the zone's wall clock does not show these hours: t
// itself when it does not do so now. The clock runs evenly until the zone's next change of offset, and jumps there.
func (h Hours) After(t time.Time, zone *time.Location) time.Time {
	for {
		local := t.In(zone)
		wall := sinceMidnight(local)
		if !h.holds(wall) {
			return t
		}
		end := t.Add((h.End.span() - wall + 24*time.Hour) % (24 * time.Hour))
		_, change := local.ZoneBounds()
		if change.IsZero() || end.Before(change) {
			return end
		}
		t = change.In(t.Location())
	}
}

// sinceMidnight is what the wall clock shows, as a span since its midnight.
func sinceMidnight(t time.Time) time.Duration {
	h, m, s := t.Clock()
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
}

// At is the instant at which the zone's clock shows the date and time of wall, whose own zone
// counts for nothing. A time that occurs twice means the first. One that does not exist, since the
// clock is put forward over it, means the first instant after that: shifted says so.
func At(wall time.Time, zone *time.Location) (at time.Time, shifted bool) {
	naive := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), time.UTC)
	var before, after time.Time // by the offsets in use a day before and a day after
	before = naive.Add(-offset(naive.Add(-24*time.Hour), zone))
	after = naive.Add(-offset(naive.Add(24*time.Hour), zone))
	for _, at := range []time.Time{earlier(before, after), later(before, after)} {
		if shows(at.In(zone), naive) {
			return at, false
		}
	}
	start, _ := later(before, after).In(zone).ZoneBounds()
	return start.UTC(), true
}

// offset is how far the zone's clock is ahead of UTC.
func offset(t time.Time, zone *time.Location) time.Duration {
	_, seconds := t.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

func shows(local, naive time.Time) bool {
	return local.Year() == naive.Year() && local.YearDay() == naive.YearDay() && sinceMidnight(local) == sinceMidnight(naive)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
