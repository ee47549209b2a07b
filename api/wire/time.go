package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tidings/api/strict"
)

// The bounds of an event's life.
const (
	minExpiry = time.Second
	maxExpiry = 720 * time.Hour
)

// A Time is an instant: RFC 3339 with any offset when read, UTC with a Z and at most
// microseconds when written. The zero Time is written as null.
type Time struct{ time.Time }

// At is an instant as the API shows it.
func At(t time.Time) Time { return Time{t} }

// ReadJSON reads the instant. What is finer than a microsecond is cut off.
func (t *Time) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if !ok {
		return
	}
	if t.Time, ok = ParseTime(s); !ok {
		in.Report("must be a time since 1970 as in RFC 3339, such as 2026-12-01T08:00:00Z")
	}
}

// ParseTime reads an instant as callers write it.
func ParseTime(s string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || !plain(s) {
		return time.Time{}, false
	}
	at = at.UTC().Truncate(time.Microsecond)
	if at.Year() < 1970 || at.Year() > 9999 {
		return time.Time{}, false
	}
	return at, true
}

// plain refuses what package time takes beyond RFC 3339: hours of one digit, a comma before
// the fraction, and offsets of a day or more (https://go.dev/issue/54580).
func plain(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[13] != ':' || strings.Contains(s, ",") {
		return false
	}
	zone := s[len(s)-len("+15:04"):]
	return s[len(s)-1] == 'Z' || zone[1:3] <= "23" && zone[4:6] <= "59"
}

// MarshalJSON writes the instant.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().Truncate(time.Microsecond).AppendFormat(nil, `"`+time.RFC3339Nano+`"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		t.Time = time.Time{}
		return nil
	}
	if err := json.Unmarshal(b, &t.Time); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	return nil
}

// Schema is the rule in words of JSON Schema.
func (Time) Schema() map[string]any {
	return map[string]any{"type": []string{"string", "null"}, "format": "date-time"}
}

// lastYear is the last one that anybody may ask about: clocks of later years are guesswork, and what
// follows from an instant of them could not be written any more.
const lastYear = 2999

// TooFar is said of an instant that nobody may ask about.
const TooFar = "must be before the year 3000"

// Far reports whether the instant is one that nobody may ask about.
func (t Time) Far() bool { return t.Year() > lastYear }

// An Instant is a Time that must be told.
type Instant struct{ Time }

// Schema is the rule in words of JSON Schema.
func (Instant) Schema() map[string]any {
	return map[string]any{"type": "string", "format": "date-time"}
}

// An Expiry is how long an event is of use: a Go duration from 1s to 720h.
type Expiry time.Duration

// ReadJSON reads the duration.
func (e *Expiry) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < minExpiry || d > maxExpiry {
		in.Report("must be a duration from 1s to 720h, such as 24h")
		return
	}
	*e = Expiry(d)
}

// MarshalText writes the duration.
func (e Expiry) MarshalText() ([]byte, error) { return []byte(time.Duration(e).String()), nil }

// UnmarshalText reads what MarshalText writes.
func (e *Expiry) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	*e = Expiry(d)
	return err
}

// Schema is the rule in words of JSON Schema.
func (Expiry) Schema() map[string]any {
	return map[string]any{"type": "string", "description": "A Go duration from 1s to 720h."}
}
