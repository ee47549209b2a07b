package templates

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
)

// What a digest is when it does not say.
const (
	digestWindow = 10 * time.Minute
	digestMax    = 50
	digestMost   = 200 // more than that is no digest
)

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
	var own, cooldown tidings.Cap
	digest := (*yaml.Node)(nil)
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
		"digest":        func(n *yaml.Node) { digest = n }, // after the channels that it names
		"thread":        func(n *yaml.Node) { e.Thread, _ = d.str(n, "thread") },
		"caps":          func(n *yaml.Node) { own = d.readCaps(n) },
		"brake":         func(n *yaml.Node) { e.Brake = d.readCap(n, "brake") },
		"cooldown":      func(n *yaml.Node) { cooldown = tidings.Cap{Count: 1, Per: d.duration(n, "cooldown")} },
	})
	if digest != nil {
		e.Digest = d.readDigest(digest, e)
	}
	if e.Category.Kind == tidings.Critical && own.Count+cooldown.Count > 0 {
		d.problem(k.line, "event type %s is critical: it cannot have caps or a cooldown", k.name)
	}
	e.Limits = d.limits(e, own, cooldown)
	if e.Category.Kind == tidings.Marketing && slices.Contains(e.Channels, tidings.SMS) {
		e.Windows = d.windows
	}
	if !category {
		d.problem(k.line, "event type %s needs a category", k.name)
	}
	if e.Channels == nil {
		d.problem(k.line, "event type %s needs channels", k.name)
	}
	if fresh := e.Fresh(); e.ExpiresIn > 0 && fresh >= e.ExpiresIn {
		d.problem(k.line, "event type %s expires in %v, before it is late: fresh_for %v must be shorter", k.name, e.ExpiresIn, fresh)
	}
	if e.Digest != nil && e.ExpiresIn > 0 && e.Digest.Window >= e.ExpiresIn {
		d.problem(k.line, "event type %s expires in %v, before its digest closes: window %v must be shorter", k.name, e.ExpiresIn, e.Digest.Window)
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

// readDigest reads {key: post, window: 10m, max: 50, channels: [push]}.
func (d *declaration) readDigest(n *yaml.Node, e *tidings.EventType) *tidings.Digest {
	g := &tidings.Digest{Window: digestWindow, Max: digestMax}
	d.reader.fields(n, "digest", map[string]func(*yaml.Node){
		"key":      func(n *yaml.Node) { g.Key, _ = d.str(n, "key") },
		"window":   func(n *yaml.Node) { g.Window = d.duration(n, "window") },
		"max":      func(n *yaml.Node) { g.Max = d.count(n, "max", digestMost) },
		"channels": func(n *yaml.Node) { g.Channels = d.readChannels(n) },
	})
	if g.Channels == nil {
		g.Channels = digestible(e.Channels)
	}
	for _, c := range g.Channels {
		if !slices.Contains(e.Channels, c) {
			d.problem(n.Line, "event type %s: digest channel %s is none of its channels", e.Name, c)
		}
	}
	switch {
	case e.Category.Kind == tidings.Critical:
		d.problem(n.Line, "event type %s is critical: it cannot wait for a digest", e.Name)
	case e.Sensitive:
		d.problem(n.Line, "event type %s is sensitive: its data cannot be kept for a digest", e.Name)
	case len(g.Channels) == 0:
		d.problem(n.Line, "event type %s has no channel to digest: inbox and webhook tell of each event unless they are named", e.Name)
	}
	return g
}

// digestible leaves out the channels that nobody is disturbed by.
func digestible(channels []tidings.Channel) []tidings.Channel {
	return slices.DeleteFunc(slices.Clone(channels), func(c tidings.Channel) bool { return c == tidings.Inbox || c == tidings.Webhook })
}
