package templates_test

import (
	"testing"

	"tidings"
)

func TestTheLocaleFallsBackToItsLanguageAndThenTheDefault(t *testing.T) {
	c := texts(t, "x")
	for locale, want := range map[string]string{
		"": "x", "en": "x", "de": "de: x", "de-AT": "de: x", "de_CH": "de: x", "DE": "de: x", "fr": "x", "pt-BR": "br: x", "pt_br": "br: x",
		"pt": "x", "zh-TW": "tw: x", "zh-HK": "zh: x", "zh-TW-x": "tw: x", "en-GB": "gb: x", "en-US": "x", "sr-Latn-RS": "sr: x", "-": "x", "--de": "x",
	} {
		in := input(`{}`)
		in.User.Locale = locale
		if content, err := c.Render("e", tidings.SMS, in); err != nil || content.Body != want {
			t.Errorf("%q: %q, want %q (%v)", locale, content.Body, want, err)
		}
	}
}
