package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"tidings/api/problem"
)

// Free reads an object whose members are the caller's own: at most size bytes as sent and
// depth levels deep, without repeated names, NUL or lone surrogates. It is kept as sent, less
// white space.
func (in *Input) Free(size, depth int) (object json.RawMessage, ok bool) {
	raw := in.Raw()
	if raw.Kind() != '{' {
		in.Report("must be an object")
		return nil, false
	}
	if len(raw) > size {
		in.Report(fmt.Sprintf("must not be larger than %d KiB", size>>10))
		return nil, false
	}
	s := scan{in: in, d: decoder(raw), at: in.d.StackPointer(), depth: depth}
	before := len(in.errors) + in.more
	s.value(1)
	if len(in.errors)+in.more > before {
		return nil, false
	}
	return compact(raw), true
}

// Flaws reports what is wrong with any value, deep down, and gives it back as it was sent.
func (in *Input) Flaws(depth int) (raw json.RawMessage, ok bool) {
	raw = json.RawMessage(bytes.Clone(in.Raw()))
	s := scan{in: in, d: decoder(raw), at: in.d.StackPointer(), depth: depth}
	before := len(in.errors) + in.more
	s.value(1)
	return raw, len(in.errors)+in.more == before
}

// A scan looks for what is wrong inside a value that is not ours.
type scan struct {
	in    *Input
	d     *jsontext.Decoder
	at    jsontext.Pointer // of the value
	depth int              // how many levels are allowed
}

func (s *scan) value(level int) {
	switch kind := s.d.PeekKind(); kind {
	case '{', '[':
		if level > s.depth {
			_ = s.d.SkipValue()
			s.report(fmt.Sprintf("must not be nested deeper than %d levels", s.depth))
			return
		}
		_, _ = s.d.ReadToken()
		if kind == '{' {
			s.members(level)
		} else {
			s.elements(level)
		}
		_, _ = s.d.ReadToken()
	case '"':
		s.text()
	default:
		_ = s.d.SkipValue()
	}
}

func (s *scan) members(level int) {
	seen := map[string]bool{}
	for s.d.PeekKind() == '"' {
		name := s.text()
		if seen[name] {
			s.report("is given twice")
		}
		seen[name] = true
		s.value(level + 1)
	}
}

func (s *scan) elements(level int) {
	for k := s.d.PeekKind(); k != ']' && k != jsontext.KindInvalid; k = s.d.PeekKind() {
		s.value(level + 1)
	}
}

func (s *scan) text() string {
	raw, _ := s.d.ReadValue()
	text, flaw := unquote(raw)
	if flaw != "" {
		s.report(flaw)
	}
	return text
}

func (s *scan) report(detail string) {
	s.in.report(problem.InvalidInput, string(s.at+s.d.StackPointer()), detail)
}

// unquote is the text of a JSON string, or what is wrong with it.
func unquote(raw []byte) (text, flaw string) {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), ""
	}
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			continue
		}
		i++
		if inner[i] != 'u' {
			continue
		}
		unit := hex4(inner[i+1:])
		i += 4
		switch {
		case unit == 0:
			flaw = "must not contain the character NUL"
		case unit >= 0xdc00 && unit <= 0xdfff:
			flaw = "must not contain half a surrogate pair"
		case utf16.IsSurrogate(unit):
			if rest := inner[i+1:]; len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' || hex4(rest[2:])>>10 != 0xdc00>>10 {
				flaw = "must not contain half a surrogate pair"
			} else {
				i += 6
			}
		}
	}
	if flaw != "" {
		return string(inner), flaw
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return string(inner), "cannot be read"
	}
	return string(b), ""
}

// hex4 is the number of four hexadecimal digits; the syntax has been checked.
func hex4(b []byte) rune {
	var n rune
	for _, c := range b[:4] {
		n <<= 4
		switch {
		case c >= 'a':
			n |= rune(c-'a') + 10
		case c >= 'A':
			n |= rune(c-'A') + 10
		default:
			n |= rune(c - '0')
		}
	}
	return n
}

// compact is raw without white space; numbers and strings stay as sent.
func compact(raw []byte) json.RawMessage {
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return json.RawMessage(bytes.Clone(raw)) // what has passed Check does not fail
	}
	return json.RawMessage(v)
}

// Canonical is an equal value in one form: members sorted by name, no white space, each string
// escaped one way, numbers as sent.
func Canonical(raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	err := v.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, fmt.Errorf("bring JSON into its canonical form: %w", err)
	}
	return v, nil
}
