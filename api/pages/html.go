package pages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
)

// read is an embedded file, which is there.
func read(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// compile parses the pages, each inside the layout.
func compile(style string) map[string]*template.Template {
	layout := strings.Replace(read("html/layout.html"), "/*style*/", style, 1)
	pages := map[string]*template.Template{}
	for _, name := range []string{"notice", "unsubscribe", "preferences"} {
		pages[name] = template.Must(template.Must(template.New(name).Parse(layout)).Parse(read("html/" + name + ".html")))
	}
	return pages
}

// policy lets a page have its own style and send its own forms, and nothing else.
func policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// words are the texts of the pages in one language, by name.
type words struct {
	Lang  string
	texts map[string]string
}

// text is one of them; a name that is none is a mistake in a page.
func (w words) text(name string) string {
	text, ok := w.texts[name]
	if !ok {
		panic(fmt.Sprintf("the pages have no text %q in %s", name, w.Lang))
	}
	return text
}

// T is a text, for the pages, with what it speaks of.
func (w words) T(name string, about ...any) string {
	if len(about) == 0 {
		return w.text(name)
	}
	return fmt.Sprintf(w.text(name), about...)
}

// fallback is the language of who speaks none of ours.
const fallback = "en"

func dictionaries() map[string]words {
	all := map[string]words{}
	for _, lang := range []string{"en", "de"} {
		w := words{Lang: lang}
		if err := json.Unmarshal([]byte(read("words."+lang+".json")), &w.texts); err != nil {
			panic(fmt.Sprintf("words of %s: %v", lang, err))
		}
		all[lang] = w
	}
	return all
}

// speak is the language of a locale, else the fallback.
func (s *Site) speak(locale string) words {
	language, _, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	if w, ok := s.words[strings.ToLower(language)]; ok {
		return w
	}
	return s.words[fallback]
}

// accepted is the first language of a browser that the pages have.
func (s *Site) accepted(languages string) words {
	for tag := range strings.SplitSeq(languages, ",") {
		locale, _, _ := strings.Cut(tag, ";")
		language, _, _ := strings.Cut(strings.TrimSpace(locale), "-")
		if w, ok := s.words[strings.ToLower(language)]; ok {
			return w
		}
	}
	return s.words[fallback]
}

// A zoneGroup is the time zones of one part of the world.
type zoneGroup struct {
	Name  string
	Zones []option
}

// An option is one line of a list to choose from.
type option struct{ Value, Label string }

// zoneGroups groups the names of zones, one a line in their order, by what stands before the stroke.
func zoneGroups(names string) []zoneGroup {
	var groups []zoneGroup
	for name := range strings.Lines(names) {
		name = strings.TrimSpace(name)
		region, place, found := strings.Cut(name, "/")
		if !found {
			place = name
		}
		if len(groups) == 0 || groups[len(groups)-1].Name != region {
			groups = append(groups, zoneGroup{Name: region})
		}
		last := &groups[len(groups)-1]
		last.Zones = append(last.Zones, option{name, strings.ReplaceAll(strings.ReplaceAll(place, "_", " "), "/", ", ")})
	}
	return groups
}
