package templates

import (
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
)

const (
	catalogFile     = "catalog.yaml"
	templatesFolder = "templates"
	fallbackLocale  = "en"
)

// names is what event types and categories may be called.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$`)

// A declaration is catalog.yaml as read, with the lines that later problems point to.
type declaration struct {
	*reader
	locale     string
	everyone   tidings.Cap               // of all a user gets that is not critical
	windows    map[string]tidings.Window // of marketing SMS, by country
	categories map[string]tidings.Category
	events     map[string]*tidings.EventType
	lines      map[string]int            // of event types
	fields     map[string]map[string]int // of the members of an event type's data
}

// declare reads catalog.yaml; nil when it does not get as far as the event types.
func declare(source string, problems *Problems) *declaration {
	d := &declaration{
		reader: &reader{file: catalogFile, problems: problems}, locale: fallbackLocale,
		categories: map[string]tidings.Category{}, events: map[string]*tidings.EventType{},
		lines: map[string]int{}, fields: map[string]map[string]int{},
	}
	root := d.document(source)
	if root == nil {
		return nil
	}
	var categories, events *yaml.Node // read last, since they build on the rest
	d.reader.fields(root, "the catalogue", map[string]func(*yaml.Node){
		"default_locale": d.readLocale,
		"caps":           func(n *yaml.Node) { d.everyone = d.readCaps(n) },
		"windows":        func(n *yaml.Node) { d.windows = d.readWindows(n) },
		"categories":     func(n *yaml.Node) { categories = n },
		"events":         func(n *yaml.Node) { events = n },
	})
	if categories != nil { // before the events that name them, wherever they stand
		d.readCategories(categories)
	}
	if events == nil {
		if len(*problems) == 0 {
			d.problem(0, "the catalogue has no events")
		}
		return nil
	}
	d.readEvents(events)
	return d
}

func (d *declaration) readLocale(n *yaml.Node) {
	locale, ok := d.str(n, "default_locale")
	if ok && !locales.MatchString(locale) {
		d.problem(n.Line, "default_locale %q is not a locale like en or pt-BR", locale)
		return
	}
	if ok {
		d.locale = locale
	}
}

func (d *declaration) readCategories(n *yaml.Node) {
	for _, k := range d.mapping(n, "categories") {
		if !names.MatchString(k.name) {
			d.problem(k.line, "category %q: a name has letters, digits and . _ : @ -", k.name)
			continue
		}
		d.categories[k.name] = d.readCategory(k)
	}
}

// readDefaults reads {sms: false}: the channels on which a category is off until the user says otherwise.
func (d *declaration) readDefaults(n *yaml.Node) map[tidings.Channel]bool {
	defaults := map[tidings.Channel]bool{}
	for _, k := range d.mapping(n, "channels") {
		channel := tidings.Channel(k.name)
		if !slices.Contains(tidings.Channels(), channel) {
			d.problem(k.line, "unknown channel %q; the channels are %v", k.name, tidings.Channels())
			continue
		}
		defaults[channel] = d.boolean(k.value, k.name)
	}
	return defaults
}

// leastRetention is the shortest time for which a category may keep its detail.
const leastRetention = 24 * time.Hour

func (d *declaration) readCategory(k key) tidings.Category {
	c := tidings.Category{Name: k.name}
	consent, quiet := 0, 0
	d.reader.fields(k.value, "category "+k.name, map[string]func(*yaml.Node){
		"kind": func(n *yaml.Node) {
			c.Kind = tidings.CategoryKind(d.oneOf(n, "kind", string(tidings.Critical), string(tidings.Transactional), string(tidings.Marketing)))
		},
		"consent": func(n *yaml.Node) {
			consent = n.Line
			c.Consent = d.oneOf(n, "consent", tidings.OptOut, tidings.OptIn, tidings.DoubleOptIn)
		},
		"channels": func(n *yaml.Node) { c.Channels = d.readDefaults(n) },
		"caps":     func(n *yaml.Node) { c.CapPerUser = d.readCaps(n) },
		"quiet_hours": func(n *yaml.Node) {
			quiet = n.Line
			c.QuietHours = tidings.QuietRule(d.oneOf(n, "quiet_hours", string(tidings.QuietHold), string(tidings.QuietDrop)))
		},
		"opt_out": func(n *yaml.Node) {
			c.OptOut = tidings.Scope(d.oneOf(n, "opt_out", string(tidings.ScopeCategory), string(tidings.ScopeChannel), string(tidings.ScopeAll)))
		},
		"title":       func(n *yaml.Node) { c.Titles = d.readTexts(n, "title") },
		"description": func(n *yaml.Node) { c.Descriptions = d.readTexts(n, "description") },
		"retention":   func(n *yaml.Node) { c.Retention = d.duration(n, "retention") },
		"fresh_for":   func(n *yaml.Node) { c.FreshFor = d.duration(n, "fresh_for") },
		"on_unknown":  func(n *yaml.Node) { c.OnUnknown = d.readOnUnknown(n) },
	})
	switch {
	case c.Kind == "":
		d.problem(k.line, "category %s needs a kind: critical, transactional or marketing", k.name)
	case c.Retention > 0 && c.Retention < leastRetention:
		d.problem(k.line, "category %s: retention must be at least 24h, so that receipts still find what they are about", k.name)
	case c.Kind == tidings.Critical && c.CapPerUser.Count > 0:
		d.problem(k.line, "category %s is critical: it cannot have caps", k.name)
	case c.Kind == tidings.Critical && len(c.Channels) > 0:
		d.problem(k.line, "category %s is critical: no channel of it can be off", k.name)
	case c.Kind == tidings.Critical && quiet > 0:
		d.problem(quiet, "category %s is critical: quiet hours never stop it", k.name)
	case c.Kind != tidings.Marketing && consent > 0:
		d.problem(consent, "category %s: only marketing has a consent", k.name)
	case c.Kind == tidings.Marketing && consent == 0:
		c.Consent = tidings.OptOut
	}
	return c
}

// readOnUnknown reads retry, give_up or {wait_receipt: 2m, then: retry}.
func (d *declaration) readOnUnknown(n *yaml.Node) *tidings.OnUnknown {
	if n.Kind != yaml.MappingNode {
		return &tidings.OnUnknown{Retry: d.oneOf(n, "on_unknown", "retry", "give_up") == "retry"}
	}
	u, then := &tidings.OnUnknown{}, false
	d.reader.fields(n, "on_unknown", map[string]func(*yaml.Node){
		"wait_receipt": func(n *yaml.Node) { u.Wait = d.duration(n, "wait_receipt") },
		"then":         func(n *yaml.Node) { then, u.Retry = true, d.oneOf(n, "then", "retry", "give_up") == "retry" },
	})
	if u.Wait == 0 || !then {
		d.problem(n.Line, "on_unknown is retry, give_up or {wait_receipt: 2m, then: retry}")
	}
	return u
}
