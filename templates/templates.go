// Package templates is the catalogue: event types, categories and templates, as files with a
// hash, and what they render to.
//
// It promises that a catalogue never changes once parsed, that rendering ends within its
// time and output caps whatever the template, and that text is escaped in HTML and nowhere
// else. It must never do input or output beyond the files it is given.
package templates

import (
	"encoding/json"
	"time"

	"tidings"
)

// A Catalogue is one parsed version of the files.
type Catalogue struct {
	DefaultLocale string
	Events        map[string]*tidings.EventType
	Categories    map[string]tidings.Category
	Hash          string            // hex SHA-256 over the files in name order
	Files         map[string]string // as given: "catalog.yaml", "templates/login.code/sms.en.txt"
	// compiled templates, unexported
}

// A Problem is something wrong in a file.
type Problem struct {
	File, Detail string
	Line         int // 0: the file as a whole
}

// Problems are all that is wrong with a catalogue; it is the error of Parse.
type Problems []Problem

// Error lists the problems, one a line, as "file:line: detail".
func (p Problems) Error() string { panic("not built") }

// Parse reads and compiles the files of a catalogue; its error is Problems.
func Parse(files map[string]string) (*Catalogue, error) { panic("not built") }

// Input is what a template sees.
type Input struct {
	Data         json.RawMessage // the event's data; nil is {}
	User         tidings.User
	Type         string
	At           time.Time
	Notification tidings.NotificationID
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

// Render renders the event type's template for a channel in the user's locale (else its
// language, else the default). Its error is a *RenderError.
func (c *Catalogue) Render(event string, channel tidings.Channel, in Input) (tidings.Content, error) {
	panic("not built")
}
