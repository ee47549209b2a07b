package arch

import (
	"fmt"
	"strings"
)

// A room says which packages may use some foreign modules.
type room struct {
	imports []string // import paths and all below them
	in      []string // packages, as in layer
	tests   []string // packages whose tests may too
	reason  string
}

var rooms = []room{
	{[]string{"database/sql", "github.com/jackc/pgx", "modernc.org/sqlite"},
		[]string{"internal/store", "internal/store/*", "internal/testkit", "internal/faults", "internal/faults/*"},
		[]string{"internal/app"}, // they put faults between the log and its database
		"SQL is spoken in one place, so one transaction is one verb of the store"},
	{[]string{"github.com/nats-io", "github.com/synadia-io"},
		[]string{"internal/lanes", "internal/testkit", "internal/faults", "internal/faults/*"}, nil,
		"the broker is transport: what leaves the lanes is ids and stamps"},
	{[]string{"github.com/sideshow/apns2"}, []string{"channels/push/apns", "internal/bench"}, nil,
		"a vendor's SDK is known by its folder alone, and as the yardstick of a measurement"},
	{[]string{"firebase.google.com/go", "google.golang.org/api", "golang.org/x/oauth2"}, []string{"channels/push/fcm"}, nil,
		"a vendor's SDK is known by its folder alone"},
	{[]string{"github.com/twilio/twilio-go"}, []string{"channels/sms/twilio"}, nil,
		"a vendor's SDK is known by its folder alone"},
	{[]string{"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go"}, []string{"channels/sms/awssms", "channels/email/ses"}, nil,
		"a vendor's SDK is known by its folder alone"},
	{[]string{"github.com/wneessen/go-mail"}, []string{"channels/email/smtp"}, nil,
		"a vendor's SDK is known by its folder alone"},
	{[]string{"github.com/chromedp"}, nil, []string{"internal/browser"},
		"a browser is for tests; the binary has no use for one"},
	{[]string{"github.com/spf13/cobra"}, []string{"cmd/tidings"}, nil,
		"the command line is a skin"},
	{[]string{"github.com/prometheus/client_golang"}, []string{"internal/observe"}, []string{"api", "workers", "internal/intake", "internal/app"},
		"metrics are one list, so their names and labels stay closed"},
	{[]string{Module + "/channels/push", Module + "/channels/sms/twilio", Module + "/channels/sms/awssms", Module + "/channels/email", Module + "/channels/inbox", Module + "/channels/webhook"},
		[]string{"channels/all"}, nil,
		"vendors are one visible list; nobody else names one"},
}

func foreignModulesStay(t *Tree) []Violation {
	var found []Violation
	for _, p := range t.Packages {
		for _, f := range p.Files {
			for _, imported := range f.Imports() {
				for _, r := range rooms {
					if r.refuses(p.Path, f.Test, imported) {
						found = append(found, Violation{f.Name, fmt.Sprintf("imports %s, but %s", imported, r.reason)})
					}
				}
			}
		}
	}
	return found
}

func (r room) refuses(pkg string, test bool, imported string) bool {
	if !r.holds(imported) || matches(r.in, pkg) || test && matches(r.tests, pkg) {
		return false
	}
	inner, own := within(imported)
	return !own || inner != pkg // a package's own outer tests import it
}

func (r room) holds(imported string) bool {
	for _, path := range r.imports {
		if imported == path || strings.HasPrefix(imported, path+"/") {
			return true
		}
	}
	return false
}

// explanations is the page with a row for every module that go.mod asks for directly.
const explanations = "internal/docs/decisions/README.md"

func dependenciesAreExplained(t *Tree) []Violation {
	var found []Violation
	page := t.text(explanations)
	for line := range strings.Lines(t.text("go.mod")) {
		module, rest, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "require ")), " ")
		if !strings.HasPrefix(rest, "v") || strings.Contains(rest, "// indirect") || strings.Contains(page, "`"+module+"`") {
			continue
		}
		found = append(found, Violation{"go.mod", fmt.Sprintf("asks for %s, which has no row in %s: what for, who keeps it, how to leave it", module, explanations)})
	}
	return found
}

// text is the body of a file, empty when there is none.
func (t *Tree) text(name string) string {
	for _, text := range t.Texts {
		if text.Name == name {
			return text.Body
		}
	}
	return ""
}
