package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings/channels"
)

// config decodes the whole file: the providers by their vendors' types, the rest into c.
func (d *decoder) config(document *yaml.Node, c *Config, vendors []channels.Vendor) error {
	body := &yaml.Node{Kind: yaml.MappingNode}
	if len(document.Content) > 0 && document.Content[0].Tag != "!!null" {
		body = document.Content[0]
	}
	rest, providers := without(body, "providers")
	if err := d.value(rest, reflect.ValueOf(c).Elem(), place{env: root}); err != nil {
		return err
	}
	if providers == nil {
		return d.leftOver()
	}
	if providers.Kind != yaml.SequenceNode {
		return d.at(providers, "providers: want a list")
	}
	for _, n := range providers.Content {
		p, err := d.provider(n, vendors)
		if err != nil {
			return err
		}
		c.Providers = append(c.Providers, p)
	}
	return d.leftOver()
}

// provider decodes one item of the list: its own keys go to its vendor, the rest is common to all.
func (d *decoder) provider(n *yaml.Node, vendors []channels.Vendor) (Provider, error) {
	p := Provider{Common: Common{Timeout: 10 * time.Second, Concurrency: 64}}
	if n.Kind != yaml.MappingNode {
		return p, d.at(n, "providers: want {name, type, …}")
	}
	name := nameOf(n)
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return p, d.at(n, "providers: name: want 1 to 64 lower-case letters, digits and dashes")
	}
	at := place{path: "providers." + name, env: join(root+"_PROVIDERS", name)}
	if first, twice := d.where[at.path]; twice {
		return p, d.at(n, fmt.Sprintf("providers: two are named %q, the other at %s: name one differently", name, first))
	}
	common, own := split(n, reflect.TypeFor[Common]())
	if err := d.value(common, reflect.ValueOf(&p.Common).Elem(), at); err != nil {
		return p, err
	}
	if p.Name != name {
		return p, d.at(n, fmt.Sprintf("providers: %s: its name is what stands here: unset %s", name, join(at.env, "name")))
	}
	i := slices.IndexFunc(vendors, func(v channels.Vendor) bool { return v.Type == p.Type })
	if i < 0 {
		return p, d.at(n, fmt.Sprintf("providers: %s: there is no type %q", p.Name, p.Type))
	}
	p.Vendor, p.Config = vendors[i], vendors[i].Config()
	if err := d.value(own, reflect.ValueOf(p.Config).Elem(), at); err != nil {
		return p, err
	}
	if v, ok := p.Config.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return p, d.at(n, fmt.Sprintf("providers: %s: %v", p.Name, err))
		}
	}
	return p, nil
}

// nameOf is the name that an item of the list gives itself.
func nameOf(n *yaml.Node) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// without takes one key out of a mapping.
func without(n *yaml.Node, key string) (rest, taken *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return n, nil
	}
	rest = &yaml.Node{Kind: n.Kind, Line: n.Line}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			taken = n.Content[i+1]
			continue
		}
		rest.Content = append(rest.Content, n.Content[i], n.Content[i+1])
	}
	return rest, taken
}

// split parts a mapping into the keys that typ has and the others.
func split(n *yaml.Node, typ reflect.Type) (of, others *yaml.Node) {
	fields := map[string]field{}
	collect(reflect.New(typ).Elem(), fields)
	of = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line}
	others = &yaml.Node{Kind: yaml.MappingNode, Line: n.Line}
	for i := 0; i < len(n.Content); i += 2 {
		to := others
		if _, ok := fields[n.Content[i].Value]; ok {
			to = of
		}
		to.Content = append(to.Content, n.Content[i], n.Content[i+1])
	}
	return of, others
}
