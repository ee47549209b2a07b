package templates

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"

	"tidings"
)

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
