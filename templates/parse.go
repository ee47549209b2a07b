package templates

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"tidings"
)

// Parse reads and compiles the files of a catalogue; its error is Problems, with every problem
// found, by file and line.
func Parse(files map[string]string) (*Catalogue, error) {
	var problems Problems
	if !withinBounds(files, &problems) {
		return nil, problems
	}
	source, ok := files[catalogFile]
	if !ok {
		return nil, Problems{{File: catalogFile, Detail: "the file is missing"}}
	}
	d := declare(source, &problems)
	if d == nil {
		return nil, problems
	}
	l := library{declaration: d, files: files, sets: map[slot]map[string]*set{}, problems: &problems}
	for _, name := range sortedKeys(files) {
		if name != catalogFile {
			l.add(name, files[name])
		}
	}
	l.complete()
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int {
			return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		return nil, problems
	}
	return &Catalogue{
		DefaultLocale: d.locale, Events: d.events, Categories: d.categories,
		Hash: Hash(files), Files: maps.Clone(files), sets: l.sets,
		lines: d.lines,
	}, nil
}

// Hash is the hex SHA-256 over the files in name order, each with the length of its name and
// its content before them.
func Hash(files map[string]string) string {
	h := sha256.New()
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(h, "%d %d\n%s%s", len(name), len(files[name]), name, files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// withinBounds checks the bounds of a catalogue and that it is text.
func withinBounds(files map[string]string, problems *Problems) bool {
	total := 0
	for _, name := range sortedKeys(files) {
		content := files[name]
		total += len(content)
		switch {
		case len(content) > maxFile:
			*problems = append(*problems, Problem{File: name, Detail: fmt.Sprintf("the file is larger than %d bytes", maxFile)})
		case !utf8.ValidString(content):
			*problems = append(*problems, Problem{File: name, Detail: "the file is not UTF-8 text"})
		}
	}
	if total > maxTotal || len(files) > maxFiles {
		*problems = append(*problems, Problem{File: catalogFile, Detail: fmt.Sprintf("a catalogue has at most %d files and %d bytes", maxFiles, maxTotal)})
	}
	return len(*problems) == 0
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func has(channels []tidings.Channel, c tidings.Channel) bool { return slices.Contains(channels, c) }
