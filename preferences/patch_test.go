package preferences_test

import (
	"encoding/json"
	"errors"
	"testing"

	"tidings"
	"tidings/preferences"
)

func kinds(category string) (tidings.CategoryKind, bool) {
	kind, known := map[string]tidings.CategoryKind{
		"security": tidings.Critical, "orders": tidings.Transactional, "offers": tidings.Marketing,
	}[category]
	return kind, known
}

func read(t testing.TB, document string) preferences.Preferences {
	t.Helper()
	var p preferences.Preferences
	if err := json.Unmarshal([]byte(document), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t testing.TB, p preferences.Preferences) string {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPatchTouchesOnlyWhatItNames(t *testing.T) {
	cases := []struct{ why, before, patch, after string }{
		{"the first choice", `{}`, `{"all":false}`, `{"all":false,"version":0}`},
		{"quiet hours", `{}`, `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":{"start":"22:00","end":"07:00"},"version":0}`},
		{"half of the quiet hours", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":{"end":"06:30"}}`, `{"quiet_hours":{"start":"22:00","end":"06:30"},"version":0}`},
		{"nothing named of quiet hours that are not there", `{}`, `{"quiet_hours":{}}`, `{"version":0}`},
		{"nothing named of quiet hours", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":{}}`, `{"quiet_hours":{"start":"22:00","end":"07:00"},"version":0}`},
		{"quiet hours forgotten", `{"quiet_hours":{"start":"22:00","end":"07:00"}}`, `{"quiet_hours":null}`, `{"version":0}`},
		{"a thread beside another", `{"threads":{"orders":{"a":false}}}`, `{"threads":{"orders":{"b":false}}}`, `{"threads":{"orders":{"a":false,"b":false}},"version":0}`},
		{"a thread heard again", `{"threads":{"orders":{"a":false}}}`, `{"threads":{"orders":{"a":true}}}`, `{"version":0}`},
		{"consents are kept", `{"consents":{"offers":{"state":"given","at":"2026-11-01T10:00:00Z"}}}`, `{"all":false}`,
			`{"all":false,"consents":{"offers":{"state":"given","at":"2026-11-01T10:00:00Z"}},"version":0}`},
		{"nothing named, nothing changed", `{"all":true,"version":7}`, `{}`, `{"all":true,"version":7}`},
		{"null takes a choice back", `{"all":false,"channels":{"sms":false}}`, `{"all":null}`, `{"channels":{"sms":false},"version":0}`},
		{"one channel beside another", `{"channels":{"sms":false}}`, `{"channels":{"push":true}}`, `{"channels":{"push":true,"sms":false},"version":0}`},
		{"null on a channel", `{"channels":{"sms":false,"push":false}}`, `{"channels":{"sms":null}}`, `{"channels":{"push":false},"version":0}`},
		{"null on what is not there", `{}`, `{"channels":{"sms":null},"categories":{"orders":null}}`, `{"version":0}`},
		{"null on all channels", `{"channels":{"sms":false,"push":false}}`, `{"channels":null}`, `{"version":0}`},
		{"a channel of a category that is a bool keeps the bool as all", `{"categories":{"offers":false}}`,
			`{"categories":{"offers":{"push":true}}}`, `{"categories":{"offers":{"all":false,"push":true}},"version":0}`},
		{"a channel of a category keeps its neighbours", `{"categories":{"orders":{"email":false}}}`,
			`{"categories":{"orders":{"push":true}}}`, `{"categories":{"orders":{"email":false,"push":true}},"version":0}`},
		{"a category keeps its neighbours", `{"categories":{"orders":{"email":false}}}`,
			`{"categories":{"offers":false}}`, `{"categories":{"offers":false,"orders":{"email":false}},"version":0}`},
		{"a bool is all, so the category's channels stay", `{"categories":{"orders":{"email":false}}}`,
			`{"categories":{"orders":true}}`, `{"categories":{"orders":{"all":true,"email":false}},"version":0}`},
		{"whichever way", `{"categories":{"offers":{"email":false,"push":true}}}`,
			`{"categories":{"offers":false}}`, `{"categories":{"offers":{"all":false,"email":false,"push":true}},"version":0}`},
		{"and an object with all is the same", `{"categories":{"offers":{"email":false,"push":true}}}`,
			`{"categories":{"offers":{"all":false}}}`, `{"categories":{"offers":{"all":false,"email":false,"push":true}},"version":0}`},
		{"an object with all alone is a bool", `{}`, `{"categories":{"orders":{"all":false}}}`, `{"categories":{"orders":false},"version":0}`},
		{"the last choice taken back takes the category along", `{"categories":{"orders":{"email":false}}}`,
			`{"categories":{"orders":{"email":null}}}`, `{"version":0}`},
		{"all off whatever was chosen before", `{"categories":{"offers":{"push":true}}}`,
			`{"categories":{"offers":{"all":false,"push":null}}}`, `{"categories":{"offers":false},"version":0}`},
		{"a category that left the catalogue can be taken back", `{"categories":{"gone":false}}`, `{"categories":{"gone":null}}`, `{"version":0}`},
		{"what is critical may be named as on", `{}`, `{"categories":{"security":true}}`, `{"categories":{"security":true},"version":0}`},
		{"null on all categories", `{"categories":{"offers":false}}`, `{"categories":null}`, `{"version":0}`},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			before := read(t, c.before)
			kept := write(t, before)
			after, err := before.Patch([]byte(c.patch), kinds)
			if err != nil {
				t.Fatal(err)
			}
			if got := write(t, after); got != c.after {
				t.Errorf("after: %s, want %s", got, c.after)
			}
			if write(t, before) != kept {
				t.Error("the patch changed what it was applied to")
			}
		})
	}
}

func TestPatchRefusesWhatItCannotKeep(t *testing.T) {
	cases := []struct{ why, patch, code, pointer string }{
		{"a patch of no object would replace the document", `null`, "invalid_input", ""},
		{"an array neither", `[]`, "invalid_input", ""},
		{"not JSON", `{"all":`, "invalid_input", ""},
		{"two documents", `{}{}`, "invalid_input", ""},
		{"a name twice", `{"all":true,"all":false}`, "invalid_input", ""},
		{"a name twice, deep", `{"categories":{"orders":{"push":true,"push":false}}}`, "invalid_input", ""},
		{"an unknown member", `{"chanels":{}}`, "invalid_input", "/chanels"},
		{"names are exact", `{"All":false}`, "invalid_input", "/All"},
		{"the version is the caller's to take out", `{"version":3}`, "invalid_input", "/version"},
		{"quiet hours that are none", `{"quiet_hours":{"start":"22:00","end":"22:00"}}`, "invalid_input", "/quiet_hours"},
		{"an hour that is none", `{"quiet_hours":{"start":"24:00","end":"07:00"}}`, "invalid_input", "/quiet_hours/start"},
		{"an hour in short", `{"quiet_hours":{"start":"22:00","end":"7:00"}}`, "invalid_input", "/quiet_hours/end"},
		{"quiet hours without an end", `{"quiet_hours":{"start":"22:00"}}`, "invalid_input", "/quiet_hours/end"},
		{"quiet hours with a zone", `{"quiet_hours":{"start":"22:00","end":"07:00","timezone":"UTC"}}`, "invalid_input", "/quiet_hours/timezone"},
		{"a thread of an unknown category", `{"threads":{"gone":{"a":false}}}`, "invalid_input", "/threads/gone"},
		{"a thread of what is critical", `{"threads":{"security":{"a":false}}}`, "category_critical", "/threads/security/a"},
		{"a thread without a key", `{"threads":{"orders":{"":false}}}`, "invalid_input", "/threads/orders/"},
		{"all is no string", `{"all":"no"}`, "invalid_input", "/all"},
		{"channels are an object", `{"channels":false}`, "invalid_input", "/channels"},
		{"a channel is a bool", `{"channels":{"sms":0}}`, "invalid_input", "/channels/sms"},
		{"an unknown channel", `{"channels":{"fax":false}}`, "invalid_input", "/channels/fax"},
		{"categories are an object", `{"categories":[]}`, "invalid_input", "/categories"},
		{"an unknown category", `{"categories":{"a/b~":false}}`, "invalid_input", "/categories/a~1b~0"},
		{"an unknown category cannot be taken back either", `{"categories":{"gone":null}}`, "invalid_input", "/categories/gone"},
		{"a category is no string", `{"categories":{"orders":"off"}}`, "invalid_input", "/categories/orders"},
		{"an unknown channel of a category", `{"categories":{"orders":{"fax":false}}}`, "invalid_input", "/categories/orders/fax"},
		{"critical cannot be off", `{"categories":{"security":false}}`, "category_critical", "/categories/security"},
		{"nor on one channel", `{"categories":{"security":{"push":true,"email":false}}}`, "category_critical", "/categories/security/email"},
		{"nor as all", `{"categories":{"security":{"all":false}}}`, "category_critical", "/categories/security/all"},
		{"one wrong member spoils the whole", `{"all":false,"channels":{"sms":1}}`, "invalid_input", "/channels/sms"},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			before := read(t, `{"all":true}`)
			after, err := before.Patch([]byte(c.patch), kinds)
			var refused *preferences.PatchError
			if !errors.As(err, &refused) {
				t.Fatalf("error %v", err)
			}
			if refused.Code != c.code || refused.Pointer != c.pointer || refused.Detail == "" {
				t.Errorf("%s at %q: %s, want %s at %q", refused.Code, refused.Pointer, refused.Detail, c.code, c.pointer)
			}
			if write(t, after) != write(t, before) {
				t.Error("a refused patch changed something")
			}
		})
	}
}

func TestPreferencesReadOnlyWhatTheyWrite(t *testing.T) {
	for _, document := range []string{
		`{"categories":{"orders":null}}`, `{"categories":{"orders":"x"}}`, `{"categories":{"orders":{"fax":true}}}`,
		`{"categories":{"orders":{"push":null}}}`, `{"categories":{"orders":[]}}`,
	} {
		var p preferences.Preferences
		if json.Unmarshal([]byte(document), &p) == nil {
			t.Errorf("%s was read as %s", document, write(t, p))
		}
	}
}

func TestAPatchThatCannotBeTakenSaysWhatWouldBe(t *testing.T) {
	for patch, want := range map[string]string{
		`{"quiet_hours":{"start":"22:00","end":"07:00","tz":"x"}}`:     "unknown member; quiet hours have start and end",
		`{"quiet_hours":{"start":"22:00","end":"07:00","tz":"10:00"}}`: "unknown member; quiet hours have start and end",
		`{"quiet_hours":{"start":"x"}}`:                                `"x" is not a time of day like 22:00`,
		`{"categories":{"orders":"no"}}`:                               "want true, false, null or an object of these for all and for channels",
		`{"categories":{"orders":{"push":"no"}}}`:                      "want true, false or null",
	} {
		if _, err := (preferences.Preferences{}).Patch([]byte(patch), kinds); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", patch, err, want)
		}
	}
}
