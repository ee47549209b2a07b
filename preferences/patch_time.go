package preferences

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"tidings"
)

// Bounds of the threads that a user mutes.
const (
	maxThreads = 500 // of all categories together
	maxThread  = 255 // bytes of a key
)

// patchThreads mutes threads of categories by their keys; true and null take that back.
func (p *Preferences) patchThreads(m member, kind func(string) (tidings.CategoryKind, bool)) error {
	if m.null() {
		p.Threads = nil
		return nil
	}
	members, err := object(m.value, m.pointer)
	if err != nil {
		return err
	}
	for _, m := range members {
		k, known := kind(m.name)
		if m.null() && (known || has(p.Threads, m.name)) {
			delete(p.Threads, m.name)
			continue
		}
		if !known {
			return m.refuse(codeInvalid, "the catalogue has no such category")
		}
		if err := p.patchThreadsOf(m, k); err != nil {
			return err
		}
	}
	muted := 0
	for _, keys := range p.Threads {
		muted += len(keys)
	}
	if muted > maxThreads {
		return m.refuse(codeInvalid, fmt.Sprintf("at most %d threads can be muted", maxThreads))
	}
	return nil
}

func (p *Preferences) patchThreadsOf(m member, kind tidings.CategoryKind) error {
	members, err := object(m.value, m.pointer)
	if err != nil {
		return err
	}
	keys := p.Threads[m.name]
	for _, thread := range members {
		on, err := thread.choice()
		if err != nil {
			return err
		}
		muted := on != nil && !*on
		switch {
		case thread.name == "" || len(thread.name) > maxThread || !utf8.ValidString(thread.name):
			return thread.refuse(codeInvalid, fmt.Sprintf("a thread's key has 1 to %d bytes", maxThread))
		case muted && kind == tidings.Critical:
			return thread.refuse(codeCritical, "this category is critical: it cannot be switched off")
		case muted:
			keys = put(keys, thread.name, on)
		default:
			delete(keys, thread.name)
		}
	}
	if len(keys) == 0 {
		delete(p.Threads, m.name)
		return nil
	}
	if p.Threads == nil {
		p.Threads = map[string]map[string]bool{}
	}
	p.Threads[m.name] = keys
	return nil
}

// patchQuietHours merges start and end; null forgets the hours.
func (p *Preferences) patchQuietHours(m member) error {
	if m.null() {
		p.QuietHours = nil
		return nil
	}
	members, err := object(m.value, m.pointer)
	if err != nil {
		return err
	}
	var hours Hours
	named := map[string]bool{"start": p.QuietHours != nil, "end": p.QuietHours != nil}
	if p.QuietHours != nil {
		hours = *p.QuietHours
	}
	if len(members) == 0 {
		return nil
	}
	ends := map[string]*Clock{"start": &hours.Start, "end": &hours.End}
	for _, m := range members {
		end, known := ends[m.name]
		if !known {
			return m.refuse(codeInvalid, "unknown member; quiet hours have start and end")
		}
		if *end, err = m.clock(); err != nil {
			return err
		}
		named[m.name] = true
	}
	for _, name := range []string{"start", "end"} {
		if !named[name] {
			return &PatchError{Code: codeInvalid, Pointer: m.pointer + "/" + name, Detail: "is required"}
		}
	}
	if err := hours.Validate(); err != nil {
		return m.refuse(codeInvalid, err.Error())
	}
	p.QuietHours = &hours
	return nil
}

func (m member) clock() (Clock, error) {
	var s string
	if m.value.Kind() != '"' || json.Unmarshal(m.value, &s) != nil {
		return 0, m.refuse(codeInvalid, `want a time of day like "22:00"`)
	}
	c, err := ParseClock(s)
	if err != nil {
		return 0, m.refuse(codeInvalid, err.Error())
	}
	return c, nil
}
