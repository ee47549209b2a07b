package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tidings/channels"
)

// decoder fills values from YAML nodes and the environment: strictly, and with the line of what is wrong.
// A nil node stands for what the file leaves out; an empty prefix for what the environment cannot set.
type decoder struct {
	file, dir string
	env       map[string]string
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[channels.Secret]()
)

func (d *decoder) value(n *yaml.Node, v reflect.Value, prefix string) error {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.structure(n, v, prefix)
	case reflect.Map:
		return d.mapping(n, v, prefix)
	case reflect.Slice:
		return d.list(n, v, prefix)
	}
	return d.scalar(n, v, prefix)
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, prefix string) error {
	fields := map[string]reflect.Value{}
	collect(v, fields)
	members, err := d.members(n)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, ok := fields[name]; !ok {
			return d.at(members[name], fmt.Sprintf("unknown key %q", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := fields[name]
		if err := d.value(members[name], field, join(prefix, name)); err != nil {
			return err
		}
		if isPath(name) && members[name] != nil {
			field.SetString(d.path(field.String()))
		}
	}
	return nil
}

// collect lists the fields of a struct by their YAML names, those of inlined structs included.
func collect(v reflect.Value, into map[string]reflect.Value) {
	for i := range v.NumField() {
		name, opts, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case opts == "inline" || v.Type().Field(i).Anonymous:
			collect(v.Field(i), into)
		case name != "" && name != "-":
			into[name] = v.Field(i)
		}
	}
}

// members are the values of a mapping by key; a nil or null node has none.
func (d *decoder) members(n *yaml.Node) (map[string]*yaml.Node, error) {
	m := map[string]*yaml.Node{}
	if n == nil || n.Tag == "!!null" {
		return m, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, d.at(n, "want a mapping")
	}
	for i := 0; i < len(n.Content); i += 2 {
		if m[n.Content[i].Value] != nil {
			return nil, d.at(n.Content[i], fmt.Sprintf("key %q stands twice", n.Content[i].Value))
		}
		m[n.Content[i].Value] = n.Content[i+1]
	}
	return m, nil
}

// mapping fills a map whose keys the file chooses; the environment reaches the keys that are there.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, prefix string) error {
	members, err := d.members(n)
	if err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, key := range v.MapKeys() {
		if _, ok := members[key.String()]; !ok {
			members[key.String()] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		item := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			item.Set(old)
		}
		if err := d.value(members[name], item, join(prefix, name)); err != nil {
			return err
		}
		v.SetMapIndex(key, item)
	}
	return nil
}

// list fills a slice; from the environment, strings separated by commas.
func (d *decoder) list(n *yaml.Node, v reflect.Value, prefix string) error {
	if text, ok := d.env[prefix]; ok && v.Type().Elem().Kind() == reflect.String {
		items := strings.Split(text, ",")
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, s := range items {
			v.Index(i).SetString(strings.TrimSpace(s))
		}
		return nil
	}
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return d.at(n, "want a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if err := d.value(c, v.Index(i), ""); err != nil {
			return err
		}
	}
	return nil
}

// path makes a path of the file relative to the file.
func (d *decoder) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(d.dir, p)
}

func isPath(key string) bool {
	return strings.HasSuffix(key, "_file") || strings.HasSuffix(key, "_dir") || key == "catalog"
}

func (d *decoder) at(n *yaml.Node, what string) error {
	return fmt.Errorf("%s:%d: %s", d.file, n.Line, what)
}
