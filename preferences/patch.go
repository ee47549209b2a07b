package preferences

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tidings"
)

// A PatchError is a member of a patch that cannot be taken.
type PatchError struct {
	Code    string // invalid_input or category_critical
	Pointer string // RFC 6901
	Detail  string
}

// Error is the detail.
func (e *PatchError) Error() string { return e.Detail }

// Codes of a PatchError.
const (
	codeInvalid  = "invalid_input"
	codeCritical = "category_critical"
)

// Patch applies a JSON merge patch (RFC 7396) with the members all, channels, categories, threads
// and quiet_hours; what it does not name stays. null takes a choice back. A category's bool is {all: bool}: what
// was chosen for one of its channels stays, whichever it is.
//
// The members of a preferences document that are not about choices (version, locale,
// timezone) belong to the caller, who must take them out of the patch first: here they are
// unknown members. kind is a category's kind, and false when the catalogue does not have it;
// such a category can only be taken back.
//
// The result shares nothing with p and keeps its version. Errors are *PatchError.
func (p Preferences) Patch(patch []byte, kind func(category string) (tidings.CategoryKind, bool)) (Preferences, error) {
	members, err := object(patch, "")
	if err != nil {
		return p, err
	}
	out := p.Clone()
	for _, m := range members {
		switch m.name {
		case "all":
			out.All, err = m.choice()
		case "channels":
			err = out.patchChannels(m)
		case "categories":
			err = out.patchCategories(m, kind)
		case "threads":
			err = out.patchThreads(m, kind)
		case "quiet_hours":
			err = out.patchQuietHours(m)
		default:
			err = m.refuse(codeInvalid, "unknown member; preferences have all, channels, categories, threads and quiet_hours")
		}
		if err != nil {
			return p, err
		}
	}
	return out, nil
}

// Clone is a copy that shares nothing that a change could touch.
func (p Preferences) Clone() Preferences {
	p.Channels = maps.Clone(p.Channels)
	p.Categories = maps.Clone(p.Categories)
	for name, c := range p.Categories {
		p.Categories[name] = Choice{All: c.All, Channels: maps.Clone(c.Channels)}
	}
	p.Threads = maps.Clone(p.Threads)
	for category, keys := range p.Threads {
		p.Threads[category] = maps.Clone(keys)
	}
	p.Consents = maps.Clone(p.Consents)
	return p
}

func (p *Preferences) patchChannels(m member) error {
	if m.null() {
		p.Channels = nil
		return nil
	}
	members, err := object(m.value, m.pointer)
	if err != nil {
		return err
	}
	for _, m := range members {
		channel, err := m.channel()
		if err != nil {
			return err
		}
		on, err := m.choice()
		if err != nil {
			return err
		}
		p.Channels = put(p.Channels, channel, on)
	}
	return nil
}

func (p *Preferences) patchCategories(m member, kind func(string) (tidings.CategoryKind, bool)) error {
	if m.null() {
		p.Categories = nil
		return nil
	}
	members, err := object(m.value, m.pointer)
	if err != nil {
		return err
	}
	for _, m := range members {
		k, known := kind(m.name)
		if m.null() && (known || has(p.Categories, m.name)) {
			delete(p.Categories, m.name)
			continue
		}
		if !known {
			return m.refuse(codeInvalid, "the catalogue has no such category")
		}
		choice := p.Categories[m.name]
		if err := choice.patch(m, k); err != nil {
			return err
		}
		if choice.empty() {
			delete(p.Categories, m.name)
			continue
		}
		if p.Categories == nil {
			p.Categories = map[string]Choice{}
		}
		p.Categories[m.name] = choice
	}
	return nil
}

// patch merges a bool or an object into the choice; nothing of a critical category can be false.
func (c *Choice) patch(m member, kind tidings.CategoryKind) error {
	cells := []member{{name: "all", value: m.value, pointer: m.pointer}}
	switch m.value.Kind() {
	case 'n', 't', 'f':
	case '{':
		var err error
		if cells, err = object(m.value, m.pointer); err != nil {
			return err
		}
	default:
		return m.refuse(codeInvalid, "want true, false, null or an object of these for all and for channels")
	}
	for _, cell := range cells {
		on, err := cell.choice()
		if err != nil {
			return err
		}
		if kind == tidings.Critical && on != nil && !*on {
			return cell.refuse(codeCritical, "this category is critical: it cannot be switched off")
		}
		if cell.name == "all" {
			c.All = on
			continue
		}
		channel, err := cell.channel()
		if err != nil {
			return err
		}
		c.Channels = put(c.Channels, channel, on)
	}
	return nil
}

// put sets a key, or drops it when there is no choice.
func put[K comparable](m map[K]bool, key K, on *bool) map[K]bool {
	if on == nil {
		delete(m, key)
		return m
	}
	if m == nil {
		m = map[K]bool{}
	}
	m[key] = *on
	return m
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

// A member is one name of a JSON object with its value and where it stands in the patch.
type member struct {
	name    string
	value   jsontext.Value
	pointer string
}

// object reads the members of an object in their order; a repeated name is an error.
func object(raw []byte, pointer string) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if d.PeekKind() != '{' {
		return nil, &PatchError{Code: codeInvalid, Pointer: pointer, Detail: "want an object"}
	}
	var members []member
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() != '}' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		m := member{name: name.String()}
		m.pointer = pointer + "/" + escape(m.name)
		if m.value, err = d.ReadValue(); err == nil {
			m.value = slices.Clone(m.value)
			members = append(members, m)
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err == nil {
		if _, end := d.ReadToken(); end == io.EOF {
			return members, nil
		}
	}
	return nil, &PatchError{Code: codeInvalid, Pointer: pointer, Detail: "not a JSON object with each name once"}
}

// escape writes a name as a reference token of RFC 6901.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func (m member) null() bool { return m.value.Kind() == 'n' }

func (m member) refuse(code, detail string) error {
	return &PatchError{Code: code, Pointer: m.pointer, Detail: detail}
}

// choice is the member's bool; nil for null.
func (m member) choice() (*bool, error) {
	switch m.value.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		on := m.value.Kind() == 't'
		return &on, nil
	}
	return nil, m.refuse(codeInvalid, "want true, false or null")
}

func (m member) channel() (tidings.Channel, error) {
	channel := tidings.Channel(m.name)
	if !slices.Contains(tidings.Channels(), channel) {
		return "", m.refuse(codeInvalid, fmt.Sprintf("unknown channel; the channels are %v", tidings.Channels()))
	}
	return channel, nil
}
