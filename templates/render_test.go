package templates_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/templates"
)

// texts makes a catalogue with one event type whose SMS is the template.
func texts(t testing.TB, template string) *templates.Catalogue {
	t.Helper()
	return parse(t, map[string]string{
		"catalog.yaml":                "categories: {a: {kind: critical}}\nevents: {e: {category: a, channels: [sms]}}\n",
		"templates/e/sms.en.txt":      template,
		"templates/e/sms.de.txt":      "de: " + template,
		"templates/e/sms.pt-BR.txt":   "br: " + template,
		"templates/e/sms.zh-TW.txt":   "tw: " + template,
		"templates/e/sms.zh.txt":      "zh: " + template,
		"templates/e/sms.en-GB.txt":   "gb: " + template,
		"templates/e/sms.sr-Latn.txt": "sr: " + template,
	})
}

func pages(t testing.TB, subject, html string) *templates.Catalogue {
	t.Helper()
	return parse(t, map[string]string{
		"catalog.yaml":              "categories: {a: {kind: critical}}\nevents: {e: {category: a, channels: [email]}}\n",
		"templates/e/email.en.yaml": subject,
		"templates/e/email.en.html": html,
	})
}

func pushes(t testing.TB, push string) *templates.Catalogue {
	t.Helper()
	return parse(t, map[string]string{
		"catalog.yaml":             "categories: {a: {kind: critical}}\nevents: {e: {category: a, channels: [push]}}\n",
		"templates/e/push.en.yaml": push,
	})
}

func input(data string) templates.Input {
	return templates.Input{
		Data: json.RawMessage(data), Type: "e", At: time.Date(2026, 12, 1, 9, 0, 0, 1500, time.FixedZone("", 3600)),
		User: tidings.User{ID: "u_1", Locale: "en", Timezone: "Europe/Berlin", Attributes: json.RawMessage(`{"plan":"gold"}`)},
	}
}

func TestTemplatesRenderTheData(t *testing.T) {
	cases := []struct{ why, template, data, want string }{
		{"a name", `Hi {{.data.name}}`, `{"name":"Ann"}`, `Hi Ann`},
		{"text is not escaped", `{{.data.a}}`, `{"a":"<b>&\"'"}`, `<b>&"'`},
		{"null prints nothing", `[{{.data.a}}]`, `{"a":null}`, `[]`},
		{"empty prints nothing", `[{{.data.a}}]`, `{"a":""}`, `[]`},
		{"a bool", `{{.data.a}} {{.data.b}}`, `{"a":true,"b":false}`, `true false`},
		{"a million is not 1e+06", `{{.data.a}}`, `{"a":1000000}`, `1000000`},
		{"no digit is lost", `{{.data.a}}`, `{"a":9007199254740993}`, `9007199254740993`},
		{"numbers print as sent", `{{.data.a}} {{.data.b}} {{.data.c}}`, `{"a":1.50,"b":1E3,"c":-0.0}`, `1.50 1E3 -0.0`},
		{"numbers of lists and loops too", `{{index .data.a 0}}{{range .data.a}} {{.}}{{end}}`, `{"a":[10000000,2.50]}`, `10000000 10000000 2.50`},
		{"what lies deep", `{{.data.a.b.c}}`, `{"a":{"b":{"c":"x"}}}`, `x`},
		{"what lies deep in a variable", `{{$x := .data.a}}{{$x.b.c}}`, `{"a":{"b":{"c":"x"}}}`, `x`},
		{"a member of a result", `{{(index .data.a 1).b}}`, `{"a":[1,{"b":"x"}]}`, `x`},
		{"a list", `{{range .data.a}}<{{.n}}>{{end}}`, `{"a":[{"n":1},{"n":2}]}`, `<1><2>`},
		{"a list with places", `{{range $i, $e := .data.a}}{{$i}}{{$e}}{{end}}`, `{"a":["x","y"]}`, `0x1y`},
		{"an object in the order of its names", `{{range $k, $v := .data.a}}{{$k}}={{$v}};{{end}}`, `{"a":{"z":1,"b":2}}`, `b=2;z=1;`},
		{"an empty list", `{{range .data.a}}x{{else}}none{{end}}`, `{"a":[]}`, `none`},
		{"null for a list", `{{range .data.a}}x{{else}}none{{end}}`, `{"a":null}`, `none`},
		{"out of a loop", `{{range .data.a}}{{.}}{{break}}{{end}}`, `{"a":[1,2]}`, `1`},
		{"the root from inside", `{{range .data.a}}{{$.data.b}}{{end}}`, `{"a":[1,2],"b":"x"}`, `xx`},
		{"with", `{{with .data.a}}{{.b}}{{else}}none{{end}}`, `{"a":{"b":1}}`, `1`},
		{"with null", `{{with .data.a}}{{.b}}{{else}}none{{end}}`, `{"a":null}`, `none`},
		{"zero is false", `{{if .data.a}}yes{{else}}no{{end}}`, `{"a":0}`, `no`},
		{"so is zero with digits", `{{if .data.a}}yes{{else}}no{{end}}`, `{"a":0.00}`, `no`},
		{"a number is true", `{{if .data.a}}yes{{else}}no{{end}}`, `{"a":0.01}`, `yes`},
		{"a text with a zero is true", `{{if .data.a}}yes{{else}}no{{end}}`, `{"a":"0"}`, `yes`},
		{"and takes zero for false", `{{if and .data.a true}}yes{{else}}no{{end}}`, `{"a":0e5}`, `no`},
		{"or takes the next for zero", `{{or .data.a .data.b}}`, `{"a":0.0,"b":"x"}`, `x`},
		{"and stops early", `{{if and (has .data "a") .data.a}}yes{{else}}no{{end}}`, `{}`, `no`},
		{"not", `{{not .data.a}}`, `{"a":0.0}`, `true`},
		{"numbers compare by value", `{{eq .data.a .data.b}} {{ge .data.a 1}} {{lt .data.a 1.5}}`, `{"a":1.0,"b":1}`, `true true true`},
		{"large numbers compare exactly", `{{gt .data.a .data.b}} {{eq .data.a .data.b}}`, `{"a":9007199254740993,"b":9007199254740992}`, `true false`},
		{"numbers compare as numbers", `{{gt .data.a .data.b}}`, `{"a":10,"b":9}`, `true`},
		{"texts compare by letter", `{{lt .data.a .data.b}} {{eq .data.a "x" "a"}} {{ne .data.a "a"}}`, `{"a":"a","b":"b"}`, `true true false`},
		{"other kinds differ", `{{eq .data.a "1"}} {{eq .data.b false}} {{eq .data.b nil}}`, `{"a":1,"b":null}`, `false false true`},
		{"bools compare too", `{{eq .data.a true}} {{eq .data.a .data.b}} {{eq .data.l .data.l}}`, `{"a":true,"b":false,"l":[]}`, `true false false`},
		{"the root's members", `{{range $k, $v := .user.attributes}}{{$k}}{{$v}}{{end}}{{with .notification}}{{len .id}}{{end}}{{with $.event}}{{.type}}{{end}}`, `{}`, `plangold30e`},
		{"default for empty", `{{default "friend" .data.a}} {{.data.b | default "?"}}`, `{"a":"","b":"x"}`, `friend x`},
		{"has", `{{has .data "a"}} {{has .data "b"}} {{has .data.a "x"}}`, `{"a":1}`, `true false false`},
		{"len", `{{len .data.a}} {{len .data.b}} {{len .data.c}} {{len .data.d}}`, `{"a":[1,2],"b":"äé","c":{"x":1},"d":null}`, `2 2 1 0`},
		{"index", `{{index .data.a 1 "b"}} {{index .data.a .data.i "b"}}`, `{"a":[{"b":1},{"b":2}],"i":0}`, `2 1`},
		{"join", `{{join ", " .data.a}}`, `{"a":["x",1,null,true]}`, `x, 1, , true`},
		{"letters", `{{upper .data.a}} {{lower .data.a}} {{trim .data.a}}.`, `{"a":" Ä "}`, "Ä   ä  Ä."},
		{"truncate", `{{truncate 3 .data.a}} {{.data.a | truncate 4}} {{truncate 1 .data.a}}`, `{"a":"äöüß"}`, `äö… äöüß …`},
		{"urlquery", `?q={{urlquery .data.a}}`, `{"a":"a b&c"}`, `?q=a+b%26c`},
		{"a branch not taken may use what is absent", `{{if .data.a}}{{.data.b}}{{else}}x{{end}}`, `{"a":false}`, `x`},
		{"the user", `{{.user.id}} {{.user.locale}} {{.user.timezone}} {{.user.attributes.plan}}`, `{}`, `u_1 en Europe/Berlin gold`},
		{"the user at once", `{{with .user}}{{.id}}{{end}}`, `{}`, `u_1`},
		{"the event", `{{.event.type}} {{.event.at}}`, `{}`, `e 2026-12-01T08:00:00.000001Z`},
		{"the notification", `{{len .notification.id}}`, `{}`, `30`},
		{"links outside of mail", `[{{.links.unsubscribe}}{{.links.preferences}}{{with .links}}{{.unsubscribe}}{{end}}]`, `{}`, `[]`},
		{"the locale", `{{.locale}}`, `{}`, `en`},
		{"white space around an SMS goes", "\n x \n\n", `{}`, `x`},
		{"no data", `x`, ``, `x`},
		{"a comment", `{{/* not for users */}}x`, `{}`, `x`},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			content, err := texts(t, c.template).Render("e", tidings.SMS, input(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if content.Body != strings.TrimSpace(c.want) {
				t.Errorf("%q, want %q", content.Body, c.want)
			}
		})
	}
}

func TestTemplatesThatDoNotRenderSayWhy(t *testing.T) {
	const missing, wrong, large = templates.CodeMissingData, templates.CodeTemplateError, templates.CodeContentTooLarge
	rows := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	cases := []struct{ why, template, data, code, pointer, detail string }{
		{"an absent name", "\n{{.data.name}}", `{}`, missing, "/data/name", "line 2: the template uses /data/name, which is absent"},
		{"an absent name in a branch taken", "{{if true}}\n{{.data.name}}{{end}}", `{}`, missing, "/data/name", "line 2: "},
		{"a condition on an absent name", `{{if .data.name}}x{{end}}`, `{}`, missing, "/data/name", ""},
		{"an absent name given to a function", `{{default "x" .data.name}}`, `{}`, missing, "/data/name", ""},
		{"an absent list", `{{range .data.items}}x{{end}}`, `{}`, missing, "/data/items", ""},
		{"an absent name in a list", `{{range .data.items}}{{.name}}{{end}}`, `{"items":[{"name":1},{"nam":2}]}`, missing, "/data/items/1/name", ""},
		{"an absent name of the event of a digest of one", `{{range .digest.items}}{{.data.n}}{{end}}`, `{"k":"A"}`, missing, "/data/n", ""},
		{"an absent name deep down in it", `{{range .digest.items}}{{range .data.rows}}{{.n}}{{end}}{{end}}`, `{"rows":[{}]}`, missing, "/data/rows/0/n", ""},
		{"an absent name of it by index", `{{index .digest.items 0 "data" "n"}}`, `{}`, missing, "/data/n", ""},
		{"an absent name of it by a name of the data", `{{with index .digest.items 0}}{{index .data .data.k}}{{end}}`, `{"k":"secret"}`, missing, "/data", ""},
		{"an absent name deep down", `{{.data.a.b.c.d}}`, `{"a":{"b":{}}}`, missing, "/data/a/b/c", ""},
		{"a name of null", `{{.data.a.b}}`, `{"a":null}`, missing, "/data/a/b", ""},
		{"a name of a text", `{{.data.a.b}}`, `{"a":"x"}`, missing, "/data/a/b", ""},
		{"a name that is no object's, in a list", `{{range .data.a}}{{.b}}{{end}}`, `{"a":["x"]}`, missing, "/data/b", ""},
		{"a name under a name to escape", `{{range .data}}{{.x}}{{end}}`, `{"a/b~c":{}}`, missing, "/data/a~1b~0c/x", ""},
		{"an absent name by index", `{{index .data "a" "b"}}`, `{"a":{}}`, missing, "/data/a/b", ""},
		{"an absent name by a name of the data", `{{index .data .data.a}}`, `{"a":"secret"}`, missing, "/data", ""},
		{"an absent attribute of the user", `{{.user.attributes.name}}`, `{}`, missing, "/user/attributes/name", ""},
		{"names are exact", `{{.data.Name}}`, `{"name":1}`, missing, "/data/Name", ""},
		{"a printed list", `{{.data.a}}`, `{"a":[1]}`, wrong, "", "line 1: cannot print a list"},
		{"a printed object", "x\ny{{.data.a}}", `{"a":{}}`, wrong, "", "line 2: cannot print an object"},
		{"the printed root", `{{.}}`, `{}`, wrong, "", "line 1: cannot print an object"},
		{"a loop over a number", `{{range .data.n}}x{{end}}`, `{"n":1000000000}`, wrong, "", "range goes through a list or an object"},
		{"a loop over a number of the template", `{{range 1000000000}}{{end}}`, `{}`, wrong, "", "range goes through a list or an object"},
		{"loops in loops without output", `{{range .data.a}}{{range $.data.a}}{{range $.data.a}}{{end}}{{end}}{{end}}`, `{"a":` + rows(5000) + `}`, wrong, "", "too much work"},
		{"many actions in a long loop", `{{range .data.a}}` + strings.Repeat(`{{if .}}{{end}}`, 200) + `{{end}}`, `{"a":` + rows(20000) + `}`, wrong, "", "too much work"},
		{"a function on a long text in a loop", `{{range .data.a}}{{if eq $.data.b (upper $.data.b)}}{{end}}{{end}}`, `{"a":` + rows(20000) + `,"b":"` + strings.Repeat("x", 20000) + `"}`, wrong, "", "too much work"},
		{"long numbers compared in a loop", `{{range .data.a}}{{if eq $.data.n 1}}{{end}}{{end}}`, `{"a":` + rows(10000) + `,"n":1` + strings.Repeat("0", 40000) + `}`, wrong, "", "too much work"},
		{"more than a message may have", `{{range .data.a}}` + strings.Repeat("x", 1000) + `{{end}}`, `{"a":` + rows(300) + `}`, large, "", "larger than 262144 bytes"},
		{"more than that without a loop", strings.Repeat("{{.data.a}}", 30), `{"a":"` + strings.Repeat("x", 10000) + `"}`, large, "", "larger than 262144 bytes"},
		{"a join that grows", `{{join .data.s .data.a}}`, `{"s":"` + strings.Repeat("x", 1000) + `","a":` + rows(1000) + `}`, large, "", "larger than 262144 bytes"},
		{"an order of what has none", `{{lt .data.a "x"}}`, `{"a":1}`, wrong, "", "only two numbers or two texts have an order"},
		{"a place beyond the list", `{{index .data.a 2}}`, `{"a":[1,2]}`, wrong, "", "beyond the end"},
		{"a place before the list", `{{index .data.a -1}}`, `{"a":[1,2]}`, wrong, "", "beyond the end"},
		{"half a place", `{{index .data.a 0.5}}`, `{"a":[1,2]}`, wrong, "", "a whole number is wanted"},
		{"truncated to nothing", `{{truncate 0 .data.a}}`, `{"a":"x"}`, wrong, "", "at least 1"},
		{"data that is no JSON", `{{.data.a}}`, `{"a":`, wrong, "", "not valid JSON"},
		{"an SMS of nothing", `{{.data.a}}`, `{"a":null}`, wrong, "", "the message is empty"},
		{"an SMS that no carrier takes", `{{.data.a}}`, `{"a":"` + strings.Repeat("é", 1531) + `"}`, large, "", "11 segments of GSM-7"},
		{"an SMS that one letter makes twice as long", `{{.data.a}}`, `{"a":"ж` + strings.Repeat("a", 670) + `"}`, large, "", "11 segments of UCS-2"},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			began := time.Now()
			_, err := texts(t, c.template).Render("e", tidings.SMS, input(c.data))
			var failed *templates.RenderError
			if !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			if failed.Code != c.code || failed.Pointer != c.pointer || !strings.Contains(failed.Detail, c.detail) {
				t.Errorf("%s at %q: %s; want %s at %q: %s", failed.Code, failed.Pointer, failed.Detail, c.code, c.pointer, c.detail)
			}
			if failed.File != "templates/e/sms.en.txt" {
				t.Errorf("file %q", failed.File)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s to refuse", took)
			}
		})
	}
}

func TestUsersWithoutALocaleGetTheDeploymentsBeforeTheCatalogues(t *testing.T) {
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	in := templates.Input{Data: json.RawMessage(`{"order":"4711","carrier":"UPS"}`)}
	english := in
	english.User.Locale = "en"
	for _, c := range []struct {
		why, locale string
		in          templates.Input
		same        string
	}{
		{"nothing is set anywhere", "", in, "en"},
		{"the deployment speaks German", "de", in, "de"},
		{"the user's own comes first", "de", english, "en"},
		{"a locale without templates is the catalogue's default", "fr", in, "en"},
	} {
		got, err := catalogue.WithDefaults(c.locale, "UTC").Render("order.shipped", tidings.Push, c.in)
		if err != nil {
			t.Fatal(err)
		}
		want := in
		want.User.Locale = c.same
		if expected, err := catalogue.Render("order.shipped", tidings.Push, want); err != nil || got.Title != expected.Title {
			t.Errorf("%s: %q, want %q, %v", c.why, got.Title, expected.Title, err)
		}
	}
}

func TestHTMLIsEscapedWhereItStands(t *testing.T) {
	c := pages(t, "subject: x\n", `<p>{{.data.a}}</p><a href="https://example.test/{{.data.b}}?q={{.data.a}}" title="{{.data.a}}">{{.data.n}}{{.data.z}}</a><a href="{{.data.u}}">x</a>`)
	content, err := c.Render("e", tidings.Email, input(`{"a":"<i>&\"","b":"a b","n":1000000,"z":null,"u":"javascript:alert(1)"}`))
	want := `<p>&lt;i&gt;&amp;&#34;</p><a href="https://example.test/a%20b?q=%3ci%3e%26%22" title="&lt;i&gt;&amp;&#34;">1000000</a><a href="#ZgotmplZ">x</a>`
	if err != nil || content.HTML != want {
		t.Errorf("%s, want %s (%v)", content.HTML, want, err)
	}
}

func TestMailHeadersStayOnOneLine(t *testing.T) {
	c := pages(t, "subject: 'Hi {{.data.a}}'\nfrom: '\"{{.data.a}}\" <shop@example.test>'\n", "x")
	content, err := c.Render("e", tidings.Email, input(`{"a":"x\r\nBcc: evil@example.test\u2028y\u0000z"}`))
	if err != nil {
		t.Fatal(err)
	}
	if content.Subject != "Hi x Bcc: evil@example.test y z" || content.From != `"x Bcc: evil@example.test y z" <shop@example.test>` {
		t.Errorf("subject %q from %q", content.Subject, content.From)
	}
	if _, err := c.Render("e", tidings.Email, input(`{"a":"\" <other@example.test>, \""}`)); err == nil {
		t.Error("a sender of two addresses was rendered")
	}
	if _, err := c.Render("e", tidings.Email, input(`{"a":"`+strings.Repeat("x", 1000)+`"}`)); err == nil {
		t.Error("a subject longer than a line was rendered")
	}
}

func TestAPushMustFitIntoWhatDevicesTake(t *testing.T) {
	c := pushes(t, "title: x\nbody: '{{.data.a}}'\nurl: app://x\ndata: {k: '{{.data.b}}'}\n")
	cases := []struct {
		why  string
		a, b string
		fits bool
	}{
		{"a short one", "hello", "x", true},
		{"plain letters count one byte", strings.Repeat("x", 3700), "", true},
		{"too many letters", strings.Repeat("x", 4000), "", false},
		{"data counts too", "", strings.Repeat("x", 4000), false},
		{"emoji count four bytes each", strings.Repeat("🎉", 1000), "", false},
		{"angle brackets are escaped to six bytes", strings.Repeat("<", 700), "", false},
		{"fewer of them fit", strings.Repeat("<", 600), "", true},
		{"quotes are escaped to two bytes", strings.Repeat(`"`, 2000), "", false},
	}
	for _, tc := range cases {
		t.Run(tc.why, func(t *testing.T) {
			data, _ := json.Marshal(map[string]string{"a": tc.a, "b": tc.b})
			_, err := c.Render("e", tidings.Push, input(string(data)))
			var failed *templates.RenderError
			if tc.fits != (err == nil) || errors.As(err, &failed) && failed.Code != templates.CodeContentTooLarge {
				t.Errorf("fits %t: %v", tc.fits, err)
			}
		})
	}
}

func TestAPushCarriesItsParts(t *testing.T) {
	c := pushes(t, "title: ' {{.data.a}} '\nbody: |\n  {{.data.a}}\n  two\nurl: app://{{urlquery .data.a}}\ndata: {k: '{{.data.a}}', fixed: x}\n")
	content, err := c.Render("e", tidings.Push, input(`{"a":"ä b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if content.Title != "ä b" || content.Body != "ä b\ntwo" || content.URL != "app://%C3%A4+b" || content.Data["k"] != "ä b" || content.Data["fixed"] != "x" {
		t.Errorf("%+v", content)
	}
}

func TestAnErrorNeverQuotesTheData(t *testing.T) {
	for _, template := range []string{
		`{{.data.secret.x}}`, `{{range .data.secret}}{{end}}`, `{{lt .data.secret 1}}`, `{{index .data.secret 1}}`, `{{join .data.l .data.secret}}`,
		`{{truncate .data.secret "x"}}`, `{{range .data.l}}{{.x}}{{end}}`, `{{index .data .data.secret}}`,
	} {
		_, err := texts(t, template).Render("e", tidings.SMS, input(`{"secret":"hunter2","l":["hunter2"]}`))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", template, err)
		}
	}
}

func TestAWebhookRendersToNothing(t *testing.T) {
	content, err := sample(t).Render("webhook.ping", tidings.Webhook, input(`{"message":"x"}`))
	if err != nil || readable(content) != "" {
		t.Errorf("%+v %v", content, err)
	}
	for _, e := range []string{"login.code", "no.such"} {
		if _, err := sample(t).Render(e, tidings.Push, input(`{}`)); err == nil {
			t.Errorf("%s has no push and rendered one", e)
		}
	}
}

func TestManyRenderAtOnce(t *testing.T) {
	c := sample(t)
	done := make(chan error)
	for range 8 {
		go func() {
			var err error
			for range 200 {
				_, e := c.Render("order.shipped", tidings.Email, input(`{"order":"1","carrier":"UPS"}`))
				err = errors.Join(err, e)
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
