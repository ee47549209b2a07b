package arch

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A broken tree is one that a rule must refuse, and says where.
type broken struct {
	why   string
	rule  string
	files map[string]string
	want  string // in one of the violations; empty: there must be none
}

// doc is a package comment that keeps the rules.
const doc = "// Package x promises little and must never do more.\n"

var examples = []broken{
	{"the words lean on a foreign module", "imports go one way",
		map[string]string{"id.go": "package tidings\nimport _ \"github.com/google/uuid\""}, "standard library only"},
	{"the log knows a lane", "imports go one way",
		map[string]string{"internal/store/a.go": "package store\nimport _ \"tidings/internal/lanes\""}, "internal/store/a.go: imports tidings/internal/lanes"},
	{"the API reaches for the workers", "imports go one way",
		map[string]string{"api/a.go": "package api\nimport _ \"tidings/workers\""}, "imports tidings/workers"},
	{"a vendor leans on another", "imports go one way",
		map[string]string{"channels/sms/twilio/a.go": "package twilio\nimport _ \"tidings/channels/sms/awssms\""}, "a vendor is one leaf"},
	{"a package that nobody placed", "imports go one way",
		map[string]string{"internal/utils/a.go": "package utils"}, "has no row"},
	{"a test may look further than its package", "imports go one way",
		map[string]string{"api/a_test.go": "package api\nimport _ \"tidings/workers\""}, ""},

	{"SQL outside the store", "foreign modules stay in their room",
		map[string]string{"api/a.go": "package api\nimport _ \"database/sql\""}, "SQL is spoken in one place"},
	{"SQL outside the store, in a test", "foreign modules stay in their room",
		map[string]string{"api/a_test.go": "package api\nimport _ \"github.com/jackc/pgx/v5\""}, "SQL is spoken in one place"},
	{"the broker outside the lanes", "foreign modules stay in their room",
		map[string]string{"workers/a.go": "package workers\nimport _ \"github.com/nats-io/nats.go/jetstream\""}, "the broker is transport"},
	{"an SDK in another vendor's folder", "foreign modules stay in their room",
		map[string]string{"channels/push/fcm/a.go": "package fcm\nimport _ \"github.com/sideshow/apns2\""}, "known by its folder alone"},
	{"a vendor named outside the list", "foreign modules stay in their room",
		map[string]string{"internal/app/a.go": "package app\nimport _ \"tidings/channels/push/apns\""}, "one visible list"},
	{"a vendor's own outer test", "foreign modules stay in their room",
		map[string]string{"channels/push/apns/a_test.go": "package apns_test\nimport _ \"tidings/channels/push/apns\""}, ""},
	{"a module whose name only begins alike", "foreign modules stay in their room",
		map[string]string{"api/a.go": "package api\nimport _ \"github.com/jackc/pgxother\""}, ""},

	{"a module that nobody explained", "dependencies are explained",
		map[string]string{"go.mod": "module tidings\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgithub.com/c/d v1.0.0 // indirect\n)"}, "github.com/a/b"},
	{"a module with its row", "dependencies are explained",
		map[string]string{"go.mod": "module tidings\nrequire github.com/a/b v1.2.3", explanations: "| `github.com/a/b` | …"}, ""},

	{"a product built on the test kit", "tests are not products",
		map[string]string{"internal/app/a.go": "package app\nimport _ \"tidings/internal/testkit\""}, "which is for tests"},
	{"a product that imports testing", "tests are not products",
		map[string]string{"workers/a.go": "package workers\nimport _ \"testing\""}, "which is for tests"},

	{"a package without a word", "packages say what they promise",
		map[string]string{"api/a.go": "package api"}, `must begin with "Package api "`},
	{"a package that promises nothing", "packages say what they promise",
		map[string]string{"api/a.go": "// Package api is HTTP.\npackage api"}, "what the package promises"},
	{"a package without a limit", "packages say what they promise",
		map[string]string{"api/a.go": "// Package api promises all.\npackage api"}, "must never do"},
	{"two package comments", "packages say what they promise",
		map[string]string{"api/a.go": doc + "package api", "api/b.go": doc + "package api"}, "stands in two files"},
	{"a command", "packages say what they promise",
		map[string]string{"cmd/tidings/a.go": "// Command tidings promises to parse and must never decide.\npackage main"}, ""},

	{"an exported function without a comment", "exported names are explained",
		map[string]string{"api/a.go": "package api\nfunc New() {}"}, "api/a.go:2: New needs a comment"},
	{"a comment that begins with another name", "exported names are explained",
		map[string]string{"api/a.go": "package api\n// Newer is.\nfunc New() {}"}, "New needs a comment"},
	{"a method of an exported type", "exported names are explained",
		map[string]string{"api/a.go": "package api\ntype t struct{}\nfunc (*t) Fine() {}\n// A T is.\ntype T[K any] struct{}\nfunc (t *T[K]) Do() {}"}, "Do needs a comment"},
	{"a type in a group under a comment for all", "exported names are explained",
		map[string]string{"api/a.go": "package api\n// Types.\ntype (\n\tT struct{}\n)"}, "T needs a comment"},
	{"constants in a group under a comment for all", "exported names are explained",
		map[string]string{"api/a.go": "package api\n// The letters.\nconst (\n\tA = 1\n\tB = 2\n)"}, ""},

	{"an init function", "nothing runs before main",
		map[string]string{"api/a.go": "package api\nfunc init() {}"}, "api/a.go:2"},
	{"a method called init", "nothing runs before main",
		map[string]string{"api/a.go": "package api\ntype t int\nfunc (t) init() {}"}, ""},

	{"a variable that somebody must set", "packages hold no state",
		map[string]string{"api/a.go": "package api\nvar store *int"}, "has no first value"},
	{"a lock", "packages hold no state",
		map[string]string{"api/a.go": "package api\nimport \"sync\"\nvar mu = sync.Mutex{}"}, "is sync.Mutex"},
	{"a counter in another file", "packages hold no state",
		map[string]string{"api/a.go": "package api\nvar n = 0", "api/b.go": "package api\nfunc f() { n++ }"}, "api/b.go:2: changes package variable n"},
	{"a map that is written to", "packages hold no state",
		map[string]string{"api/a.go": "package api\nvar m = map[int]int{}\nfunc f() { m[1] = 2 }"}, "changes package variable m"},
	{"a map that is emptied", "packages hold no state",
		map[string]string{"api/a.go": "package api\nvar m = map[int]int{1: 2}\nfunc f() { delete(m, 1) }"}, "changes package variable m"},
	{"a local variable of the same name", "packages hold no state",
		map[string]string{"api/a.go": "package api\nvar n = 0\nfunc f() int { n := 1; n++; return n }"}, ""},
	{"embedded files and read-only tables", "packages hold no state",
		map[string]string{"api/a.go": "package api\nimport \"embed\"\n//go:embed *.sql\nvar files embed.FS\nvar table = map[int]int{1: 2}"}, ""},

	{"a decision that reads the clock", "pure code asks nobody for the time",
		map[string]string{"preferences/a.go": "package preferences\nimport \"time\"\nvar now = time.Now()"}, "asks the clock"},
	{"a worker that reads the clock", "pure code asks nobody for the time",
		map[string]string{"workers/a.go": "package workers\nimport \"time\"\nvar now = time.Now()"}, ""},

	{"a test that sleeps", "tests neither sleep nor skip",
		map[string]string{"api/a_test.go": "package api\nimport \"time\"\nfunc f() { time.Sleep(1) }"}, "sleeps outside"},
	{"a test that sleeps in a bubble", "tests neither sleep nor skip",
		map[string]string{"api/a_test.go": "package api\nimport (\n\"time\"\n_ \"testing/synctest\"\n)\nfunc f() { time.Sleep(1) }"}, ""},
	{"a test that sleeps in the bubbles of the test kit", "tests neither sleep nor skip",
		map[string]string{"api/a_test.go": "package api\nimport (\n\"time\"\n\"tidings/internal/testkit\"\n)\nfunc f() { testkit.Bubble(nil, func() { time.Sleep(1) }) }"}, ""},
	{"a test that skips", "tests neither sleep nor skip",
		map[string]string{"api/a_test.go": "package api\nimport \"testing\"\nfunc f(t *testing.T) { t.Skip() }"}, "a test runs or fails"},

	{"a page that points outside the project", "the project speaks of itself alone",
		map[string]string{"README.md": "one\nsee con" + "tract.md"}, "README.md:2"},
	{"a note to oneself", "the project speaks of itself alone",
		map[string]string{"api/a.go": "package api // TO" + "DO: later"}, "api/a.go:1"},
	{"work that was planned elsewhere", "the project speaks of itself alone",
		map[string]string{"CHANGELOG.md": "as iss" + "ue 7 asks"}, "CHANGELOG.md:1"},
	{"words that only look alike", "the project speaks of itself alone",
		map[string]string{"README.md": "the contract, a User-Agent, an issue of Nature"}, ""},

	{"a page names a test that is gone", "promised tests exist",
		map[string]string{"internal/docs/a.md": "see `TestGone`", "a_test.go": "package a\nfunc TestHere() {}"}, "there is no test TestGone"},
	{"a page names a test that is there", "promised tests exist",
		map[string]string{"internal/docs/a.md": "see `TestHere`", "a_test.go": "package a\nfunc TestHere() {}"}, ""},

	{"somebody's mail address", "nobody real appears",
		map[string]string{"README.md": "write to ann@" + "mail.com"}, "use example.test"},
	{"somebody's number", "nobody real appears",
		map[string]string{"deploy/a.yaml": "from: \"+4930" + "1234567\""}, "use one with 555"},
	{"nobody's address and number", "nobody real appears",
		map[string]string{"README.md": "ann@example.test, +15550100001, github.com/a/b@v1.2.3"}, ""},
}

func TestEachRuleRefusesWhatBreaksIt(t *testing.T) {
	rules := map[string]Rule{}
	for _, r := range Rules() {
		rules[r.Name] = r
	}
	refuted := map[string]bool{}
	for _, example := range examples {
		t.Run(example.why, func(t *testing.T) {
			rule, ok := rules[example.rule]
			if !ok {
				t.Fatalf("there is no rule %q", example.rule)
			}
			found := rule.Check(load(t, example.files))
			if example.want == "" && len(found) > 0 {
				t.Errorf("refused what is fine: %v", found)
			}
			if example.want != "" && !mentions(found, example.want) {
				t.Errorf("violations %q do not mention %q", found, example.want)
			}
			refuted[example.rule] = refuted[example.rule] || example.want != ""
		})
	}
	for name := range rules {
		if !refuted[name] {
			t.Errorf("rule %q has no broken example", name)
		}
	}
}

func TestLoadLeavesOutWhatIsNotOurs(t *testing.T) {
	tree := load(t, map[string]string{
		"a.go":                     "package tidings",
		"api/testdata/broken.go":   "package broken",
		".git/hooks/a.go":          "package hooks",
		"internal/tools/go.mod":    "module tools",
		"internal/tools/a.go":      "package tools",
		"internal/store/list.sql":  "SELECT 1",
		"internal/store/x.parquet": "not text",
	})
	if len(tree.Packages) != 1 || tree.Packages[0].Path != "" {
		t.Errorf("packages = %v, want the root alone", tree.Packages)
	}
	if len(tree.Texts) != 2 {
		t.Errorf("texts = %v, want a.go and list.sql", tree.Texts)
	}
}

func load(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	root := fstest.MapFS{}
	for name, body := range files {
		root[name] = &fstest.MapFile{Data: []byte(body)}
	}
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func mentions(found []Violation, want string) bool {
	for _, v := range found {
		if strings.Contains(v.String(), want) {
			return true
		}
	}
	return false
}
