package templates_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"tidings/templates"
)

func TestLoadTakesTheCatalogueAndLeavesTheRest(t *testing.T) {
	folder := fstest.MapFS{
		".git/config": {Data: []byte("x")}, "README.md": {Data: []byte("x")},
		"templates/.cache/x": {Data: []byte("x")}, "templates/shipped/.push.swp": {Data: []byte("x")},
	}
	for name, content := range small() {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
	}
	files, err := templates.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	if templates.Hash(files) != templates.Hash(small()) {
		t.Errorf("loaded %d files", len(files))
	}
	parse(t, files)
}

func TestLoadRefusesWhatNoCatalogueCanBe(t *testing.T) {
	large := fstest.MapFS{"catalog.yaml": {Data: []byte("x")}}
	for i := range 40 {
		large["templates/e/"+strings.Repeat("x", i+1)] = &fstest.MapFile{Data: make([]byte, 250<<10)}
	}
	for want, folder := range map[string]fstest.MapFS{
		"catalog.yaml":            {"templates/x": {Data: []byte("x")}},
		"larger than 262144":      {"catalog.yaml": {Data: make([]byte, 256<<10+1)}},
		"at most 4000 files":      large,
		"templates/x/y is larger": {"catalog.yaml": {Data: []byte("x")}, "templates/x/y": {Data: make([]byte, 256<<10+1)}},
	} {
		if _, err := templates.Load(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestACatalogueWithoutTemplatesLoads(t *testing.T) {
	files, err := templates.Load(fstest.MapFS{"catalog.yaml": {Data: []byte("categories: {a: {kind: critical}}\nevents: {e: {category: a, channels: [webhook]}}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	parse(t, files)
}
