package templates_test

import (
	"strings"
	"testing"

	"tidings/templates"
)

func titled(title string) (*templates.Catalogue, error) {
	return templates.Parse(map[string]string{
		"catalog.yaml":           "categories: {news: {kind: marketing" + title + "}}\nevents: {e: {category: news, channels: [sms]}}\n",
		"templates/e/sms.en.txt": "x",
	})
}

func TestACategoryIsDescribedInTheReadersLanguage(t *testing.T) {
	for _, c := range []struct{ why, title, locale, want, about string }{
		{"no title", "", "de", "news", ""},
		{"one for all", ", title: News, description: About us", "de", "News", "About us"},
		{"the language of a region", ", title: {en: News, de: Neues}, description: {de: Von uns}", "de-AT", "Neues", "Von uns"},
		{"a region of its own", ", title: {en: News, de: Neues, de-AT: Neuigkeiten}", "de_AT", "Neuigkeiten", ""},
		{"a language that is missing", ", title: {en: News, de: Neues}", "fr", "News", ""},
		{"none of what there is", ", title: {de: Neues}", "fr", "news", ""},
	} {
		catalogue, err := titled(c.title)
		if err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		category := catalogue.Categories["news"]
		if title, about := catalogue.Describe(&category, c.locale); title != c.want || about != c.about {
			t.Errorf("%s: %q, %q", c.why, title, about)
		}
	}
	for title, want := range map[string]string{
		", title: {english: News}": "is not a locale", ", title: ''": "has 1 to 500 bytes", ", title: [News]": "title",
		", title: " + strings.Repeat("x", 501): "has 1 to 500 bytes", ", titel: News": "has no key",
	} {
		if _, err := titled(title); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", title, err, want)
		}
	}
}
