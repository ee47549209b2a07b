package templates

import (
	"errors"
	"fmt"
	html "html/template"
	"io"
	"regexp"
	"strconv"
	"strings"
	text "text/template"
	"text/template/parse"
)

// A piece is one compiled template: a whole file, or one member of a YAML file.
type piece struct {
	file  string
	field string // title, body, url, data.NAME, subject, from, html or text
	line  int    // of the first line of the source in the file
	exec  executor
	fixed string         // what it renders to when it has no actions; exec is nil then
	uses  map[string]int // name in the data → line in the file
}

// An executor is a compiled text or HTML template.
type executor interface {
	Execute(w io.Writer, scope any) error
}

// calls are the functions of a rewritten template.
func calls(public map[string]function) map[string]any {
	all := map[string]any{
		"get":     (*scope).get,
		"show":    (*scope).show,
		"text":    (*scope).text,
		"each":    (*scope).each,
		"some":    some,
		"literal": func(text string) literal { return literal(text) },
	}
	for name, f := range public {
		all[name] = func(s *scope, args ...any) (any, error) { return f.invoke(s, args) }
	}
	return all
}

// show is the text of what get finds.
func (s *scope) show(from any, path string) (string, error) {
	v, err := s.get(from, path)
	if err != nil {
		return "", err
	}
	return textOf(v)
}

// text is the text of a value.
func (s *scope) text(v any) (string, error) { return textOf(v) }

// some is a value that counts as true, or nil.
func some(v any) any {
	if truth(v) {
		return v
	}
	return nil
}

// each is what a range goes through, once the work of it is taken from the allowance.
func (s *scope) each(weight int, v any) (any, error) {
	turns := 0
	switch v := v.(type) {
	case nil:
	case []any:
		turns = len(v)
	case map[string]any:
		turns = len(v)
	default:
		return nil, fault("range goes through a list or an object")
	}
	return v, s.spend(1 + turns*(1+weight))
}

// compile makes a piece of a source. What is wrong with it stands at lines of the source.
func compile(source string, asHTML bool) (*piece, []found) {
	public := functions()
	var tree *parse.Tree
	var exec executor
	var err error
	var parts int
	if asHTML {
		t, e := html.New("t").Funcs(calls(public)).Parse(source)
		if err = e; err == nil {
			tree, exec, parts = t.Tree, t, len(t.Templates())
		}
	} else {
		t, e := text.New("t").Funcs(calls(public)).Parse(source)
		if err = e; err == nil {
			tree, exec, parts = t.Tree, t, len(t.Templates())
		}
	}
	if err != nil {
		return nil, []found{syntax(err)}
	}
	if tree == nil || parts > 1 {
		return nil, []found{defines(source)}
	}
	if fixed, ok := fixedText(tree); ok && !asHTML {
		return &piece{fixed: fixed}, nil
	}
	r := rewriter{source: source, html: asHTML, functions: public, uses: map[string]int{}}
	r.list(tree.Root, true)
	if len(r.found) == 0 && asHTML {
		r.found = r.contexts(exec)
	}
	if !asHTML && len(r.found) == 0 {
		if d, ok := r.straighten(tree.Root); ok {
			exec = d
		}
	}
	return &piece{exec: exec, uses: r.uses}, r.found
}

// fixedText is the text of a template without actions.
func fixedText(t *parse.Tree) (string, bool) {
	var b strings.Builder
	for _, n := range t.Root.Nodes {
		text, ok := n.(*parse.TextNode)
		if !ok {
			return "", false
		}
		b.Write(text.Text)
	}
	return b.String(), true
}

// contexts lets html/template find the context of every action, which it does when it first
// runs; what else goes wrong without any data does not count.
func (r *rewriter) contexts(exec executor) (problems []found) {
	defer func() {
		if p := recover(); p != nil {
			problems = []found{{1, "the HTML cannot be understood"}}
		}
	}()
	err := exec.Execute(io.Discard, newScope(&Input{}, ""))
	var bad *html.Error
	if !errors.As(err, &bad) {
		return nil
	}
	line := max(bad.Line, 1)
	if bad.Node != nil {
		line = r.line(bad.Node)
	}
	detail, _, _ := strings.Cut(bad.Description, ": {state") // the rest is html/template's own notation
	return []found{{line, detail}}
}

// parserError is how text/template and html/template report what they cannot parse.
var parserError = regexp.MustCompile(`^(?:html/)?template: t:(\d+)(?::\d+)?: (.*)$`)

func syntax(err error) found {
	m := parserError.FindStringSubmatch(err.Error())
	if m == nil {
		return found{1, err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	if name, ok := strings.CutPrefix(m[2], "function "); ok && strings.HasSuffix(name, " not defined") {
		return found{line, fmt.Sprintf("%s; see the list of functions", m[2])}
	}
	return found{line, m[2]}
}

var definition = regexp.MustCompile(`\{\{-?\s*(define|block)\b`)

func defines(source string) found {
	line := 1
	if at := definition.FindStringIndex(source); at != nil {
		line += strings.Count(source[:at[0]], "\n")
	}
	return found{line, "define and block are not supported: one file is one template"}
}
