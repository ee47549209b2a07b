package store

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// queries are the named statements, in one text for both engines but for the words of the dialect.
type queries map[string]string

const nameMark = "-- name: "

// loadQueries reads every file: a line "-- name: claim_lock" begins the statement of that name.
func loadQueries(files fs.FS, d *dialect) (queries, error) {
	paths, err := fs.Glob(files, "queries/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list queries: %w", err)
	}
	q := queries{}
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("read queries: %w", err)
		}
		if err := q.parse(d.words.Replace(string(text))); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return q, nil
}

func (q queries) parse(text string) error {
	_, rest, _ := strings.Cut(text, nameMark)
	for rest != "" {
		var section string
		section, rest, _ = strings.Cut(rest, nameMark)
		name, body, _ := strings.Cut(section, "\n")
		name, body = strings.TrimSpace(name), statement(body)
		switch {
		case name == "" || body == "":
			return fmt.Errorf("statement %q has no name or no text", name)
		case q[name] != "":
			return fmt.Errorf("statement %q stands twice", name)
		}
		q[name] = body
	}
	return nil
}

// statement is a section without its comments, among them what is said of the next statement,
// and without its semicolon: SQLite prepares a text with a tail again at every run.
func statement(section string) string {
	var text strings.Builder
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			text.WriteString(line)
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(text.String()), ";")
}
