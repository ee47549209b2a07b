package templates

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tidings"
)

// maxTitle bounds what people read of a category, in bytes of one text.
const maxTitle = 500

// readTexts reads what people read: one text, or texts by locale.
func (d *declaration) readTexts(n *yaml.Node, name string) map[string]string {
	texts := map[string]string{}
	if n.Kind != yaml.MappingNode {
		texts[""] = d.readTitle(n, name)
		return texts
	}
	for _, k := range d.mapping(n, name) {
		if !locales.MatchString(k.name) {
			d.problem(k.line, "%s: %q is not a locale like en or pt-BR", name, k.name)
			continue
		}
		texts[localeKey(k.name)] = d.readTitle(k.value, name)
	}
	return texts
}

func (d *declaration) readTitle(n *yaml.Node, name string) string {
	text, ok := d.str(n, name)
	if ok && (strings.TrimSpace(text) == "" || len(text) > maxTitle) {
		d.problem(n.Line, "a %s has 1 to %d bytes", name, maxTitle)
	}
	return text
}

// Describe is what people read of a category: its title in a locale, else in its language, in the
// catalogue's default locale or in none, else its name; and its description, found the same way or empty.
func (c *Catalogue) Describe(category *tidings.Category, locale string) (title, description string) {
	if title = c.textIn(category.Titles, locale); title == "" {
		title = category.Name
	}
	return title, c.textIn(category.Descriptions, locale)
}

func (c *Catalogue) textIn(texts map[string]string, locale string) string {
	for key := localeKey(locale); key != ""; key = key[:max(strings.LastIndexByte(key, '-'), 0)] {
		if text, ok := texts[key]; ok {
			return text
		}
	}
	if text, ok := texts[localeKey(c.DefaultLocale)]; ok {
		return text
	}
	return texts[""]
}

// Locales are those that the catalogue has templates in, in their order.
func (c *Catalogue) Locales() []string {
	var list []string
	for _, locale := range c.locales() {
		list = append(list, locale)
	}
	slices.Sort(list)
	return list
}
