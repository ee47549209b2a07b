// Package arch holds the rules of the house as code: who may import whom, where each foreign
// module may be used, and what a package must say of itself. Its tests run them over the
// whole tree, in plain "go test ./...".
//
// It promises a reason with every rule and a broken example that each rule is tested against.
// Product code must never import it.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// Module is the import path of the tree's root package.
const Module = "tidings"

// A Rule is something that holds for the whole tree.
type Rule struct {
	Name   string
	Reason string
	Check  func(*Tree) []Violation
}

// A Violation is one place where a rule does not hold.
type Violation struct {
	Where string // file, or file:line
	What  string
}

// String is the violation in one line.
func (v Violation) String() string { return v.Where + ": " + v.What }

// Rules is every rule of the house.
func Rules() []Rule {
	return []Rule{
		{"imports go one way", "a package can be read, tested and replaced by knowing only what stands below it", importsGoOneWay},
		{"foreign modules stay in their room", "what one package knows can be left by changing one package", foreignModulesStay},
		{"dependencies are explained", "a module that nobody can say how to leave is there for ever", dependenciesAreExplained},
		{"tests are not products", "what exists for tests has none of the care that production needs", productsLeaveTestsAlone},
		{"packages say what they promise", "a visitor reads the first sentence first", packagesSayWhatTheyPromise},
		{"exported names are explained", "what others may use needs its units, bounds and errors in words", exportedNamesAreExplained},
		{"nothing runs before main", "an init function is an order nobody wrote down", nothingRunsBeforeMain},
		{"packages hold no state", "state that nobody passes around is state that two tests share", packagesHoldNoState},
		{"pure code asks nobody for the time", "the same facts and the same instant must give the same answer", pureCodeIsTimeless},
		{"tests neither sleep nor skip", "a sleeping test is slow and still flaky; a skipped one says nothing, in green", testsNeitherSleepNorSkip},
		{"the project speaks of itself alone", "how it came about is of no use to who runs it", textSpeaksOfItself},
		{"promised tests exist", "a page that says what is tested must not outlive the test", promisedTestsExist},
		{"nobody real appears", "an address in an example gets mail one day", nobodyReal},
	}
}

// A Tree is the parsed source of the module.
type Tree struct {
	Packages []*Package // by path
	Texts    []Text     // every text file, Go or not, by name
	fset     *token.FileSet
}

// A Text is a file as it lies in the tree.
type Text struct {
	Name string
	Body string
}

// A Package is one folder of Go files.
type Package struct {
	Path  string // relative to the module: "" is the root, "internal/store"
	Files []*File
}

// A File is one parsed Go file.
type File struct {
	Name string
	Test bool
	AST  *ast.File
}

// Imports lists the import paths of the file.
func (f *File) Imports() []string {
	var paths []string
	for _, spec := range f.AST.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

// Load parses the module that lies in root. Folders named testdata, hidden ones, and modules
// of their own are left out.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{fset: token.NewFileSet()}
	packages := map[string]*Package{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && foreign(root, name):
			return fs.SkipDir
		case d.IsDir() || !isText(name):
			return nil
		}
		body, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		t.Texts = append(t.Texts, Text{name, string(body)})
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.parse(packages, name, body)
	})
	if err != nil {
		return nil, fmt.Errorf("load tree: %w", err)
	}
	for _, p := range packages {
		t.Packages = append(t.Packages, p)
	}
	sort.Slice(t.Packages, func(i, j int) bool { return t.Packages[i].Path < t.Packages[j].Path })
	return t, nil
}

func (t *Tree) parse(packages map[string]*Package, name string, body []byte) error {
	parsed, err := parser.ParseFile(t.fset, name, body, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	if packages[dir] == nil {
		packages[dir] = &Package{Path: dir}
	}
	p := packages[dir]
	p.Files = append(p.Files, &File{Name: name, Test: strings.HasSuffix(name, "_test.go"), AST: parsed})
	return nil
}

// foreign reports whether a folder is not part of the module's own source.
func foreign(root fs.FS, dir string) bool {
	base := path.Base(dir)
	switch {
	case dir == ".":
		return false
	case base == ".ci":
		return false
	case strings.HasPrefix(base, "."), base == "testdata", base == "bin", base == "data":
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

// isText reports whether a file is read by people. go.sum is not.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".sql", ".yaml", ".yml", ".html", ".txt", ".css", ".js", ".sh", ".json", ".service", ".tmpl":
		return true
	}
	switch path.Base(name) {
	case "Makefile", "Dockerfile", "run", "go.mod":
		return true
	}
	return false
}

// at is the place of a node as file:line.
func (t *Tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// product is the files of the package that are built into the binary.
func (p *Package) product() []*File {
	var files []*File
	for _, f := range p.Files {
		if !f.Test {
			files = append(files, f)
		}
	}
	return files
}
