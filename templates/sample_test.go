package templates_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/deploy"
	"tidings/templates"
)

var update = flag.Bool("update", os.Getenv("TIDINGS_GOLDEN") == "write", "write what renders now into testdata")

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
				golden := name + "." + string(channel) + "." + locale
				delete(stale, golden)
				t.Run(golden, func(t *testing.T) {
					content, err := c.Render(name, channel, templates.Input{
						Data: examples(t, e), User: tidings.User{ID: "u_4711", Locale: locale}, Type: name, At: noon,
					})
					if err != nil {
						t.Fatal(err)
					}
					assertGolden(t, golden, content)
				})
			}
		}
	}
	for golden := range stale {
		t.Errorf("testdata/%s.golden is of nothing in the sample: delete it", golden)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func assertGolden(t *testing.T, name string, content tidings.Content) {
	t.Helper()
	got := readable(content)
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("rendered\n%s\nwant\n%s\nwrite it anew with TIDINGS_GOLDEN=write and read the difference", got, want)
	}
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
