package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// A layer says what the product files of some packages may import of this module.
type layer struct {
	packages []string // paths, or patterns of path.Match
	may      []string // the same; "" is the root package
	standard bool     // of other modules: the standard library only
	reason   string
}

// vendors are the packages that speak one service's protocol each.
var vendors = []string{"channels/push/*", "channels/sms/*", "channels/email/*", "channels/inbox", "channels/webhook"}

// layers is the table of who may import whom. Every package has its row.
var layers = []layer{
	{[]string{""}, nil, true,
		"the words are for everybody, so they bring nothing along"},
	{[]string{"internal/numbers"}, nil, true,
		"where a phone number is at home is a table, for whoever asks"},
	{[]string{"preferences"}, []string{"", "internal/numbers"}, false,
		"whether a user may be reached is decided from facts alone"},
	{[]string{"templates"}, []string{"", "channels/sms", "internal/numbers"}, false,
		"a catalogue is files; it knows neither users' wishes nor providers"},
	{[]string{"channels"}, []string{""}, true,
		"what a provider is must not lean on any of them"},
	{[]string{"channels/sms"}, nil, true,
		"how long a text is does not depend on who carries it"},
	{vendors, []string{"", "channels"}, false,
		"a vendor is one leaf: it can be added or dropped alone"},
	{[]string{"channels/channeltest"}, []string{"", "channels", "internal/golden", "channels/simulator", "internal/testkit"}, false,
		"the suite knows the promise and the simulated services, not who keeps it"},
	{[]string{"channels/simulator", "channels/simulator/*"}, []string{"", "channels", "channels/simulator", "channels/simulator/*"}, false,
		"a simulator that shared code with the service would share its mistakes"},
	{[]string{"channels/all"}, append([]string{"", "channels"}, vendors...), false,
		"the one list of vendors"},
	{[]string{"internal/observe"}, []string{""}, false,
		"what an operator sees must not change what the service does"},
	{[]string{"internal/setting"}, nil, true,
		"to say which setting is wrong takes no knowledge of any"},
	{[]string{"internal/links"}, []string{""}, true,
		"a link is signed bytes; what it may do is known to who opens it, and who mails it must not lean on who serves it"},
	{[]string{"internal/group"}, nil, true,
		"many callers sharing one commit need no words of ours"},
	{[]string{"internal/lanes"}, []string{""}, false,
		"the lanes carry ids; they cannot know what is in the log"},
	{[]string{"internal/store"}, []string{"", "preferences"}, false,
		"the log records decisions, it takes none"},
	{[]string{"internal/admission"}, []string{"", "internal/setting", "internal/store"}, false,
		"whether more may come in is a question of what waits, not of what it says or how it is sent"},
	{[]string{"internal/intake"}, []string{"", "preferences", "templates", "internal/admission", "internal/store", "internal/lanes", "internal/observe", "internal/group"}, false,
		"notifications are made in one place, which sends nothing"},
	{[]string{"workers"}, []string{"", "preferences", "templates", "channels", "internal/store", "internal/lanes", "internal/links", "internal/observe", "internal/group", "internal/numbers", "internal/setting"}, false,
		"workers deliver; they neither listen to callers nor make notifications"},
	{[]string{"api", "api/*"}, []string{"", "preferences", "templates", "channels", "internal/store", "internal/links", "internal/observe", "internal/intake", "api/*"}, false,
		"the API accepts; it never delivers, so it never sees a lane or a worker"},
	{[]string{"internal/config"}, []string{"", "channels", "channels/all", "preferences", "templates", "api", "workers", "internal/admission", "internal/intake", "internal/numbers", "internal/setting", "internal/store", "internal/lanes", "internal/observe"}, false,
		"every package owns its configuration; this one gathers"},
	{[]string{"deploy", "deploy/*"}, nil, true,
		"what is embedded for operators is files"},
	{[]string{"internal/app"}, []string{"", "*", "*/*", "*/*/*"}, false,
		"the one place that knows all parts"},
	{[]string{"internal/playground"}, []string{"", "api/client", "channels/all", "channels/simulator", "deploy", "internal/app", "internal/config"}, false,
		"the demo uses the service as everybody does: by its configuration and its API"},
	{[]string{"internal/bench"}, []string{"", "channels", "channels/all", "channels/simulator", "internal/app", "internal/config", "internal/playground", "internal/store", "workers"}, false,
		"what is measured is the service as it is put together, over its own API"},
	{[]string{"cmd/tidings"}, []string{"", "api/client", "api/wire", "channels", "channels/all", "channels/simulator", "deploy", "templates", "internal/app", "internal/bench", "internal/config", "internal/playground", "internal/store"}, false,
		"commands parse and call"},
	{[]string{"internal/testkit", "internal/store/storetest", "internal/faults", "internal/faults/*"}, []string{"", "*", "*/*", "*/*/*"}, false,
		"what tests share may know what it tests"},
	{[]string{"internal/browser"}, nil, true,
		"it has tests alone, which look at the service from outside"},
	{[]string{"internal/golden"}, nil, true,
		"every package's tests may compare with a file"},
	{[]string{"internal/arch"}, nil, true,
		"the rules must stand apart from what they judge"},
	{[]string{"internal/docs"}, nil, true,
		"documents import nothing"},
}

func importsGoOneWay(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		if len(p.product()) == 0 {
			continue
		}
		row, ok := layerOf(p.Path)
		if !ok {
			found = append(found, Violation{p.Files[0].Name, fmt.Sprintf("package %q has no row in the table of imports: say where it stands and why", p.Path)})
			continue
		}
		for _, f := range p.product() {
			found = append(found, row.judge(f)...)
		}
	}
	return found
}

func (l layer) judge(f *File) []Violation {
	var found []Violation
	for _, imported := range f.Imports() {
		inner, own := within(imported)
		switch {
		case own && !matches(l.may, inner):
			found = append(found, Violation{f.Name, fmt.Sprintf("imports %s, but %s", imported, l.reason)})
		case !own && l.standard && !standardLibrary(imported):
			found = append(found, Violation{f.Name, fmt.Sprintf("imports %s, but may use the standard library only: %s", imported, l.reason)})
		}
	}
	return found
}

func layerOf(pkg string) (layer, bool) {
	for _, l := range layers {
		if matches(l.packages, pkg) {
			return l, true
		}
	}
	return layer{}, false
}

// within is the path of an import relative to this module, if it is one of its packages.
func within(imported string) (string, bool) {
	if imported == Module {
		return "", true
	}
	return strings.CutPrefix(imported, Module+"/")
}

func matches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, pkg)
		return ok && err == nil
	})
}

// standardLibrary reports whether an import has no domain in its first element.
func standardLibrary(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// forTests lists what only tests may import, besides the packages of the same kind.
var forTests = []string{"internal/testkit", "internal/golden", "internal/store/storetest", "internal/faults", "internal/faults/*", "internal/arch", "internal/browser", "channels/channeltest"}

func productsLeaveTestsAlone(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		if matches(forTests, p.Path) {
			continue
		}
		for _, f := range p.product() {
			for _, imported := range f.Imports() {
				if inner, own := within(imported); own && matches(forTests, inner) || imported == "testing" {
					found = append(found, Violation{f.Name, "imports " + imported + ", which is for tests"})
				}
			}
		}
	}
	return found
}
