package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func nothingRunsBeforeMain(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		for _, f := range p.Files {
			for _, decl := range f.AST.Decls {
				if d, ok := decl.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
					found = append(found, Violation{t.at(d), "declares an init function"})
				}
			}
		}
	}
	return found
}

// packagesHoldNoState finds package variables that are changed, or made to be changed: without
// a first value, channels, locks and atomics. Tables that nobody writes to are fine, and so
// is the one server that the tests of a process share.
func packagesHoldNoState(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		if matches(forTests, p.Path) {
			continue
		}
		files := p.product()
		for _, f := range files {
			found = append(found, t.madeToChange(f)...)
		}
		found = append(found, t.changed(files)...)
	}
	return found
}

func (t *Tree) madeToChange(f *File) []Violation {
	var found []Violation
	for _, decl := range f.AST.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if why := mutable(v); why != "" && !embedded(d, v) {
				found = append(found, Violation{t.at(v), fmt.Sprintf("package variable %s %s", v.Names[0].Name, why)})
			}
		}
	}
	return found
}

func mutable(v *ast.ValueSpec) string {
	if len(v.Values) == 0 {
		return "has no first value, so somebody must set it"
	}
	for _, e := range append([]ast.Expr{v.Type}, v.Values...) {
		if e == nil {
			continue
		}
		why := ""
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ChanType:
				why = "is a channel"
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && (x.Name == "sync" || x.Name == "atomic") {
					why = "is " + x.Name + "." + n.Sel.Name
				}
			}
			return why == ""
		})
		if why != "" {
			return why
		}
	}
	return ""
}

// embedded reports whether a variable is filled by a go:embed line.
func embedded(d *ast.GenDecl, v *ast.ValueSpec) bool {
	for _, doc := range []*ast.CommentGroup{d.Doc, v.Doc} {
		if doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") }) {
			return true
		}
	}
	return false
}

// changed finds assignments to package variables, and calls that change one in place.
func (t *Tree) changed(files []*File) []Violation {
	if len(files) == 0 {
		return nil
	}
	scope, uses := t.resolve(files)
	var found []Violation
	report := func(e ast.Expr) {
		id := root(e)
		if id == nil {
			return
		}
		if v, ok := uses[id].(*types.Var); ok && v.Parent() == scope {
			found = append(found, Violation{t.at(e), fmt.Sprintf("changes package variable %s", id.Name)})
		}
	}
	for _, f := range files {
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					report(e)
				}
			case *ast.IncDecStmt:
				report(n.X)
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
					report(n.Args[0])
				}
			}
			return true
		})
	}
	return found
}

// resolve finds what names of one package mean, as far as that can be told without its imports.
func (t *Tree) resolve(files []*File) (*types.Scope, map[*ast.Ident]types.Object) {
	var asts []*ast.File
	for _, f := range files {
		asts = append(asts, f.AST)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := conf.Check(files[0].AST.Name.Name, t.fset, asts, info) // errors are the missing imports
	return pkg.Scope(), info.Uses
}

type nothing struct{}

// Import finds no package: what a name means inside a package does not depend on it.
func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not looked up") }

// root is the variable that an expression on the left of an assignment changes.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// timeless are the packages that take the instant as an argument.
var timeless = []string{"", "preferences"}

func pureCodeIsTimeless(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		if !matches(timeless, p.Path) {
			continue
		}
		for _, f := range p.product() {
			for _, call := range calls(f, "time", "Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker", "Tick") {
				found = append(found, Violation{t.at(call), "asks the clock; take now as an argument"})
			}
		}
	}
	return found
}

// testsNeitherSleepNorSkip lets tests sleep where the package's tests have bubbles to sleep in.
func testsNeitherSleepNorSkip(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		bubbles := slices.ContainsFunc(p.Files, hasBubbles)
		for _, f := range p.Files {
			if !f.Test {
				continue
			}
			if !bubbles {
				for _, call := range calls(f, "time", "Sleep") {
					found = append(found, Violation{t.at(call), "sleeps outside a synctest bubble: wait for what should happen"})
				}
			}
			for _, receiver := range []string{"t", "b", "f", "tb"} {
				for _, call := range calls(f, receiver, "Skip", "Skipf", "SkipNow") {
					found = append(found, Violation{t.at(call), "skips: a test runs or fails"})
				}
			}
		}
	}
	return found
}

// hasBubbles reports whether a test file makes bubbles, by itself or through what tests share.
func hasBubbles(f *File) bool {
	return f.Test && (slices.Contains(f.Imports(), "testing/synctest") ||
		len(calls(f, "testkit", "Bubble")) > 0 || len(calls(f, "channeltest", "Try")) > 0)
}

// calls finds the calls of x.name in a file, for any of the names.
func calls(f *File, x string, names ...string) []ast.Node {
	var found []ast.Node
	ast.Inspect(f.AST, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, s.Sel.Name) {
			return true
		}
		if id, ok := s.X.(*ast.Ident); ok && id.Name == x {
			found = append(found, s)
		}
		return true
	})
	return found
}
