package templates

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
	var categories, events *yaml.Node
	d.reader.fields(root, "the catalogue", map[string]func(*yaml.Node){
		"default_locale": d.readLocale,
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

func (d *declaration) readCategory(k key) tidings.Category {
	c := tidings.Category{Name: k.name}
	consent := 0
	d.reader.fields(k.value, "category "+k.name, map[string]func(*yaml.Node){
		"kind": func(n *yaml.Node) {
			c.Kind = tidings.CategoryKind(d.oneOf(n, "kind", string(tidings.Critical), string(tidings.Transactional), string(tidings.Marketing)))
		},
		"consent": func(n *yaml.Node) {
			consent = n.Line
			c.Consent = d.oneOf(n, "consent", tidings.OptOut, tidings.OptIn)
		},
		"caps": func(n *yaml.Node) {
			d.reader.fields(n, "caps", map[string]func(*yaml.Node){"per_user": func(n *yaml.Node) { c.CapPerUser = d.readCap(n) }})
		},
		"fresh_for":  func(n *yaml.Node) { c.FreshFor = d.duration(n, "fresh_for") },
		"on_unknown": func(n *yaml.Node) { c.OnUnknown = d.readOnUnknown(n) },
	})
	switch {
	case c.Kind == "":
		d.problem(k.line, "category %s needs a kind: critical, transactional or marketing", k.name)
	case c.Kind == tidings.Critical && c.CapPerUser.Count > 0:
		d.problem(k.line, "category %s is critical: it cannot have caps", k.name)
	case c.Kind != tidings.Marketing && consent > 0:
		d.problem(consent, "category %s: only marketing has a consent", k.name)
	case c.Kind == tidings.Marketing && consent == 0:
		c.Consent = tidings.OptOut
	}
	return c
}

// readCap reads "3/24h".
func (d *declaration) readCap(n *yaml.Node) tidings.Cap {
	s, ok := d.str(n, "per_user")
	if !ok {
		return tidings.Cap{}
	}
	count, per, _ := strings.Cut(s, "/")
	c, err := strconv.Atoi(count)
	if err != nil || c < 1 || per == "" {
		d.problem(n.Line, "per_user %q is not a cap like 3/24h", s)
		return tidings.Cap{}
	}
	return tidings.Cap{Count: c, Per: d.duration(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: per, Line: n.Line}, "per_user")}
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

func (d *declaration) readEvents(n *yaml.Node) {
	for _, k := range d.mapping(n, "events") {
		if !names.MatchString(k.name) {
			d.problem(k.line, "event type %q: a name has letters, digits and . _ : @ -", k.name)
			continue
		}
		d.lines[k.name] = k.line
		d.events[k.name] = d.readEvent(k)
	}
}

func (d *declaration) readEvent(k key) *tidings.EventType {
	e := &tidings.EventType{Name: k.name}
	category := false
	d.reader.fields(k.value, "event type "+k.name, map[string]func(*yaml.Node){
		"category": func(n *yaml.Node) { category, e.Category = true, d.categoryOf(n) },
		"channels": func(n *yaml.Node) { e.Channels = d.readChannels(n) },
		"lane": func(n *yaml.Node) {
			e.Priority = tidings.Priority(d.oneOf(n, "lane", string(tidings.Bulk), string(tidings.Urgent)))
		},
		"sensitive":     func(n *yaml.Node) { e.Sensitive = d.boolean(n, "sensitive") },
		"expires_in":    func(n *yaml.Node) { e.ExpiresIn = d.duration(n, "expires_in") },
		"dedupe_window": func(n *yaml.Node) { e.DedupeWindow = d.duration(n, "dedupe_window") },
		"fresh_for":     func(n *yaml.Node) { e.FreshFor = d.duration(n, "fresh_for") },
		"on_unknown":    func(n *yaml.Node) { e.OnUnknown = d.readOnUnknown(n) },
		"data":          func(n *yaml.Node) { e.Data = d.readData(n, k.name) },
		"digest":        func(n *yaml.Node) { d.problem(n.Line, "digests are not supported yet") },
	})
	if !category {
		d.problem(k.line, "event type %s needs a category", k.name)
	}
	if e.Channels == nil {
		d.problem(k.line, "event type %s needs channels", k.name)
	}
	if fresh := e.Fresh(); e.ExpiresIn > 0 && fresh >= e.ExpiresIn {
		d.problem(k.line, "event type %s expires in %v, before it is late: fresh_for %v must be shorter", k.name, e.ExpiresIn, fresh)
	}
	if e.Priority == "" {
		e.Priority = tidings.Bulk
		if e.Category.Kind == tidings.Critical {
			e.Priority = tidings.Urgent
		}
	}
	return e
}

func (d *declaration) categoryOf(n *yaml.Node) tidings.Category {
	name, ok := d.str(n, "category")
	c, known := d.categories[name]
	if ok && !known {
		d.problem(n.Line, "category %q is not declared under categories", name)
	}
	return c
}

func (d *declaration) readChannels(n *yaml.Node) []tidings.Channel {
	channels := []tidings.Channel{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.problem(n.Line, "channels must be a list with at least one of %v", tidings.Channels())
		return channels
	}
	for _, item := range n.Content {
		channel := tidings.Channel(item.Value)
		switch {
		case item.Kind != yaml.ScalarNode || !slices.Contains(tidings.Channels(), channel):
			d.problem(item.Line, "unknown channel %q; the channels are %v", item.Value, tidings.Channels())
		case slices.Contains(channels, channel):
			d.problem(item.Line, "channel %s is listed twice", channel)
		default:
			channels = append(channels, channel)
		}
	}
	return channels
}

// readData reads the schema of an event type's data.
func (d *declaration) readData(n *yaml.Node, event string) map[string]tidings.Field {
	schema, lines := map[string]tidings.Field{}, map[string]int{}
	for _, k := range d.mapping(n, "data") {
		field := tidings.Field{}
		var example *yaml.Node
		d.reader.fields(k.value, "data member "+k.name, map[string]func(*yaml.Node){
			"type": func(n *yaml.Node) {
				field.Type = d.oneOf(n, "type", "string", "number", "integer", "boolean", "array", "object")
			},
			"example": func(n *yaml.Node) { example = n },
		})
		if field.Type == "" {
			d.problem(k.line, "data member %s needs a type", k.name)
		} else if example != nil {
			field.Example = d.readExample(example, k.name, field.Type)
		}
		schema[k.name], lines[k.name] = field, k.line
	}
	d.fields[event] = lines
	return schema
}

func (d *declaration) readExample(n *yaml.Node, name, typ string) any {
	var example any
	if err := n.Decode(&example); err != nil {
		d.problem(n.Line, "example of %s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if _, err := json.Marshal(example); err != nil || !fits(example, typ) {
		d.problem(n.Line, "example of %s is not of type %s", name, typ)
		return nil
	}
	return example
}

func fits(example any, typ string) bool {
	switch example.(type) {
	case string:
		return typ == "string"
	case bool:
		return typ == "boolean"
	case int, int64, uint64:
		return typ == "integer" || typ == "number"
	case float64:
		return typ == "number"
	case []any:
		return typ == "array"
	case map[string]any:
		return typ == "object"
	}
	return false
}
