package api

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"tidings/api/strict"
)

// fingerprintForm rises whenever equal requests begin to give another fingerprint.
const fingerprintForm = "event 1\n"

// fingerprint tells requests apart by what they ask: a hash of the canonical body of an event
// without its dedupe key, where a bare user id counts as the object that has nothing else.
func fingerprint(body []byte) ([32]byte, error) {
	asked, err := withoutKey(body)
	if err != nil {
		return [32]byte{}, fmt.Errorf("read an event for its fingerprint: %w", err)
	}
	canonical, err := strict.Canonical(asked)
	if err != nil {
		return [32]byte{}, err
	}
	h := sha256.New()
	h.Write([]byte(fingerprintForm))
	h.Write(canonical)
	return [32]byte(h.Sum(nil)), nil
}

func withoutKey(body []byte) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(`{"id":}`))
	out = append(out, '{')
	for d.PeekKind() == '"' {
		quoted, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		name, _ := jsontext.AppendUnquote(nil, quoted)
		start := len(out)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, quoted...), ':')
		value, err := d.ReadValue()
		switch {
		case err != nil:
			return nil, err
		case string(name) == "dedupe_key":
			out = out[:start]
		case string(name) == "user" && value.Kind() == '"':
			out = append(append(append(out, `{"id":`...), value...), '}')
		default:
			out = append(out, value...)
		}
	}
	return append(out, '}'), nil
}
