package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

func packagesSayWhatTheyPromise(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		files := p.product()
		if len(files) == 0 {
			continue
		}
		if what := complaint(files); what != "" {
			found = append(found, Violation{files[0].Name, what})
		}
	}
	return found
}

// complaint is what is wrong with the comment of a package; empty: nothing.
func complaint(files []*File) string {
	var doc string
	for _, f := range files {
		if f.AST.Doc == nil {
			continue
		}
		if doc != "" {
			return "the package comment stands in two files"
		}
		doc = f.AST.Doc.Text()
	}
	start := "Package " + files[0].AST.Name.Name + " "
	if files[0].AST.Name.Name == "main" {
		start = "Command "
	}
	switch {
	case !strings.HasPrefix(doc, start):
		return fmt.Sprintf("the package comment must begin with %q", start)
	case !strings.Contains(doc, "promises"):
		return "the package comment must say what the package promises"
	case !strings.Contains(doc, "never"):
		return "the package comment must say what the package, or who uses it, must never do"
	}
	return ""
}

func exportedNamesAreExplained(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		for _, f := range p.product() {
			for _, decl := range f.AST.Decls {
				found = append(found, t.unexplained(decl)...)
			}
		}
	}
	return found
}

func (t *Tree) unexplained(decl ast.Decl) []Violation {
	var found []Violation
	say := func(n ast.Node, name string) {
		found = append(found, Violation{t.at(n), fmt.Sprintf("%s needs a comment: one sentence that begins with its name", name)})
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && exportedReceiver(d) && !explains(d.Doc, d.Name.Name) {
			say(d, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			for _, name := range names(spec) {
				if name.IsExported() && !explained(d, spec, name.Name) {
					say(spec, name.Name)
				}
			}
		}
	}
	return found
}

// explained reports whether a type, constant or variable has its comment. One comment over a
// group of constants or variables is enough for all of it.
func explained(d *ast.GenDecl, spec ast.Spec, name string) bool {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return explains(s.Doc, name) || !d.Lparen.IsValid() && explains(d.Doc, name)
	case *ast.ValueSpec:
		if d.Lparen.IsValid() {
			return d.Doc != nil || s.Doc != nil || s.Comment != nil
		}
		return explains(d.Doc, name)
	}
	return true
}

func explains(doc *ast.CommentGroup, name string) bool {
	text := doc.Text()
	for _, article := range []string{"", "A ", "An ", "The "} {
		rest, ok := strings.CutPrefix(text, article+name)
		if ok && rest != "" && !('a' <= rest[0] && rest[0] <= 'z') {
			return true
		}
	}
	return false
}

func names(spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{s.Name}
	case *ast.ValueSpec:
		return s.Names
	}
	return nil
}

// exportedReceiver reports whether a function is none's method, or one of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return token.IsExported(name)
}

// foreignTalk is what has no place in the project's text. The patterns are written so that
// they do not match themselves.
var foreignTalk = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(contract|design|states|style|reliability|known-faults|limits)\.md\b`),
	regexp.MustCompile(`/wor[k]/|/tmp/w[t]/`),
	regexp.MustCompile(`(?i)\bissue #?[0-9]`),
	regexp.MustCompile(`(?i)\b(clau[d]e|anthropi[c]|opena[i]|chatgp[t]|copilo[t])\b`),
	regexp.MustCompile(`(?i)\b(ll[m]s?|ai[ -](agent|assistant|model|session)s?|sub-?agent[s]?)\b`),
	regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X])\b`),
}

func textSpeaksOfItself(t *Tree) []Violation {
	var found []Violation
	for _, text := range t.Texts {
		for _, pattern := range foreignTalk {
			for _, at := range pattern.FindAllStringIndex(text.Body, -1) {
				found = append(found, text.violation(at, "says %q"))
			}
		}
	}
	return found
}

func (t Text) violation(at []int, format string) Violation {
	line := 1 + strings.Count(t.Body[:at[0]], "\n")
	return Violation{fmt.Sprintf("%s:%d", t.Name, line), fmt.Sprintf(format, t.Body[at[0]:at[1]])}
}
