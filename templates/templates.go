// Package templates is the catalogue: event types, categories and templates, as files with a
// hash, and what they render to.
//
// It promises that a catalogue never changes once parsed, that rendering ends within its
// bounds of work and output whatever the template, that the same input renders the same
// anywhere, and that text is escaped in HTML and nowhere else. It must never do input or output
// beyond the files it is given, and its errors name members of the data
// but never quote a value.
package templates

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tidings"
)

// A Catalogue is one parsed version of the files. It is safe for concurrent use.
type Catalogue struct {
	DefaultLocale string
	Events        map[string]*tidings.EventType
	Categories    map[string]tidings.Category
	Hash          string            // hex SHA-256 over the files in name order
	Files         map[string]string // as given: "catalog.yaml", "templates/login.code/sms.en.txt"

	sets map[slot]map[string]*set // by locale in small letters

	lines map[string]int // as in declaration

	userLocale, userTimezone string // of users who have none
}

// WithDefaults is the catalogue with a locale and a time zone for users who have none; empty
// ones change nothing. They come before the catalogue's own default locale.
func (c *Catalogue) WithDefaults(locale, timezone string) *Catalogue {
	out := *c
	out.userLocale, out.userTimezone = locale, timezone
	return &out
}

// A slot is an event type on a channel.
type slot struct {
	event   string
	channel tidings.Channel
}

// A set is what an event type has for one channel in one locale.
type set struct {
	locale string
	pieces []*piece
}

// Event is the event type of a name.
func (c *Catalogue) Event(name string) (*tidings.EventType, bool) {
	e, ok := c.Events[name]
	return e, ok
}

// Kind is the kind of a category.
func (c *Catalogue) Kind(category string) (tidings.CategoryKind, bool) {
	k, ok := c.Categories[category]
	return k.Kind, ok
}

// A Problem is something wrong in a file.
type Problem struct {
	File, Detail string
	Line         int // 0: the file as a whole
}

// String is "file:line: detail".
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Detail
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail)
}

// Problems are all that is wrong with a catalogue; it is the error of Parse.
type Problems []Problem

// Error lists the problems, one a line, as "file:line: detail".
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Input is what a template sees.
type Input struct {
	Data         json.RawMessage // the event's data; nil is {}
	Parts        int             // of a digest: how many it tells of, and Data is that of a digest
	User         tidings.User
	Type         string
	At           time.Time
	Notification tidings.NotificationID
	Links        Links // in mail of a category that is not critical; elsewhere templates see empty ones
}

// Links are the URLs under which the reader of a mail changes what is sent to them.
type Links struct {
	Unsubscribe string // opts out of the category
	Preferences string // shows all that can be chosen
}

// ExampleURL is where example links lead when nobody says where the service is reached.
const ExampleURL = "https://notify.example.test"

// ExampleLinks look like links below a URL, without a slash at its end, and open nothing: for
// previews, which must not give away those of a user.
func ExampleLinks(base string) Links {
	const token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	return Links{Unsubscribe: base + "/u/" + token, Preferences: base + "/preferences/" + token}
}

// A RenderError says why a template did not render.
type RenderError struct {
	Code    string // missing_data, template_error or content_too_large
	Pointer string // for missing_data: "/data/NAME"
	Detail  string
	File    string
}

// Error is the detail with its file.
func (e *RenderError) Error() string { return e.File + ": " + e.Detail }

// Codes of a RenderError.
const (
	CodeMissingData     = "missing_data"
	CodeTemplateError   = "template_error"
	CodeContentTooLarge = "content_too_large"
)
