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
func (d *decoder) config(root *yaml.Node, c *Config, vendors []channels.Vendor) error {
	body := &yaml.Node{Kind: yaml.MappingNode}
	if len(root.Content) > 0 && root.Content[0].Tag != "!!null" {
		body = root.Content[0]
	}
	rest, providers := without(body, "providers")
	if err := d.value(rest, reflect.ValueOf(c).Elem(), "TIDINGS"); err != nil {
		return err
	}
	if providers == nil {
		return nil
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
	return nil
}

// provider decodes one item of the list: its own keys go to its vendor, the rest is common to all.
func (d *decoder) provider(n *yaml.Node, vendors []channels.Vendor) (Provider, error) {
	p := Provider{Common: Common{Timeout: 10 * time.Second, Concurrency: 64}}
	if n.Kind != yaml.MappingNode {
		return p, d.at(n, "providers: want {name, type, …}")
	}
	common, own := split(n, reflect.TypeFor[Common]())
	if err := d.value(common, reflect.ValueOf(&p.Common).Elem(), ""); err != nil {
		return p, err
	}
	if p.Name == "" || len(p.Name) > 64 || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return p, d.at(n, "providers: name: want 1 to 64 lower-case letters, digits and dashes")
	}
	i := slices.IndexFunc(vendors, func(v channels.Vendor) bool { return v.Type == p.Type })
	if i < 0 {
		return p, d.at(n, fmt.Sprintf("providers: %s: there is no type %q", p.Name, p.Type))
	}
	p.Vendor, p.Config = vendors[i], vendors[i].Config()
	prefix := join("TIDINGS_PROVIDERS", p.Name)
	if err := d.value(nil, reflect.ValueOf(&p.Common).Elem(), prefix); err != nil {
		return p, err
	}
	if err := d.value(own, reflect.ValueOf(p.Config).Elem(), prefix); err != nil {
		return p, err
	}
	if v, ok := p.Config.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return p, d.at(n, fmt.Sprintf("providers: %s: %v", p.Name, err))
		}
	}
	return p, nil
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
	fields := map[string]reflect.Value{}
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
