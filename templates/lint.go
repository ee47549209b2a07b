package templates

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tidings"
)

// Lint lists what is allowed and yet likely wrong: templates that do not render with the
// examples of their schema or use names that it lacks, locales that some templates have and
// others do not, and event types that would expire before they are late or their digests close.
// expiresIn is the expiry of those that name none; 0: not known.
func (c *Catalogue) Lint(expiresIn time.Duration) Problems {
	var warnings Problems
	warn := func(file string, line int, format string, args ...any) {
		warnings = append(warnings, Problem{File: file, Line: line, Detail: fmt.Sprintf(format, args...)})
	}
	for _, name := range sortedKeys(c.Events) {
		e := c.Events[name]
		if fresh := e.Fresh(); e.ExpiresIn == 0 && expiresIn > 0 && fresh >= expiresIn {
			warn(catalogFile, c.lines[name], "event type %s expires in %v by default, before it is late: fresh_for %v should be shorter, or name an expires_in", name, expiresIn, fresh)
		}
		if e.Digest != nil && e.ExpiresIn == 0 && expiresIn > 0 && e.Digest.Window >= expiresIn {
			warn(catalogFile, c.lines[name], "event type %s expires in %v by default, before its digest closes: window %v should be shorter, or name an expires_in", name, expiresIn, e.Digest.Window)
		}
		c.lintEvent(e, warn)
	}
	return warnings
}

type warner = func(file string, line int, format string, args ...any)

func (c *Catalogue) lintEvent(e *tidings.EventType, warn warner) {
	if e.Data == nil {
		warn(catalogFile, c.lines[e.Name], "event type %s has no data schema, so its templates were not tried", e.Name)
		return
	}
	data, err := json.Marshal(Examples(e))
	if err != nil {
		warn(catalogFile, c.lines[e.Name], "event type %s: its examples are no JSON", e.Name)
		return
	}
	all := c.locales()
	for _, channel := range e.Channels {
		if extensions(channel) == nil {
			continue
		}
		sets := c.sets[slot{e.Name, channel}]
		for _, key := range sortedKeys(all) {
			set := sets[key]
			if set == nil {
				warn(catalogFile, c.lines[e.Name], "event type %s has no %s in %s; it goes out in %s", e.Name, channel, all[key], c.DefaultLocale)
				continue
			}
			lintSet(set, channel, e, data, warn)
		}
	}
}

// locales are those that any template has, by how they are compared.
func (c *Catalogue) locales() map[string]string {
	all := map[string]string{}
	for _, sets := range c.sets {
		for key, set := range sets {
			all[key] = set.locale
		}
	}
	return all
}

// Examples is the data of an event type as its schema's examples make it; members without an
// example are left out.
func Examples(e *tidings.EventType) map[string]any {
	data := map[string]any{}
	for name, field := range e.Data {
		if field.Example != nil {
			data[name] = field.Example
		}
	}
	return data
}

func lintSet(s *set, channel tidings.Channel, e *tidings.EventType, data json.RawMessage, warn warner) {
	for _, p := range s.pieces {
		for _, name := range sortedKeys(p.uses) {
			if _, known := e.Data[name]; !known {
				warn(p.file, p.uses[name], "the data schema of %s has no %q", e.Name, name)
			}
		}
	}
	in := Input{
		Data: data, Type: e.Name, At: time.Unix(0, 0),
		User: tidings.User{ID: "example", Locale: s.locale, Timezone: "UTC"}, Links: ExampleLinks(ExampleURL),
	}
	var failed *RenderError
	if _, err := s.render(channel, &in); errors.As(err, &failed) {
		warn(failed.File, 0, "with the examples of the schema: %s", failed.Detail)
		return
	}
	if e.Digest == nil || !has(e.Digest.Channels, channel) {
		return
	}
	one := tidings.DigestItem{At: in.At, Data: data}
	in.Parts = 3
	in.Data, _ = tidings.DigestData([]tidings.DigestItem{one, one, one}, false) // it was JSON before
	if _, err := s.render(channel, &in); errors.As(err, &failed) {
		warn(failed.File, 0, "as a digest of three with the examples of the schema: %s", failed.Detail)
	}
}
