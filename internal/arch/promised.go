package arch

import (
	"go/ast"
	"regexp"
	"strings"
)

var testName = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*\b`)

// promisedTestsExist finds tests that a page names and that are not there.
func promisedTestsExist(t *Tree) []Violation {
	there := map[string]bool{}
	for _, p := range t.Packages {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
					there[fn.Name.Name] = true
				}
			}
		}
	}
	var found []Violation
	for _, text := range t.Texts {
		if !strings.HasSuffix(text.Name, ".md") {
			continue
		}
		for _, at := range testName.FindAllStringIndex(text.Body, -1) {
			if !there[text.Body[at[0]:at[1]]] {
				found = append(found, text.violation(at, "there is no test %s"))
			}
		}
	}
	return found
}
