package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// merge applies a JSON merge patch (RFC 7396), which is an object, to an object. Members keep
// their text, so that numbers stay as they were sent; an empty target is {}.
func merge(target, patch json.RawMessage) (json.RawMessage, error) {
	var changes map[string]json.RawMessage
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, fmt.Errorf("read merge patch: %w", err)
	}
	members := map[string]json.RawMessage{}
	if isObject(target) {
		if err := json.Unmarshal(target, &members); err != nil {
			return nil, fmt.Errorf("read merge target: %w", err)
		}
	}
	for name, value := range changes {
		switch {
		case string(bytes.TrimSpace(value)) == "null":
			delete(members, name)
		case isObject(value):
			merged, err := merge(members[name], value)
			if err != nil {
				return nil, err
			}
			members[name] = merged
		default:
			members[name] = value
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return nil, fmt.Errorf("write merged object: %w", err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}

func isObject(value json.RawMessage) bool {
	value = bytes.TrimSpace(value)
	return len(value) > 0 && value[0] == '{'
}
