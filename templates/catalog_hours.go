package templates

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings"
	"tidings/internal/numbers"
)

// days are the names under which a window gives hours, wider ones first: what is narrower goes before them.
var days = []struct {
	name     string
	from, to time.Weekday
}{
	{"daily", time.Sunday, time.Saturday}, {"mon-fri", time.Monday, time.Friday}, {"mon-sat", time.Monday, time.Saturday},
	{"sun", time.Sunday, time.Sunday}, {"mon", time.Monday, time.Monday}, {"tue", time.Tuesday, time.Tuesday},
	{"wed", time.Wednesday, time.Wednesday}, {"thu", time.Thursday, time.Thursday}, {"fri", time.Friday, time.Friday},
	{"sat", time.Saturday, time.Saturday},
}

const dayMinutes = 24 * 60

// readWindows reads {US: {daily: "08:00-20:00"}, FR: {mon-sat: "08:00-20:00"}, JO: always}.
func (d *declaration) readWindows(n *yaml.Node) map[string]tidings.Window {
	windows := map[string]tidings.Window{}
	for _, k := range d.mapping(n, "windows") {
		if k.name != "*" && (!numbers.Known(k.name) || k.name != strings.ToUpper(k.name)) {
			d.problem(k.line, "windows: %q is not a country: use a two-letter code of ISO 3166 such as US, or *", k.name)
			continue
		}
		windows[k.name] = d.readWindow(k)
	}
	return windows
}

func (d *declaration) readWindow(k key) (w tidings.Window) {
	if k.value.Kind == yaml.ScalarNode && k.value.Value == "always" {
		for day := range w {
			w[day] = tidings.Span{To: dayMinutes}
		}
		return w
	}
	spans, fields := map[string]tidings.Span{}, map[string]func(*yaml.Node){}
	for _, day := range days {
		fields[day.name] = func(n *yaml.Node) { spans[day.name] = d.readSpan(n, day.name) }
	}
	d.reader.fields(k.value, "window "+k.name, fields)
	for _, day := range days {
		span, named := spans[day.name]
		for on := day.from; named && on <= day.to; on++ {
			w[on] = span
		}
	}
	if w == (tidings.Window{}) {
		d.problem(k.line, "window %s is never open: it would send nothing", k.name)
	}
	return w
}

// readSpan reads "08:00-21:00" or never.
func (d *declaration) readSpan(n *yaml.Node, day string) tidings.Span {
	s, ok := d.str(n, day)
	if !ok || s == "never" {
		return tidings.Span{}
	}
	from, to, _ := strings.Cut(s, "-")
	begin, okBegin := minutes(from)
	end, okEnd := minutes(to)
	if !okBegin || !okEnd || begin >= end {
		d.problem(n.Line, "%s %q is not a span of a day like 08:00-21:00", day, s)
		return tidings.Span{}
	}
	return tidings.Span{From: begin, To: end}
}

// minutes reads a time of day, 24:00 included.
func minutes(s string) (int, bool) {
	if s == "24:00" {
		return dayMinutes, true
	}
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil && len(s) == len("15:04")
}
