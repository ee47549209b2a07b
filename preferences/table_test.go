package preferences_test

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What wins over what is told twice: to who reads the code and to who runs the service. Both tables
// must be the same.
func TestTheDocumentedTableIsTheOneOfDecide(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "decide.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if cells := regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(line), -1); len(cells) == 4 && strings.HasPrefix(line, "\t") {
				code = append(code, strings.Join(cells, " | "))
			}
		}
	}
	page, err := os.ReadFile("../internal/docs/preferences.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(string(page)) {
		if row, is := strings.CutPrefix(strings.TrimSpace(line), "| "); is && !strings.HasPrefix(row, "-") {
			told = append(told, strings.TrimSuffix(row, " |"))
		}
	}
	if len(code) < 10 || !slices.Equal(code, told) {
		t.Errorf("decide.go says\n%s\n\ninternal/docs/preferences.md says\n%s", strings.Join(code, "\n"), strings.Join(told, "\n"))
	}
}
