package wire

import (
	"fmt"
	"strings"
	"time"

	"tidings/api/strict"
)

// A LocalTime is a date and a time of day on the wall clock of a zone that is told elsewhere. It is
// kept as if the zone were UTC.
type LocalTime struct{ time.Time }

// ReadJSON reads the time, with or without its seconds.
func (t *LocalTime) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if !ok {
		return
	}
	if t.Time, ok = parseLocal(s); !ok {
		in.Report("must be a time since 1970 without a zone, such as 2026-12-01T09:00")
	}
}

func parseLocal(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		at, err := time.Parse(layout, s)
		if err == nil && len(s) == len(layout) && at.Year() >= 1970 {
			return at, true
		}
	}
	return time.Time{}, false
}

// MarshalJSON writes the time as ReadJSON reads it.
func (t LocalTime) MarshalJSON() ([]byte, error) {
	return []byte(t.Format(`"2006-01-02T15:04:05"`)), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *LocalTime) UnmarshalJSON(b []byte) error {
	at, ok := parseLocal(strings.Trim(string(b), `"`))
	if !ok {
		return fmt.Errorf("%q is not a time without a zone", b)
	}
	t.Time = at
	return nil
}

// Schema is the rule in words of JSON Schema.
func (LocalTime) Schema() map[string]any {
	return map[string]any{"type": "string", "pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$`}
}
