// Package strict reads JSON that callers send, and guesses nothing.
//
// It promises to tell broken JSON from bad input, to name every problem by its place, and to
// read what it takes exactly as sent. It must never repair, convert or skip anything in silence.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"tidings/api/problem"
)

// maxProblems is how many problems of one body are told.
const maxProblems = 20

// maxNesting is how deep jsontext follows; what nests deeper is refused unseen.
const maxNesting = 10000

// A Reader reads itself from the next value of the input, and reports what is wrong with it.
type Reader interface{ ReadJSON(in *Input) }

// Check says whether body is one JSON value in UTF-8 with nothing after it.
func Check(body []byte) *problem.Problem {
	if at := firstInvalid(body); at >= 0 {
		return malformed(fmt.Sprintf("the body is not UTF-8: see byte %d", at))
	}
	d := decoder(body)
	err := d.SkipValue()
	if err == nil {
		_, err = d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		return malformed(fmt.Sprintf("something follows the JSON value at byte %d", d.InputOffset()))
	}
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF):
		return malformed("the body is empty")
	case errors.As(err, &syntax) && tooDeep(body, syntax.ByteOffset):
		p := problem.New(problem.InvalidInput, "the body is nested too deep")
		p.Errors = []problem.At{{Pointer: "", Detail: fmt.Sprintf("must not be nested deeper than %d levels", maxNesting)}}
		return p
	case errors.As(err, &syntax):
		return malformed(fmt.Sprintf("the body is not JSON: see byte %d", syntax.ByteOffset))
	}
	return malformed("the body is not JSON")
}

// Read fills into from raw, which has passed Check, and gives back all that is wrong with it.
func Read(raw []byte, into Reader) *problem.Problem {
	in := &Input{d: decoder(raw)}
	into.ReadJSON(in)
	return in.Problem()
}

func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func malformed(detail string) *problem.Problem { return problem.New(problem.MalformedJSON, detail) }

// firstInvalid is the offset of the first byte that is not UTF-8; -1: all is.
func firstInvalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

// tooDeep reports whether the brackets open at an offset outnumber what jsontext follows.
func tooDeep(body []byte, offset int64) bool {
	depth, quoted := 0, false
	for i := 0; i < int(offset) && i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	return depth >= maxNesting
}
