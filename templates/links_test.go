package templates_test

import (
	"strings"
	"testing"

	"tidings"
	"tidings/templates"
)

// linked is a catalogue with one mail of a category of a kind.
func linked(t *testing.T, kind string) *templates.Catalogue {
	t.Helper()
	c, err := templates.Parse(map[string]string{
		"catalog.yaml":              "categories: {news: {kind: " + kind + "}}\nevents: {e: {category: news, channels: [email, push], data: {}}}\n",
		"templates/e/email.en.yaml": "subject: x\n",
		"templates/e/email.en.txt":  "[{{.links.unsubscribe}}|{{.links.preferences}}]",
		"templates/e/push.en.yaml":  "title: x\nbody: \"[{{.links.unsubscribe}}|{{.links.preferences}}]\"\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLinksAreInMailThatCanBeRefused(t *testing.T) {
	in := templates.Input{Links: templates.Links{Unsubscribe: "https://a", Preferences: "https://b"}}
	for kind, want := range map[string]string{"critical": "[|]", "transactional": "[https://a|https://b]", "marketing": "[https://a|https://b]"} {
		mail, err := linked(t, kind).Render("e", tidings.Email, in)
		if err != nil || mail.Text != want {
			t.Errorf("%s: %q, %v; want %q", kind, mail.Text, err, want)
		}
		push, err := linked(t, kind).Render("e", tidings.Push, in)
		if err != nil || push.Body != "[|]" {
			t.Errorf("%s, by push: %q, %v", kind, push.Body, err)
		}
		if warnings := linked(t, kind).Lint(0); len(warnings) > 0 {
			t.Errorf("%s: %v", kind, warnings)
		}
	}
}

func TestALinkThatIsNoneIsAProblemOfTheCatalogue(t *testing.T) {
	_, err := templates.Parse(map[string]string{
		"catalog.yaml":              "categories: {news: {kind: marketing}}\nevents: {e: {category: news, channels: [email]}}\n",
		"templates/e/email.en.yaml": "subject: x\n",
		"templates/e/email.en.txt":  "{{.links.unsubscribe_all}}",
	})
	if err == nil || !strings.Contains(err.Error(), ".links.unsubscribe_all is not known") {
		t.Errorf("%v", err)
	}
}
