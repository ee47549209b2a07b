package preferences

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/internal/numbers"
)

// maxWindows is how many windows of phones an explanation names.
const maxWindows = 3

// inputQuietHours names the hours of the user, and those in which law or the catalogue lets their phones ring.
func (q *question) inputQuietHours() string {
	if !disturbs(q.channel) {
		return fmt.Sprintf("%s disturbs nobody", q.channel)
	}
	parts := []string{"the user has none"}
	if h := q.Preferences.QuietHours; h != nil {
		zone := q.zone()
		parts[0] = fmt.Sprintf("%s to %s in %s%s, where it is %s", h.Start, h.End, zone, q.guessed(), q.wall(zone))
	}
	if regulated(q.Event, q.channel) {
		parts = append(parts, q.windows()...)
	}
	return strings.Join(parts, "; ")
}

// guessed says how the zone of the user was found, where they did not name it.
func (q *question) guessed() string {
	switch q.ZoneFrom {
	case ZoneOfPhone:
		return " (guessed from the phone number)"
	case ZoneOfDefault:
		return " (the default zone, since theirs is not known)"
	}
	return ""
}

func (q *question) wall(zone *time.Location) string {
	return q.at.In(zone).Format("15:04 on 2006-01-02")
}

// windows are the hours in which marketing may come to the user's phones, each once.
func (q *question) windows() (all []string) {
	for i := range q.to {
		phone := q.to[i].Value
		w, by := windowOf(q.Event, phone)
		if by == "" {
			continue
		}
		zones := q.called(phone)
		text := fmt.Sprintf("%s lets marketing texts to %s come %s in %s, where it is %s", owner(by), country(phone),
			hoursOn(&w, q.at.In(zones[0]).Weekday()), named(zones), q.wall(zones[0]))
		if !slices.Contains(all, text) && len(all) < maxWindows {
			all = append(all, text)
		}
	}
	return all
}

func owner(by tidings.Cause) string {
	return either(by == tidings.CauseLaw, "the law", "the catalogue")
}

func country(phone string) string {
	if c := numbers.Country(phone); c != "" {
		return c
	}
	return "other countries"
}

// hoursOn is a window on one day of the week.
func hoursOn(w *tidings.Window, day time.Weekday) string {
	span := w[day]
	if span.From >= span.To {
		return fmt.Sprintf("never on %ss", day)
	}
	return fmt.Sprintf("from %02d:%02d to %02d:%02d", span.From/60, span.From%60, span.To/60, span.To%60)
}

// named is where a phone may be: in all of these zones it must be allowed.
func named(zones []*time.Location) string {
	if len(zones) == 1 {
		return zones[0].String()
	}
	return fmt.Sprintf("all of %d zones, such as %s", len(zones), zones[0])
}
