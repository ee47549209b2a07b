package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tidings/workers"
)

// root begins the name of every variable that is a setting.
const root = "TIDINGS"

// environment keeps the variables that can name a setting.
func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && strings.HasPrefix(k, root+"_") {
			env[k] = v
		}
	}
	return env
}

// join is the environment's name of a member: upper case, joined by "_".
func join(prefix, name string) string {
	if prefix == "" {
		return ""
	}
	return prefix + "_" + spelled(name)
}

// spelled is a name as the environment spells it.
func spelled(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// variable is what the environment says of a setting.
func (d *decoder) variable(at place) (text string, ok bool) {
	if text, ok = d.env[at.env]; ok {
		d.used[at.env], d.where[at.path] = true, d.called(at.env)
	}
	return text, ok
}

// called is how errors call what sets a setting from outside the file.
func (d *decoder) called(variable string) string {
	if flag, ok := d.flags[variable]; ok {
		return flag
	}
	return "environment variable " + variable
}

// chosen are the keys of a map that the environment adds to those that are there.
func (d *decoder) chosen(at place, item reflect.Type, there []string) []string {
	if item.Kind() != reflect.Struct || at.env == "" {
		return nil
	}
	fields := map[string]field{}
	collect(reflect.New(item).Elem(), fields)
	var added []string
	for _, variable := range slices.Sorted(maps.Keys(d.env)) {
		rest, ok := strings.CutPrefix(variable, at.env+"_")
		for name := range fields {
			key, is := strings.CutSuffix(rest, "_"+spelled(name))
			if !ok || !is || slices.ContainsFunc(there, func(k string) bool { return spelled(k) == key }) {
				continue
			}
			if key = keyOf(at.path, key); key != "" {
				added = append(added, key)
			}
		}
	}
	return added
}

// keyOf is the key of a map that the environment spells so; empty: there is none. Lanes have names;
// of an app that the file does not name, letters are small and "_" is a dash.
func keyOf(path, spelling string) string {
	if path != "lanes" {
		return strings.ReplaceAll(strings.ToLower(spelling), "_", "-")
	}
	for _, known := range workers.LaneKeys() {
		if spelled(known) == spelling {
			return known
		}
	}
	return ""
}

// sections are the names under which settings stand together.
func sections() []string {
	all, names := map[string]field{}, []string{"providers"}
	collect(reflect.ValueOf(&Config{}).Elem(), all)
	for name, f := range all {
		if k := f.Kind(); k == reflect.Struct || k == reflect.Map {
			names = append(names, name)
		}
	}
	return names
}

// leftOver refuses variables that name a section and set nothing in it: somebody thinks that they do.
// Other variables are none of ours to judge, since the machine, its tests and its container may
// have some that begin like ours.
func (d *decoder) leftOver() error {
	names := sections()
	for _, variable := range slices.Sorted(maps.Keys(d.env)) {
		in := func(section string) bool { return strings.HasPrefix(variable+"_", join(root, section)+"_") }
		if !d.used[variable] && slices.ContainsFunc(names, in) {
			return fmt.Errorf("environment variable %s sets nothing: correct its name to the path of a setting, such as TIDINGS_DELIVERY_LEASE, or unset it", variable)
		}
	}
	return nil
}
