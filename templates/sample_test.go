package templates_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/internal/golden"
	"tidings/templates"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func sample(t testing.TB) *templates.Catalogue {
	t.Helper()
	files, err := templates.Load(deploy.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	c, err := templates.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// examples is the data that an event type's schema gives as an example.
func examples(t testing.TB, e *tidings.EventType) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(templates.Examples(e))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheSampleRendersAsReviewed(t *testing.T) {
	c := sample(t)
	stale := map[string]bool{}
	for _, file := range must(filepath.Glob("testdata/*.golden")) {
		stale[strings.TrimSuffix(filepath.Base(file), ".golden")] = true
	}
	for name, e := range c.Events {
		for _, channel := range e.Channels {
			for _, locale := range []string{"en", "de"} {
				file := name + "." + string(channel) + "." + locale
				delete(stale, file)
				t.Run(file, func(t *testing.T) {
					content, err := c.Render(name, channel, templates.Input{
						Data: examples(t, e), User: tidings.User{ID: "u_4711", Locale: locale}, Type: name, At: noon,
						Links: templates.ExampleLinks(templates.ExampleURL),
					})
					if err != nil {
						t.Fatal(err)
					}
					golden.Check(t, filepath.Join("testdata", file+".golden"), readable(content))
				})
			}
		}
	}
	for file := range stale {
		t.Errorf("testdata/%s.golden is of nothing in the sample: delete it", file)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// readable is a content as a reviewer wants to read it: its members that are not empty, each below its name.
func readable(c tidings.Content) string {
	var b strings.Builder
	part := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "--- %s\n%s\n", name, strings.TrimSuffix(text, "\n"))
		}
	}
	part("title", c.Title)
	part("body", c.Body)
	part("url", c.URL)
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		part("data "+name, c.Data[name])
	}
	part("from", c.From)
	part("subject", c.Subject)
	part("text", c.Text)
	part("html", c.HTML)
	return b.String()
}

func BenchmarkRenderPush(b *testing.B) {
	c := sample(b)
	in := templates.Input{Data: json.RawMessage(`{"order":"4711","carrier":"UPS"}`), User: tidings.User{ID: "u_4711", Locale: "de"}, Type: "order.shipped", At: noon}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Render("order.shipped", tidings.Push, in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderEmail(b *testing.B) {
	c := sample(b)
	in := templates.Input{Data: json.RawMessage(`{"order":"4711","carrier":"UPS"}`), User: tidings.User{ID: "u_4711", Locale: "de"}, Type: "order.shipped", At: noon}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Render("order.shipped", tidings.Email, in); err != nil {
			b.Fatal(err)
		}
	}
}
