package templates_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/templates"
)

// slow is far beyond what the bound on work allows, also on a busy machine.
const slow = 10 * time.Second

func FuzzParse(f *testing.F) {
	for name, content := range small() {
		f.Add(name, content)
	}
	f.Add("catalog.yaml", "a: &a [*a]\n")
	f.Add("catalog.yaml", "{{[[")
	f.Add("templates/shipped/push.en.yaml", "title: >-\n  x {{with $x := .data}}{{$x.y}}{{end}}\nbody: x\n")
	f.Add("templates/shipped/email.en.html", "<script>{{.data.a}}</script><style>{{.data.b}}</style><a href={{.data.c}}>")
	f.Add("templates/shipped/email.en.html", "<!-- {{range .data.a}} --> {{else}} ` {{end}}")
	f.Fuzz(func(t *testing.T, name, content string) {
		began := time.Now()
		files := small()
		files[name] = content
		c, err := templates.Parse(files)
		var problems templates.Problems
		switch {
		case err == nil && c.Hash != templates.Hash(files):
			t.Error("the catalogue has another hash than its files")
		case err != nil && (!errors.As(err, &problems) || len(problems) == 0):
			t.Errorf("an error without problems: %v", err)
		}
		if err == nil {
			c.Lint(24 * time.Hour)
			for _, channel := range []tidings.Channel{tidings.Push, tidings.Email} {
				assertBounded(t, c, "shipped", channel, `{"order":"<4711>","a":[1],"b":{},"c":"x"}`)
			}
		}
		if took := time.Since(began); took > slow {
			t.Errorf("it took %s", took)
		}
	})
}

func FuzzRender(f *testing.F) {
	for _, seed := range [][2]string{
		{`{{.data.a}}`, `{"a":1e1000000000}`},
		{`{{range $i, $e := .data.a}}{{$i}}{{if gt $e 1}}{{continue}}{{end}}{{$e}}{{end}}`, `{"a":[1,2,3]}`},
		{`{{with .data.a}}{{range .}}{{join "," .}}{{end}}{{end}}`, `{"a":[[1],[2]]}`},
		{`{{and .data.a (or .data.b (not .data.c)) | default "x" | truncate 2}}`, `{"a":true,"b":0,"c":null}`},
		{`{{$x := 1}}{{range .data.a}}{{$x = .}}{{end}}{{$x}}`, `{"a":[{"b":1}]}`},
		{`{{(index .data.a 0).b.c}}`, `{"a":[{"b":null}]}`},
		{`{{-1 | index .data.a}}`, `{"a":[]}`},
		{`{{'a'}}{{0x10}}{{1_000}}{{1i}}`, `{}`},
		{`{{.}}{{$}}{{.data}}{{.user}}`, `{}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, template, data string) {
		began := time.Now()
		c, err := templates.Parse(map[string]string{
			"catalog.yaml":              "categories: {a: {kind: critical}}\nevents: {e: {category: a, channels: [sms, email]}}\n",
			"templates/e/sms.en.txt":    template,
			"templates/e/email.en.yaml": "subject: x\n",
			"templates/e/email.en.html": template,
			"templates/e/email.en.txt":  template,
		})
		if err != nil {
			return
		}
		assertBounded(t, c, "e", tidings.SMS, data)
		assertBounded(t, c, "e", tidings.Email, data)
		if took := time.Since(began); took > slow {
			t.Errorf("it took %s", took)
		}
	})
}

// assertBounded renders twice: both times the same, within the bounds, or with an error of the right kind.
func assertBounded(t *testing.T, c *templates.Catalogue, event string, channel tidings.Channel, data string) {
	t.Helper()
	in := templates.Input{Data: json.RawMessage(data), Type: event, User: tidings.User{ID: "u_1"}}
	first, err := c.Render(event, channel, in)
	second, again := c.Render(event, channel, in)
	if readable(first) != readable(second) || (err == nil) != (again == nil) {
		t.Errorf("rendered differently: %v, %v", err, again)
	}
	var failed *templates.RenderError
	if err != nil {
		if !errors.As(err, &failed) || failed.File == "" || failed.Detail == "" || (failed.Code == templates.CodeMissingData) != (failed.Pointer != "") {
			t.Errorf("an error of no known kind: %#v", err)
		}
		return
	}
	if size := len(readable(first)); size > 257<<10 {
		t.Errorf("%d bytes", size)
	}
	if strings.ContainsAny(first.Subject, "\r\n") {
		t.Errorf("subject %q", first.Subject)
	}
}
