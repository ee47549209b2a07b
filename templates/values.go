package templates

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// What a template works on is plain data: nil, bool, string, number, []any, map[string]any, and
// the ints and floats of its own literals.

// decode reads one JSON value; numbers stay as they are written.
func decode(raw []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	v, err := decodeValue(d)
	if err != nil {
		return nil, fault("the data is not valid JSON") // the cause would quote the data
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, fault("the data goes on after its end")
	}
	return v, nil
}

func decodeValue(d *jsontext.Decoder) (any, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return decodeObject(d)
	case '[':
		return decodeList(d)
	case '"':
		return t.String(), nil
	case '0':
		return number(t.String()), nil
	case 't', 'f':
		return t.Bool(), nil
	}
	return nil, nil
}

func decodeObject(d *jsontext.Decoder) (any, error) {
	object := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if object[key], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return object, err
}

func decodeList(d *jsontext.Decoder) (any, error) {
	list := []any{}
	for d.PeekKind() != ']' {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return list, err
}

// truth says whether a value counts as true: what is null, false, zero or empty does not.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	n, ok := numberOf(v)
	return !ok || !n.zero()
}

// textOf is a value as it is printed: null is nothing, a number is as sent.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case number:
		return string(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case []any:
		return "", fault("cannot print a list; use range or join")
	}
	if n, ok := numberOf(v); ok {
		return string(n), nil
	}
	return "", fault("cannot print an object; name one of its members")
}

// A fault is what is wrong with a template or the use it makes of the data. It never quotes values.
type fault string

// Error is the fault.
func (f fault) Error() string { return string(f) }
