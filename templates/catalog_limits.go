package templates

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tidings"
)

// readCaps reads {per_user: 3/24h, over: hold}.
func (d *declaration) readCaps(n *yaml.Node) tidings.Cap {
	var c tidings.Cap
	hold, over := false, 0
	d.reader.fields(n, "caps", map[string]func(*yaml.Node){
		"per_user": func(n *yaml.Node) { c = d.readCap(n, "per_user") },
		"over": func(n *yaml.Node) {
			over, hold = n.Line, d.oneOf(n, "over", "drop", "hold") == "hold"
		},
	})
	if over > 0 && c.Count == 0 {
		d.problem(over, "caps: over is said of a per_user that is missing")
	}
	c.Hold = hold
	return c
}

// readCap reads "3/24h".
func (d *declaration) readCap(n *yaml.Node, what string) tidings.Cap {
	s, ok := d.str(n, what)
	if !ok {
		return tidings.Cap{}
	}
	count, per, _ := strings.Cut(s, "/")
	c, err := strconv.Atoi(count)
	if err != nil || c < 1 || c > maxCap || per == "" {
		d.problem(n.Line, "%s %q is not a cap like 3/24h, of at most %d", what, s, maxCap)
		return tidings.Cap{}
	}
	return tidings.Cap{Count: c, Per: d.duration(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: per, Line: n.Line}, what)}
}

// maxCap bounds what is counted, since each instant of it is kept.
const maxCap = 1000

// limits is every limit that counts an event type, narrowest first. Nothing counts what is critical.
func (d *declaration) limits(e *tidings.EventType, own, cooldown tidings.Cap) []tidings.Limit {
	if e.Category.Kind == tidings.Critical {
		return nil
	}
	var all []tidings.Limit
	add := func(c tidings.Cap, scope string, reason tidings.Reason) {
		if c.Count > 0 {
			all = append(all, tidings.Limit{Cap: c, Scope: scope, Reason: reason})
		}
	}
	add(cooldown, "type:"+e.Name, tidings.ReasonRateLimitedCategory)
	add(own, "type:"+e.Name, tidings.ReasonRateLimitedCategory)
	add(e.Category.CapPerUser, "category:"+e.Category.Name, tidings.ReasonRateLimitedCategory)
	add(d.everyone, "user", tidings.ReasonRateLimitedUser)
	return all
}
