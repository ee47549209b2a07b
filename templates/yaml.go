package templates

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A reader reads one YAML file strictly: every problem is kept with its line.
type reader struct {
	file     string
	problems *Problems
}

func (r *reader) problem(line int, format string, args ...any) {
	*r.problems = append(*r.problems, Problem{File: r.file, Line: line, Detail: fmt.Sprintf(format, args...)})
}

// yamlError is how yaml reports what it cannot parse.
var yamlError = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// document is the root of a file with one document; nil after a problem.
func (r *reader) document(source string) *yaml.Node {
	d := yaml.NewDecoder(strings.NewReader(source))
	var doc, more yaml.Node
	err := d.Decode(&doc)
	if err == io.EOF {
		r.problem(0, "the file is empty")
		return nil
	}
	if err == nil {
		if err = d.Decode(&more); err == io.EOF {
			return doc.Content[0]
		}
		if err == nil {
			err = errors.New("a file holds one document, not several")
		}
	}
	line, detail := more.Line, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlError.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		detail = m[2]
	}
	r.problem(line, "%s", detail)
	return nil
}

// A key is one entry of a mapping.
type key struct {
	name  string
	line  int
	value *yaml.Node
}

// mapping lists the entries of a mapping, each name once.
func (r *reader) mapping(n *yaml.Node, what string) []key {
	if n.Kind != yaml.MappingNode {
		r.problem(n.Line, "%s must be a mapping of names to values", what)
		return nil
	}
	var keys []key
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			r.problem(k.Line, "%s: a name must be text; put quotes around what begins with {{", what)
		case k.Tag == "!!merge" || v.Kind == yaml.AliasNode:
			r.problem(k.Line, "aliases are not supported; write it out")
		case seen[k.Value]:
			r.problem(k.Line, "%s has %q twice", what, k.Value)
		default:
			seen[k.Value] = true
			keys = append(keys, key{k.Value, k.Line, v})
		}
	}
	return keys
}

// fields reads a mapping with a fixed set of names, each by its own function.
func (r *reader) fields(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	for _, k := range r.mapping(n, what) {
		if read, ok := known[k.name]; ok {
			read(k.value)
			continue
		}
		r.problem(k.line, "%s has no key %q; it has %s", what, k.name, strings.Join(sortedKeys(known), ", "))
	}
}

// str is a text.
func (r *reader) str(n *yaml.Node, what string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.problem(n.Line, "%s must be text; put quotes around what begins with {{", what)
		return "", false
	}
	return n.Value, true
}

// oneOf is one of some words, or the first after a problem.
func (r *reader) oneOf(n *yaml.Node, what string, words ...string) string {
	if s, ok := r.str(n, what); ok {
		if slices.Contains(words, s) {
			return s
		}
		r.problem(n.Line, "%s %q is not known; it is %s", what, s, strings.Join(words, ", "))
	}
	return words[0]
}

func (r *reader) boolean(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.problem(n.Line, "%s must be true or false", what)
		return false
	}
	return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
}

// Bounds of the durations in a catalogue.
const (
	minDuration = time.Second
	maxDuration = 720 * time.Hour
)

// count reads a number from 1 to most.
func (r *reader) count(n *yaml.Node, what string, most int) int {
	var c int
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&c) != nil || c < 1 || c > most {
		r.problem(n.Line, "%s must be a number from 1 to %d", what, most)
		return 0
	}
	return c
}

// duration is a Go duration between a second and thirty days.
func (r *reader) duration(n *yaml.Node, what string) time.Duration {
	s, ok := r.str(n, what)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		r.problem(n.Line, "%s %q is not a duration like 90s, 15m or 24h", what, s)
		return 0
	}
	if d < minDuration || d > maxDuration {
		r.problem(n.Line, "%s must lie between %s and %s", what, "1s", "720h")
		return 0
	}
	return d
}
