package templates_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/templates"
)

// small is a valid catalogue; cases change its files.
func small() map[string]string {
	return map[string]string{
		"catalog.yaml": `categories:
  orders: {kind: transactional}
events:
  shipped:
    category: orders
    channels: [push, email]
`,
		"templates/shipped/push.en.yaml":  "title: Shipped\nbody: \"{{.data.order}}\"\n",
		"templates/shipped/email.en.yaml": "subject: Shipped\n",
		"templates/shipped/email.en.txt":  "{{.data.order}}\n",
	}
}

func parse(t testing.TB, files map[string]string) *templates.Catalogue {
	t.Helper()
	c, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseNamesFileAndLineOfEveryProblem(t *testing.T) {
	const push, mail, html = "templates/shipped/push.en.yaml", "templates/shipped/email.en.yaml", "templates/shipped/email.en.html"
	catalog := func(events string) map[string]string {
		return map[string]string{"catalog.yaml": "categories:\n  orders: {kind: transactional}\n  security: {kind: critical}\n" + events}
	}
	event := func(line string) map[string]string {
		return catalog("events:\n  shipped:\n    category: orders\n    channels: [push, email]\n    " + line + "\n")
	}
	category := func(rules string) map[string]string {
		return map[string]string{"catalog.yaml": "events:\n  shipped: {category: orders, channels: [push, email]}\ncategories:\n  orders: " + rules + "\n"}
	}
	pushed := func(yaml string) map[string]string { return map[string]string{push: yaml} }
	page := func(source string) map[string]string { return map[string]string{html: source} }
	cases := []struct {
		why     string
		changed map[string]string // "" removes a file
		want    string            // beginning of the first problem
	}{
		{"no catalogue at all", map[string]string{"catalog.yaml": ""}, "catalog.yaml: the file is missing"},
		{"nothing in it", map[string]string{"catalog.yaml": "# later\n"}, "catalog.yaml: the file is empty"},
		{"no mapping", map[string]string{"catalog.yaml": "- a\n"}, "catalog.yaml:1: the catalogue must be a mapping"},
		{"no YAML", map[string]string{"catalog.yaml": "events:\n  a: [\n"}, "catalog.yaml:2: "},
		{"two documents", map[string]string{"catalog.yaml": "events: {}\n---\nevents: {}\n"}, "catalog.yaml:2: a file holds one document"},
		{"a misspelt key", map[string]string{"catalog.yaml": "event: {}\n"}, `catalog.yaml:1: the catalogue has no key "event"; it has caps, categories, default_locale, events`},
		{"an alias", catalog("events:\n  shipped: &a {category: orders, channels: [push, email]}\n  other: *a\n"), "catalog.yaml:6: aliases are not supported"},
		{"a name twice", catalog("events:\n  shipped: {category: orders, channels: [push, email]}\n  shipped: {}\n"), `catalog.yaml:6: events has "shipped" twice`},
		{"no events", catalog(""), "catalog.yaml: the catalogue has no events"},
		{"a name that is a path", catalog("events:\n  ../up: {category: orders, channels: [push]}\n"), `catalog.yaml:5: event type "../up"`},
		{"a locale that is none", map[string]string{"catalog.yaml": "default_locale: english please\nevents: {}\n"}, `catalog.yaml:1: default_locale "english please" is not a locale`},
		{"a category without a kind", category("{}"), "catalog.yaml:4: category orders needs a kind"},
		{"an unknown kind", category("{kind: vital}"), `catalog.yaml:4: kind "vital" is not known; it is critical, transactional, marketing`},
		{"a consent of what is no marketing", category("{kind: transactional, consent: opt_in}"), "catalog.yaml:4: category orders: only marketing has a consent"},
		{"a cap that is none", category("{kind: marketing, caps: {per_user: 3}}"), `catalog.yaml:4: per_user "3" is not a cap like 3/24h`},
		{"a cap of nothing", category("{kind: marketing, caps: {per_user: 0/24h}}"), `catalog.yaml:4: per_user "0/24h" is not a cap`},
		{"a cap per nothing", category("{kind: marketing, caps: {per_user: 3/day}}"), `catalog.yaml:4: per_user "day" is not a duration`},
		{"a cap on what is critical", category("{kind: critical, caps: {per_user: 3/24h}}"), "catalog.yaml:4: category orders is critical: it cannot have caps"},
		{"an unknown rule of a category", category("{kind: marketing, quiet: true}"), `catalog.yaml:4: category orders has no key "quiet"`},
		{"an unknown outcome rule", event("on_unknown: pray"), `catalog.yaml:8: on_unknown "pray" is not known; it is retry, give_up`},
		{"half an outcome rule", event("on_unknown: {wait_receipt: 2m}"), "catalog.yaml:8: on_unknown is retry, give_up or"},
		{"an event type without a category", catalog("events:\n  shipped: {channels: [push, email]}\n"), "catalog.yaml:5: event type shipped needs a category"},
		{"an event type of an unknown category", catalog("events:\n  shipped: {category: order, channels: [push, email]}\n"), `catalog.yaml:5: category "order" is not declared`},
		{"an event type without channels", catalog("events:\n  shipped: {category: orders}\n"), "catalog.yaml:5: event type shipped needs channels"},
		{"an empty list of channels", catalog("events:\n  shipped: {category: orders, channels: []}\n"), "catalog.yaml:5: channels must be a list"},
		{"an unknown channel", catalog("events:\n  shipped: {category: orders, channels: [push, email, fax]}\n"), `catalog.yaml:5: unknown channel "fax"`},
		{"a channel twice", catalog("events:\n  shipped: {category: orders, channels: [push, email, push]}\n"), "catalog.yaml:5: channel push is listed twice"},
		{"a bad duration", event("expires_in: 5 min"), `catalog.yaml:8: expires_in "5 min" is not a duration`},
		{"a duration that is too long", event("expires_in: 721h"), "catalog.yaml:8: expires_in must lie between 1s and 720h"},
		{"fresh for longer than it is of use", event("expires_in: 5m\n    fresh_for: 5m"), "catalog.yaml:5: event type shipped expires in 5m0s, before it is late"},
		{"gathered for longer than it is of use", event("expires_in: 1m\n    digest: {window: 10m}"), "catalog.yaml:5: event type shipped expires in 1m0s, before its digest closes: window 10m0s must be shorter"},
		{"gathered for as long as it is of use, by the default", event("expires_in: 10m\n    digest: {}"), "catalog.yaml:5: event type shipped expires in 10m0s, before its digest closes"},
		{"an unknown lane", event("lane: fast"), `catalog.yaml:8: lane "fast" is not known; it is bulk, priority`},
		{"no bool", event("sensitive: maybe"), "catalog.yaml:8: sensitive must be true or false"},
		{"a digest of a channel that is none", event("digest: {channels: [sms]}"), "catalog.yaml:8: event type shipped: digest channel sms is none of its channels"},
		{"a member of the data without a type", event("data: {order: {example: x}}"), "catalog.yaml:8: data member order needs a type"},
		{"an example that is no JSON", event("data: {order: {type: object, example: {1: x}}}"), "catalog.yaml:8: example of order is not of type object"},
		{"a member of the data twice", event("data: {order: {type: string}, order: {type: string}}"), `catalog.yaml:8: data has "order" twice`},
		{"a category that cannot be named", catalog("  a b: {kind: critical}\nevents: {}\n"), `catalog.yaml:4: category "a b"`},
		{"an example of another type", event("data: {order: {type: integer, example: 1.5}}"), "catalog.yaml:8: example of order is not of type integer"},
		{"a template that is missing", map[string]string{push: ""}, "catalog.yaml:4: event type shipped goes to push, but templates/shipped/push.en.yaml is missing"},
		{"a file of nothing known", map[string]string{"readme.txt": "x"}, "readme.txt: a file is catalog.yaml or templates/"},
		{"a template of an unknown event type", map[string]string{"templates/sent/push.en.yaml": "title: x\nbody: x\n"}, `templates/sent/push.en.yaml: event type "sent" is not declared`},
		{"a template of an unknown channel", map[string]string{"templates/shipped/fax.en.txt": "x"}, `templates/shipped/fax.en.txt: unknown channel "fax"`},
		{"a template of a channel that the type does not go to", map[string]string{"templates/shipped/sms.en.txt": "x"}, "templates/shipped/sms.en.txt: event type shipped does not go to sms"},
		{"a template for a webhook", map[string]string{"templates/shipped/webhook.en.txt": "x"}, "templates/shipped/webhook.en.txt: a webhook has no template"},
		{"a locale that cannot be", map[string]string{"templates/shipped/push.e.yaml": "title: x\nbody: x\n"}, `templates/shipped/push.e.yaml: "e" is not a locale`},
		{"a locale written in two ways", map[string]string{"templates/shipped/push.EN.yaml": "title: x\nbody: x\n"}, "templates/shipped/push.en.yaml: locale en is written EN"},
		{"an extension of another channel", map[string]string{"templates/shipped/push.en.txt": "x"}, "templates/shipped/push.en.txt: templates for push end in .yaml"},
		{"a mail without a subject", map[string]string{mail: ""}, "templates/shipped/email.en.yaml: an e-mail needs this file"},
		{"a mail without a body", map[string]string{"templates/shipped/email.en.txt": ""}, "templates/shipped/email.en.yaml: an e-mail needs templates/shipped/email.en.html or"},
		{"a translated mail without a subject", map[string]string{"templates/shipped/email.de.txt": "x"}, "templates/shipped/email.de.yaml: an e-mail needs this file"},
		{"a subject that is missing", map[string]string{mail: "from: a@example.test\n"}, "templates/shipped/email.en.yaml:1: subject is missing"},
		{"a sender that is no address", map[string]string{mail: "subject: x\nfrom: the shop\n"}, "templates/shipped/email.en.yaml:2: from is not an e-mail address"},
		{"not UTF-8", map[string]string{push: "title: \xff\n"}, push + ": the file is not UTF-8 text"},
		{"too large", map[string]string{push: strings.Repeat("#", 256<<10+1)}, push + ": the file is larger than 262144 bytes"},
		{"a body that is missing", pushed("title: x\n"), push + ":1: body is missing"},
		{"a member that push does not have", pushed("title: x\nbody: x\nsound: x\n"), push + ":3: " + push + ` has no key "sound"`},
		{"a list for a text", pushed("title: [x]\nbody: x\n"), push + ":1: title must be text"},
		{"quotes forgotten", pushed("title: x\nbody: {{.data.order}}\n"), push + ":2: "},
		{"a data name that APNs keeps for itself", pushed("title: x\nbody: x\ndata:\n  aps: x\n"), push + `:4: data member "aps"`},
		{"an action that does not end", pushed("title: x\nbody: \"{{.data.order\"\n"), push + ":2: unclosed action"},
		{"a line inside a block", pushed("title: x\nbody: |\n  first\n  {{if}}\n"), push + ":4: missing value for if"},
		{"a function that does not exist", pushed("title: x\nbody: \"{{shout .data.order}}\"\n"), push + `:2: function "shout" not defined`},
		{"printf, whose widths eat memory", pushed("title: x\nbody: \"{{printf `%999999d` 1}}\"\n"), push + ":2: printf is not available here"},
		{"a function of the rewriting itself", pushed("title: x\nbody: \"{{get $ . `data`}}\"\n"), push + ":2: get is not available here"},
		{"a function of the standard library", pushed("title: x\nbody: \"{{call .data.order}}\"\n"), push + ":2: call is not available here"},
		{"too few arguments", pushed("title: x\nbody: \"{{default 1}}\"\n"), push + ":2: default takes 2 arguments, not 1"},
		{"too many by a pipe", pushed("title: x\nbody: \"{{1 | not 2}}\"\n"), push + ":2: not takes 1 arguments, not 2"},
		{"an argument for a value", pushed("title: x\nbody: \"{{.data.order 1}}\"\n"), push + ":2: .data.order is not a function"},
		{"a value at the end of a pipe", pushed("title: x\nbody: \"{{1 | .data.order}}\"\n"), push + ":2: .data.order is not a function"},
		{"a function as an argument", pushed("title: x\nbody: \"{{not len}}\"\n"), push + ":2: put len in parentheses"},
		{"a root member that does not exist", pushed("title: x\nbody: \"{{.order}}\"\n"), push + ":2: .order is not known"},
		{"the same from inside a loop", pushed("title: x\nbody: \"{{range .data.a}}{{$.dat.b}}{{end}}\"\n"), push + ":2: .dat is not known"},
		{"a member that the user does not have", pushed("title: x\nbody: \"{{.user.email}}\"\n"), push + ":2: .user.email is not known"},
		{"the root set anew", pushed("title: x\nbody: \"{{$ = 1}}\"\n"), push + ":2: $ is the root and cannot be set"},
		{"a template inside", page("a\n{{define `x`}}{{end}}\n"), html + ":2: define and block are not supported"},
		{"a template called", pushed("title: x\nbody: '{{template \"t\"}}'\n"), push + ":2: {{template"},
		{"HTML that ends inside a tag", page("<p>\n<a href=\"{{.data.order}}\n"), html + ":"},
		{"HTML whose branches differ", page("\n{{if .data.a}}<a href=\"{{end}}x\n"), html + ":2: "},
		{"a URL escaped twice", page("\n\n<a href=\"{{urlquery .data.order}}\">x</a>\n"), html + ":3: urlquery is not available here"},
		{"HTML escaped twice", page("{{html .data.order}}"), html + ":1: html is not available here"},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			files := small()
			maps.Copy(files, c.changed)
			maps.DeleteFunc(files, func(name, content string) bool { return content == "" })
			_, err := templates.Parse(files)
			var problems templates.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("error %v", err)
			}
			if !strings.HasPrefix(problems[0].String(), c.want) {
				t.Errorf("problems:\n%v\nwant first\n%s", err, c.want)
			}
			for _, p := range problems {
				if p.Line < 0 || p.Line > 1+strings.Count(files[p.File], "\n") {
					t.Errorf("%v: there is no such line", p)
				}
			}
		})
	}
}

func TestParseTellsAllProblemsAtOnce(t *testing.T) {
	files := small()
	files["catalog.yaml"] += "    lane: fast\n    sensitive: 3\n"
	files["templates/shipped/push.en.yaml"] = "titel: x\nbody: '{{.x}}'\n"
	_, err := templates.Parse(files)
	if got := len(strings.Split(err.Error(), "\n")); got != 5 {
		t.Errorf("%d problems:\n%v", got, err)
	}
}

func TestParseReadsTheRules(t *testing.T) {
	files := small()
	files["catalog.yaml"] = `default_locale: en
categories:
  orders: {kind: transactional, on_unknown: {wait_receipt: 90s, then: give_up}}
  security: {kind: critical}
  offers: {kind: marketing, caps: {per_user: 3/24h}, fresh_for: 2h}
events:
  shipped: {category: orders, channels: [email, push], expires_in: 5m, fresh_for: 1m, dedupe_window: 1h, sensitive: true, on_unknown: retry}
  alert: {category: security, channels: [webhook]}
  slow.alert: {category: security, channels: [webhook], lane: bulk}
  offer: {category: offers, channels: [webhook], on_unknown: {wait_receipt: 2m, then: retry}, data: {n: {type: number, example: 2},
    b: {type: boolean, example: true}, f: {type: number, example: 2.5}, l: {type: array, example: [1, x]}, o: {type: object, example: {a: 1}}, s: {type: string}}}
`
	c := parse(t, files)
	shipped, alert, offer := c.Events["shipped"], c.Events["alert"], c.Events["offer"]
	switch {
	case shipped.Channels[0] != tidings.Email || shipped.Channels[1] != tidings.Push:
		t.Error("channels are in another order")
	case shipped.ExpiresIn != 5*time.Minute || shipped.DedupeWindow != time.Hour || !shipped.Sensitive:
		t.Errorf("%+v", shipped)
	case shipped.Fresh() != time.Minute || offer.Fresh() != 2*time.Hour || alert.Fresh() != 0:
		t.Errorf("fresh for %v, %v, %v", shipped.Fresh(), offer.Fresh(), alert.Fresh())
	case shipped.Priority != tidings.Bulk || alert.Priority != tidings.Urgent || c.Events["slow.alert"].Priority != tidings.Bulk:
		t.Error("the lane is priority for what is critical, else bulk, unless the type says so")
	case shipped.Unknown(tidings.SMS) != tidings.OnUnknown{Retry: true} || offer.Unknown(tidings.SMS) != tidings.OnUnknown{Wait: 2 * time.Minute, Retry: true}:
		t.Error("the event type's rule goes first")
	case *shipped.Category.OnUnknown != tidings.OnUnknown{Wait: 90 * time.Second}:
		t.Errorf("category: %+v", shipped.Category.OnUnknown)
	case offer.Category.CapPerUser != tidings.Cap{Count: 3, Per: 24 * time.Hour} || offer.Category.Consent != "opt_out":
		t.Errorf("category: %+v", offer.Category)
	case offer.Data["n"] != tidings.Field{Type: "number", Example: 2}:
		t.Errorf("data: %+v", offer.Data)
	}
	if got, err := json.Marshal(templates.Examples(offer)); err != nil || string(got) != `{"b":true,"f":2.5,"l":[1,"x"],"n":2,"o":{"a":1}}` {
		t.Errorf("examples: %s %v", got, err)
	}
	if kind, known := c.Kind("security"); !known || kind != tidings.Critical {
		t.Error("security is critical")
	}
	if _, known := c.Event("gone"); known {
		t.Error("an event type that is not there was found")
	}
}

func TestTheHashIsOfNamesAndContents(t *testing.T) {
	files := small()
	before := templates.Hash(files)
	if c := parse(t, files); c.Hash != before || len(before) != 64 {
		t.Errorf("hash %q", c.Hash)
	}
	moved := small()
	moved["templates/shipped/email.de.yaml"], moved["templates/shipped/email.de.txt"] = moved["templates/shipped/email.en.yaml"], "x"
	edited := small()
	edited["templates/shipped/email.en.txt"] += "\n"
	if templates.Hash(moved) == before || templates.Hash(edited) == before {
		t.Error("another catalogue has the same hash")
	}
}

func TestACatalogueKeepsItsFilesWhenTheCallersChange(t *testing.T) {
	files := small()
	c := parse(t, files)
	files["catalog.yaml"] = "changed"
	if templates.Hash(c.Files) != c.Hash {
		t.Error("the catalogue changed")
	}
}

func TestTheSampleHasNothingToWarnOf(t *testing.T) {
	warnings := sample(t).Lint(24 * time.Hour)
	if len(warnings) != 0 {
		t.Errorf("warnings:\n%v", warnings)
	}
}

func TestEveryWarningOfTheCatalogueHasItsLine(t *testing.T) {
	files := map[string]string{
		"catalog.yaml": `categories:
  offers:
    kind: marketing
    consent: opt_in
    caps: {per_user: 3/24h}
    fresh_for: 30h
events:
  offer.weekly:
    category: offers
    channels: [email]
  offer.daily: {category: offers, channels: [email], fresh_for: 1h, digest: {window: 25h}}
  offer.monthly: {category: offers, channels: [email], expires_in: 72h}
`,
	}
	for _, event := range []string{"offer.weekly", "offer.daily", "offer.monthly"} {
		files["templates/"+event+"/email.en.yaml"] = "subject: Apples\n"
		files["templates/"+event+"/email.en.txt"] = "Apples are in"
	}
	report := parse(t, files).Lint(24 * time.Hour).Error()
	for _, want := range []string{
		"catalog.yaml:8: event type offer.weekly has no data schema",
		"catalog.yaml:8: event type offer.weekly expires in 24h0m0s by default, before it is late: fresh_for 30h0m0s",
		"event type offer.daily expires in 24h0m0s by default, before its digest closes: window 25h0m0s",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	if strings.Contains(report, "offer.daily expires in 24h0m0s by default, before it is late") || strings.Contains(report, "offer.monthly expires") {
		t.Errorf("warned without cause:\n%s", report)
	}
}

func TestLintTriesTheExamples(t *testing.T) {
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	files["catalog.yaml"] = strings.Replace(files["catalog.yaml"], "order: {type: string", "parcel: {type: string", 1)
	files["templates/offer.weekly/push.fr.yaml"] = "title: Cette semaine\nbody: '{{.data.headline}}'\n"
	report := parse(t, files).Lint(24 * time.Hour).Error()
	for _, want := range []string{
		`templates/order.shipped/push.en.yaml:2: the data schema of order.shipped has no "order"`,
		`templates/order.shipped/push.de.yaml: with the examples of the schema: line 2: the template uses /data/order, which is absent`,
		`: event type login.code has no sms in fr; it goes out in en`,
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
}
