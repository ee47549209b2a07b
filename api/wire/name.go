package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"tidings/api/strict"
)

// The bounds of names, keys and data.
const (
	maxName  = 128
	maxKey   = 255
	maxData  = 64 << 10
	maxDepth = 32
)

// A Name is an id or name that callers choose: 1 to 128 of A-Z, a-z, 0-9 and . _ : @ -
type Name string

// ReadJSON reads the name.
func (n *Name) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok && !IsName(s) {
		in.Report("must be 1 to 128 characters of A-Z, a-z, 0-9 and . _ : @ -")
		return
	}
	*n = Name(s)
}

// Schema is the rule in words of JSON Schema.
func (Name) Schema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1, "maxLength": maxName, "pattern": `^[A-Za-z0-9._:@-]+$`}
}

// IsName reports whether s is 1 to 128 characters of a name.
func IsName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		if !nameByte(s[i]) {
			return false
		}
	}
	return true
}

func nameByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == ':' || c == '@' || c == '-'
}

// A Key is a text by which callers mark requests that belong together: 1 to 255 bytes.
type Key string

// ReadJSON reads the key.
func (k *Key) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok && !IsKey(s) {
		in.Report(fmt.Sprintf("must be 1 to %d bytes", maxKey))
		return
	}
	*k = Key(s)
}

// Schema is the rule in words of JSON Schema.
func (Key) Schema() map[string]any {
	return map[string]any{"type": "string", "minLength": 1, "maxLength": maxKey}
}

// IsKey reports whether s is a key: of its length, and a text as databases take it.
func IsKey(s string) bool {
	return s != "" && len(s) <= maxKey && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}
