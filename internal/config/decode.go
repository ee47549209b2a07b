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
)

// decoder fills values from YAML nodes and the environment: strictly, and with the line of what is wrong.
// A nil node stands for what the file leaves out.
type decoder struct {
	file, dir string
	env       map[string]string // flags included
	flags     map[string]string // those of them that are flags: their names as they are typed
	used      map[string]bool   // variables that were read, by name
	where     places
}

// A place is where a value stands among the settings.
type place struct {
	path string            // as in errors: "lanes.sms.bulk"; empty: the top
	env  string            // the variable that sets it, or begins the names of those that set its members; empty: none does
	tag  reflect.StructTag // of its field
}

// member is the place of a member by its YAML name.
func (p place) member(name string) place {
	path := name
	if p.path != "" {
		path = p.path + "." + name
	}
	return place{path: path, env: join(p.env, name)}
}

var durationType = reflect.TypeFor[time.Duration]()

func (d *decoder) value(n *yaml.Node, v reflect.Value, at place) error {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n != nil {
		d.where[at.path] = fmt.Sprintf("%s:%d", d.file, n.Line)
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.structure(n, v, at)
	case reflect.Map:
		return d.mapping(n, v, at)
	case reflect.Slice:
		return d.list(n, v, at)
	}
	return d.scalar(n, v, at)
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, at place) error {
	fields := map[string]field{}
	collect(v, fields)
	members, err := d.members(n, at)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if _, ok := fields[name]; !ok {
			return d.at(members[name], fmt.Sprintf("unknown key %q", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f, here := fields[name], at.member(name)
		here.tag = f.tag
		if err := d.value(members[name], f.Value, here); err != nil {
			return err
		}
		if _, set := d.env[here.env]; isPath(name) && members[name] != nil && !set {
			f.SetString(d.path(f.String()))
		}
	}
	return nil
}

// A field of a struct, with what its tag says.
type field struct {
	reflect.Value
	tag reflect.StructTag
}

// collect lists the fields of a struct by their YAML names, those of inlined structs included.
func collect(v reflect.Value, into map[string]field) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case opts == "inline" || f.Anonymous:
			collect(v.Field(i), into)
		case name != "" && name != "-":
			into[name] = field{v.Field(i), f.Tag}
		}
	}
}

// members are the values of a mapping by key; a nil or null node has none.
func (d *decoder) members(n *yaml.Node, at place) (map[string]*yaml.Node, error) {
	m := map[string]*yaml.Node{}
	if n == nil || n.Tag == "!!null" {
		return m, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, d.wrong(n, at, "want a mapping")
	}
	for i := 0; i < len(n.Content); i += 2 {
		if m[n.Content[i].Value] != nil {
			return nil, d.at(n.Content[i], fmt.Sprintf("key %q stands twice", n.Content[i].Value))
		}
		m[n.Content[i].Value] = n.Content[i+1]
	}
	return m, nil
}

// mapping fills a map whose keys the file or the environment chooses.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, at place) error {
	members, err := d.members(n, at)
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
	for _, name := range d.chosen(at, v.Type().Elem(), slices.Sorted(maps.Keys(members))) {
		members[name] = nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		key := reflect.ValueOf(name).Convert(v.Type().Key())
		item := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(key); old.IsValid() {
			item.Set(old)
		}
		if err := d.value(members[name], item, at.member(name)); err != nil {
			return err
		}
		v.SetMapIndex(key, item)
	}
	return nil
}

// list fills a slice; from the environment, strings separated by commas.
func (d *decoder) list(n *yaml.Node, v reflect.Value, at place) error {
	if v.Type().Elem().Kind() == reflect.String { // no other list can be written there
		if text, ok := d.variable(at); ok {
			v.Set(reflect.ValueOf(parts(text)).Convert(v.Type()))
			return nil
		}
	}
	if n == nil || n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return d.wrong(n, at, "want a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		if err := d.value(c, v.Index(i), place{path: fmt.Sprintf("%s[%d]", at.path, i)}); err != nil {
			return err
		}
	}
	return nil
}

// parts are what stands between the commas of a text.
func parts(text string) []string {
	var all []string
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// path makes a path of the file relative to the file. One from the environment is the shell's: it is
// relative to where the process runs.
func (d *decoder) path(p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(d.dir, p)
}

func isPath(key string) bool {
	return strings.HasSuffix(key, "_file") || strings.HasSuffix(key, "_dir") || key == "catalog"
}

// wrong is what is wrong with the setting at a place.
func (d *decoder) wrong(n *yaml.Node, at place, what string) error {
	if at.path != "" {
		what = at.path + ": " + what
	}
	return d.at(n, what)
}

func (d *decoder) at(n *yaml.Node, what string) error {
	return fmt.Errorf("%s:%d: %s", d.file, n.Line, what)
}
