package preferences

import (
	"time"

	"tidings"
)

// The settings that a line of the ledger can be about.
const (
	SettingQuietHours = "quiet_hours" // as 22:00-07:00
	SettingTimezone   = "timezone"
	SettingLocale     = "locale"
)

// threads adds a line for each thread that was muted or is heard again.
func (s *settling) threads(was, is map[string]map[string]bool) {
	for _, category := range names(was, is) {
		for _, key := range names(was[category], is[category]) {
			_, before := was[category][key]
			_, after := is[category][key]
			e := s.by.Entry(category, "", ThreadHeard, s.now)
			if e.About = key; after {
				e.Action = ThreadMuted
			}
			if before != after {
				s.append(e)
			}
		}
	}
}

func (s *settling) quiet(was, is *Hours) {
	s.setting(SettingQuietHours, was.text(), is.text())
}

// text is the hours in one word; empty: none.
func (h *Hours) text() string {
	if h == nil {
		return ""
	}
	return h.Start.String() + "-" + h.End.String()
}

// setting adds a line when the value of a setting is another one.
func (s *settling) setting(name, was, is string) {
	if was == is {
		return
	}
	e := s.by.Entry("", "", SettingSet, s.now)
	e.About, e.Value = name, is
	s.append(e)
}

// Moved is what the ledger must keep of a user whose clock or language was changed.
func (o Origin) Moved(before, after *tidings.User, now time.Time) []Entry {
	s := settling{by: o, now: now}
	s.setting(SettingTimezone, before.Timezone, after.Timezone)
	s.setting(SettingLocale, before.Locale, after.Locale)
	return s.entries
}
