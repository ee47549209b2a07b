package templates

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// keysOf are the keys of all maps of fields in the sources that read a catalogue.
func keysOf(t *testing.T) (keys []string) {
	t.Helper()
	files, err := filepath.Glob("catalog*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("sources %v, %v", files, err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			entry, isEntry := n.(*ast.KeyValueExpr)
			if !isEntry {
				return true
			}
			key, isText := entry.Key.(*ast.BasicLit)
			if _, reads := entry.Value.(*ast.FuncLit); reads && isText {
				text, _ := strconv.Unquote(key.Value)
				keys = append(keys, text)
			}
			return true
		})
	}
	return keys
}

func TestEveryKeyOfACatalogueIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "internal", "docs", "catalogue.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t)
	if len(keys) < 35 {
		t.Fatalf("found only the keys %q", keys)
	}
	for _, key := range keys {
		if !regexp.MustCompile(`\b` + key + `:`).Match(page) {
			t.Errorf("%s is not in catalogue.md", key)
		}
	}
}
