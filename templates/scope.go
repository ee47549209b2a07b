package templates

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"tidings"
)

// maxWork bounds what one rendering may do: about as many steps as there are nodes executed,
// plus one for each 64 bytes of text that a function looks at. The bound is on work, not on time, so
// that what renders when an event is accepted also renders when it is sent.
const maxWork = 250_000

// A scope is the root of what a template sees in one rendering, and its allowance of work.
// Members are decoded when they are first asked for.
type scope struct {
	in     *Input
	locale string
	work   int

	data   any
	digest map[string]any
	user   map[string]any
}

// Names of the root's members, with their own where they are fixed.
func rootMembers() map[string][]string {
	return map[string][]string{
		"data": nil, "locale": {}, "notification": {"id"}, "event": {"type", "at"},
		"user": {"id", "locale", "timezone", "attributes"}, "links": {"unsubscribe", "preferences"},
		"digest": {"count", "items"},
	}
}

// member is a member of the root.
func (s *scope) member(name string) (any, error) {
	switch name {
	case "data":
		return s.decodedData()
	case "digest":
		return s.decodedDigest()
	case "user":
		return s.decodedUser()
	case "event":
		return map[string]any{"type": s.in.Type, "at": instant(s.in.At)}, nil
	case "notification":
		return map[string]any{"id": s.in.Notification.String()}, nil
	case "links":
		return map[string]any{"unsubscribe": s.in.Links.Unsubscribe, "preferences": s.in.Links.Preferences}, nil
	case "locale":
		return s.locale, nil
	}
	return nil, fault("." + name + " is not known; templates see .data, .digest, .user, .event, .notification, .links and .locale")
}

func (s *scope) decodedData() (any, error) {
	if s.data != nil {
		return s.data, nil
	}
	if s.in.Parts > 0 {
		if _, err := s.decodedDigest(); err != nil {
			return nil, err
		}
		return s.data, nil
	}
	var err error
	s.data, err = decodeMembers(s.in.Data)
	return s.data, err
}

// decodedDigest is what the message tells of: an event alone is one of one. The data of a digest is
// that of its newest item.
func (s *scope) decodedDigest() (any, error) {
	if s.digest != nil {
		return s.digest, nil
	}
	if s.in.Parts == 0 {
		data, err := s.decodedData()
		item := map[string]any{"id": s.in.Notification.String(), "at": instant(s.in.At), "data": data}
		s.digest = map[string]any{"count": 1, "items": []any{item}}
		return s.digest, err
	}
	read, err := tidings.ItemsOf(s.in.Data)
	if err != nil {
		return nil, fault("the data is not that of a digest") // the cause would quote it
	}
	items := make([]any, len(read))
	s.data = map[string]any{}
	for i, item := range read {
		if s.data, err = decodeMembers(item.Data); err != nil {
			return nil, err
		}
		items[i] = map[string]any{"id": item.ID.String(), "at": instant(item.At), "data": s.data}
	}
	s.digest = map[string]any{"count": s.in.Parts, "items": items}
	return s.digest, nil
}

func (s *scope) decodedUser() (any, error) {
	if s.user != nil {
		return s.user, nil
	}
	attributes, err := decodeMembers(s.in.User.Attributes)
	if err != nil {
		return nil, err
	}
	u := s.in.User
	s.user = map[string]any{"id": u.ID, "locale": u.Locale, "timezone": u.Timezone, "attributes": attributes}
	return s.user, nil
}

// decodeMembers reads an object; nothing and null are an empty one.
func decodeMembers(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	v, err := decode(raw)
	if v == nil && err == nil {
		v = map[string]any{}
	}
	return v, err
}

// instant is a time as templates and the API show it.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00") }

// spend takes work from the allowance.
func (s *scope) spend(work int) error {
	if s.work -= work; s.work < 0 {
		return fault(fmt.Sprintf("the template does too much work (more than %d steps)", maxWork))
	}
	return nil
}

// get follows a path of names, joined by dots, from a value. A name that is absent is a *missing.
func (s *scope) get(from any, path string) (any, error) {
	if err := s.spend(1); err != nil {
		return nil, err
	}
	at, rest := from, path
	for rest != "" {
		name, after, _ := strings.Cut(rest, ".")
		next, err := s.step(at, name)
		if err != nil {
			return nil, err
		}
		if next == nothing {
			return nil, s.missing(from, path[:len(path)-len(after)])
		}
		at, rest = next, after
	}
	return at, nil
}

// nothing stands for an absent member, as nil stands for null.
var nothing = any(absent{})

type absent struct{}

func (s *scope) step(from any, name string) (any, error) {
	switch from := from.(type) {
	case *scope:
		return from.member(name)
	case map[string]any:
		if v, ok := from[name]; ok {
			return v, nil
		}
	}
	return nothing, nil
}

// A missing is a name that a template uses and the data lacks.
type missing struct{ pointer string } // RFC 6901

// Error says which.
func (m *missing) Error() string {
	return "the template uses " + m.pointer + ", which is absent"
}

// missing finds where the absent name belongs; path ends with it, and may end with a dot.
func (s *scope) missing(from any, path string) error {
	base, _ := s.pointer(from)
	for name := range strings.SplitSeq(strings.TrimSuffix(path, "."), ".") {
		base += "/" + escape(name)
	}
	return &missing{posted(base)}
}

// posted is where a member of an item of the digest stands in the event that was posted, which has
// its data at its root.
func posted(pointer string) string {
	item, ok := strings.CutPrefix(pointer, "/digest/items/")
	if !ok {
		return pointer
	}
	if _, member, _ := strings.Cut(item, "/"); member == "data" || strings.HasPrefix(member, "data/") {
		return "/" + member
	}
	return pointer
}

// pointer is where a value stands below the root. Objects and lists are found by identity;
// for what has none, the data as a whole is named.
func (s *scope) pointer(v any) (string, bool) {
	if v == any(s) {
		return "", true
	}
	if p, ok := find(s.data, v); ok {
		return "/data" + p, true
	}
	if p, ok := find(s.digest, v); ok {
		return "/digest" + p, true
	}
	if p, ok := find(s.user, v); ok {
		return "/user" + p, true
	}
	return "/data", false
}

// find looks for an object or list inside another, by identity.
func find(in, v any) (pointer string, ok bool) {
	if same(in, v) {
		return "", true
	}
	switch in := in.(type) {
	case map[string]any:
		for name, member := range in {
			if p, ok := find(member, v); ok {
				return "/" + escape(name) + p, true
			}
		}
	case []any:
		for i, element := range in {
			if p, ok := find(element, v); ok {
				return "/" + strconv.Itoa(i) + p, true
			}
		}
	}
	return "", false
}

func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
	case []any:
		b, ok := b.([]any)
		return ok && len(a) > 0 && len(b) > 0 && &a[0] == &b[0]
	}
	return false
}

// escape writes a name as a reference token of RFC 6901.
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func newScope(in *Input, locale string) *scope { return &scope{in: in, locale: locale, work: maxWork} }
