package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tidings/api/problem"
)

// An Input is JSON being read. Each method reads the next value and reports what is wrong with
// it; ok is false when it did. Nothing stops at the first problem.
type Input struct {
	d      *jsontext.Decoder
	code   problem.Code
	errors []problem.At
	more   int // how many problems were not kept
}

// Object reads an object, member by member: known reads the value of a member it knows, and
// says false of any other. What is required and missing is reported where it belongs.
func (in *Input) Object(known func(name string) bool, required ...string) {
	seen := in.members(func(name string, seen []string) {
		for _, other := range seen {
			if strings.EqualFold(name, other) {
				in.Report(fmt.Sprintf("differs from %q only in case", other))
				in.skip()
				return
			}
		}
		if !known(name) {
			in.Report("is not a known field")
			in.skip()
		}
	})
	if seen == nil {
		return
	}
	for _, name := range required {
		if !slices.Contains(seen, name) {
			in.ReportAt(name, problem.InvalidInput, "is required")
		}
	}
}

// Members reads an object whose names are the caller's own; member reads the value of each.
func (in *Input) Members(member func(name string)) {
	in.members(func(name string, _ []string) { member(name) })
}

// members gives back the names seen; nil: there was no object.
func (in *Input) members(member func(name string, seen []string)) []string {
	if !in.open('{', "must be an object") {
		return nil
	}
	seen := make([]string, 0, 8)
	for in.d.PeekKind() == '"' {
		name, ok := in.String()
		switch {
		case !ok:
			in.skip()
		case slices.Contains(seen, name):
			in.Report("is given twice")
			in.skip()
		default:
			member(name, seen)
			seen = append(seen, name)
		}
	}
	in.skip() // the closing brace
	return seen
}

// Array reads an array, handing the turn to item for each element; n is how many there were.
func (in *Input) Array(item func(i int)) (n int, ok bool) {
	if !in.open('[', "must be an array") {
		return 0, false
	}
	for k := in.d.PeekKind(); k != ']' && k != jsontext.KindInvalid; k = in.d.PeekKind() {
		item(n)
		n++
	}
	in.skip() // the closing bracket
	return n, true
}

// Strings reads an array of strings.
func (in *Input) Strings() (all []string, ok bool) {
	good := true
	_, ok = in.Array(func(int) {
		s, fine := in.String()
		good = good && fine
		all = append(all, s)
	})
	return all, ok && good
}

// String reads a string. NUL and lone surrogates, which no database or provider takes, are
// reported.
func (in *Input) String() (s string, ok bool) {
	raw := in.Raw()
	if raw.Kind() != '"' {
		in.Report("must be a string")
		return "", false
	}
	s, flaw := unquote(raw)
	if flaw != "" {
		in.Report(flaw)
		return "", false
	}
	return s, true
}

// Bool reads true or false.
func (in *Input) Bool() (value, ok bool) {
	switch in.Raw().Kind() {
	case 't':
		return true, true
	case 'f':
		return false, true
	}
	in.Report("must be true or false")
	return false, false
}

// Int reads a whole number without fraction or exponent.
func (in *Input) Int() (n int64, ok bool) {
	raw := in.Raw()
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		in.Report("must be a whole number")
		return 0, false
	}
	return n, true
}

// Raw reads any value as it was sent. It is valid until the next read.
func (in *Input) Raw() jsontext.Value {
	raw, err := in.d.ReadValue()
	if err != nil { // what has passed Check does not fail
		in.Report("cannot be read")
		return nil
	}
	return raw
}

// Kind is the kind of the next value: 'n', 'f', 't', '"', '0', '{' or '['.
func (in *Input) Kind() byte { return byte(in.d.PeekKind()) }

// Report says what is wrong with the value or name read last.
func (in *Input) Report(detail string) {
	in.report(problem.InvalidInput, string(in.d.StackPointer()), detail)
}

// ReportAt says what is wrong with a member of the object that was read last.
func (in *Input) ReportAt(name string, code problem.Code, detail string) {
	in.report(code, string(in.d.StackPointer().AppendToken(name)), detail)
}

// Refuse reads a value whose field is known but cannot be taken.
func (in *Input) Refuse(detail string) {
	in.skip()
	in.report(problem.NotSupported, string(in.d.StackPointer()), detail)
}

func (in *Input) report(code problem.Code, pointer, detail string) {
	if in.code == "" || code == problem.InvalidInput {
		in.code = code
	}
	if len(in.errors) == maxProblems {
		in.more++
		return
	}
	in.errors = append(in.errors, problem.At{Pointer: pointer, Detail: detail})
}

// Problem is all that is wrong with the input; nil: nothing.
func (in *Input) Problem() *problem.Problem {
	if len(in.errors) == 0 {
		return nil
	}
	p := problem.New(in.code, in.summary())
	p.Errors = in.errors
	return p
}

func (in *Input) summary() string {
	first := in.errors[0]
	text := strings.TrimPrefix(first.Pointer+" "+first.Detail, " ")
	if first.Pointer == "" {
		text = "the value " + first.Detail
	}
	if others := len(in.errors) - 1 + in.more; others > 0 {
		text += fmt.Sprintf(", and %d more", others)
	}
	return text
}

func (in *Input) open(bracket jsontext.Kind, wrong string) bool {
	if in.d.PeekKind() != bracket {
		in.skip()
		in.Report(wrong)
		return false
	}
	_, err := in.d.ReadToken()
	return err == nil
}

// skip passes over the next value or closing bracket.
func (in *Input) skip() {
	switch in.d.PeekKind() {
	case '}', ']':
		_, _ = in.d.ReadToken() // what has passed Check does not fail
	default:
		_ = in.d.SkipValue()
	}
}

// RefuseLast says that the value read last is known but cannot be taken.
func (in *Input) RefuseLast(detail string) {
	in.report(problem.NotSupported, string(in.d.StackPointer()), detail)
}
