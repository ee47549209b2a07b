package openapi

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Schema is a JSON Schema (2020-12), as OpenAPI 3.1 takes it.
type Schema = map[string]any

// A type that says itself what its JSON looks like.
type schemer interface{ Schema() Schema }

// A type whose JSON looks like that of other values.
type alike interface{ Like() []any }

// A Reflector turns Go types into schemas. Structs become components, by their names.
type Reflector struct {
	Enums      map[reflect.Type][]string // closed lists of words
	Components map[string]any
}

// Of is the schema of a value's type.
func (r *Reflector) Of(v any) Schema { return r.of(reflect.TypeOf(v)) }

func (r *Reflector) of(t reflect.Type) Schema {
	if words, closed := r.Enums[t]; closed {
		return Schema{"type": "string", "enum": words}
	}
	if t.Kind() == reflect.Pointer {
		return r.of(t.Elem())
	}
	zero := reflect.Zero(t).Interface()
	switch z := zero.(type) {
	case schemer:
		return z.Schema()
	case alike:
		return r.like(z.Like())
	case json.RawMessage:
		return Schema{"type": "object"}
	case encoding.TextMarshaler:
		return Schema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return r.component(t)
	case reflect.Slice:
		return Schema{"type": "array", "items": r.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": r.of(t.Elem())}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	}
	return Schema{} // anything
}

func (r *Reflector) like(values []any) Schema {
	if len(values) == 1 {
		return r.Of(values[0])
	}
	var all []any
	for _, v := range values {
		all = append(all, r.Of(v))
	}
	return Schema{"oneOf": all}
}

// component makes a struct a component and refers to it; one without a name of its own is
// written out where it stands.
func (r *Reflector) component(t reflect.Type) Schema {
	name := t.Name()
	if name == "" || name[0] >= 'a' && name[0] <= 'z' {
		return r.object(t)
	}
	if _, done := r.Components[name]; !done {
		r.Components[name] = Schema{} // holds the place, should the type contain itself
		r.Components[name] = r.object(t)
	}
	return Schema{"$ref": "#/components/schemas/" + name}
}

func (r *Reflector) object(t reflect.Type) Schema {
	properties := Schema{}
	required := []string{}
	r.fields(t, properties, &required)
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (r *Reflector) fields(t reflect.Type, properties Schema, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "":
			r.fields(f.Type, properties, required)
			continue
		}
		s := r.of(f.Type)
		if options == "omitzero" || options == "omitempty" {
			s = told(s)
		}
		if about := f.Tag.Get("doc"); about != "" {
			s = described(s, about)
		}
		properties[name] = s
		if options == "" {
			*required = append(*required, name)
		}
	}
}

// told is the schema of a member that is left out where it would be null.
func told(s Schema) Schema {
	types, several := s["type"].([]string)
	if !several {
		return s
	}
	out := maps.Clone(s)
	if types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" }); len(types) == 1 {
		out["type"] = types[0]
	} else {
		out["type"] = types
	}
	return out
}

// described is the schema with a description beside it.
func described(s Schema, about string) Schema {
	out := Schema{}
	for k, v := range s {
		out[k] = v
	}
	out["description"] = about
	return out
}
