package intake

import (
	"encoding/json"
	"testing"
)

func TestMergeFollowsTheStandard(t *testing.T) {
	for _, c := range []struct{ why, target, patch, want string }{
		{"a member is added", `{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		{"a member is replaced", `{"a":1}`, `{"a":"x"}`, `{"a":"x"}`},
		{"null removes", `{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		{"null of what is not there is nothing", `{}`, `{"a": null }`, `{}`},
		{"objects are merged deeply", `{"a":{"b":1,"c":2}}`, `{"a":{"c":null,"d":3}}`, `{"a":{"b":1,"d":3}}`},
		{"an object replaces what is none", `{"a":[1]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"nulls of a new object are not kept", `{}`, `{"a":{"b":null,"c":{"d":null}}}`, `{"a":{"c":{}}}`},
		{"lists are replaced as a whole", `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{"nulls in lists are kept", `{}`, `{"a":[null]}`, `{"a":[null]}`},
		{"a user without attributes has none", ``, `{"a":1}`, `{"a":1}`},
		{"large numbers keep every digit", `{"a":9007199254740993}`, `{"b":1000000.10}`, `{"a":9007199254740993,"b":1000000.10}`},
		{"text is not escaped for HTML", `{}`, `{"a":"<b>&"}`, `{"a":"<b>&"}`},
	} {
		got, err := merge(json.RawMessage(c.target), json.RawMessage(c.patch))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: merge(%s, %s) = %s, %v; want %s", c.why, c.target, c.patch, got, err, c.want)
		}
	}
	for _, patch := range []string{`[1]`, `"x"`, `{`} {
		if got, err := merge(nil, json.RawMessage(patch)); err == nil {
			t.Errorf("merge of %s = %s, want an error", patch, got)
		}
	}
}
