package browser_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// axe is axe-core 4.14.1, by Deque Systems, under the Mozilla Public License 2.0.
//
//go:embed testdata/axe.min.js
var axe string

// patience is how long a page may take on a machine that does much besides.
const patience = 2 * time.Minute

// missing is the mend for a machine without a browser.
const missing = "the tests of the pages need Chromium and found none: run .ci/browser (Debian, as root), or install it, or name it in TIDINGS_TEST_BROWSER"

// A tab is one page of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string // guarded by mu: what the console says
}

// newBrowser starts one; its tabs have their own sessions.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program(t)),
		chromedp.Flag("no-sandbox", os.Geteuid() == 0), // root has no sandbox to give
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-dev-shm-usage", true),
	)
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	browser, closeBrowser := chromedp.NewContext(allocated)
	t.Cleanup(closeBrowser)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return browser
}

func program(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if named := os.Getenv("TIDINGS_TEST_BROWSER"); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal(missing)
	return ""
}

// newTab opens a tab; without scripts, the browser runs none of the page's own.
func newTab(t *testing.T, browser context.Context, scripts bool) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	tb := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, tb.listen); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	tell(tb, cdplog.Enable, cdp.Empty{})
	tell(tb, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
	tb.run(chromedp.EmulateViewport(1100, 900))
	return tb
}

// tell gives the browser a command of its protocol.
func tell[P, R any](tb *tab, command cdp.Command[P, R], params P) {
	tb.t.Helper()
	if _, err := chromedp.Call(tb.ctx, command, params); err != nil {
		tb.t.Fatal(err)
	}
}

// ask runs an action that gives something.
func ask[T any](tb *tab, action chromedp.Action[T]) T {
	tb.t.Helper()
	ctx, end := context.WithTimeout(tb.ctx, patience)
	defer end()
	answer, err := chromedp.Run(ctx, action)
	if err != nil {
		tb.t.Fatal(err)
	}
	return answer
}

// listen keeps what a page complains of: what its policy blocked, and what failed. That a page is
// answered with an error is what some tests ask for.
func (tb *tab) listen(event any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		tb.errors = append(tb.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			tb.errors = append(tb.errors, fmt.Sprint("console.error of ", len(e.Args)))
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError && !strings.Contains(e.Entry.Text, "the server responded with a status of 4") && !strings.Contains(e.Entry.URL, "favicon") {
			tb.errors = append(tb.errors, e.Entry.Text)
		}
	}
}

func (tb *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, end := context.WithTimeout(tb.ctx, patience)
	defer end()
	if err := chromedp.Do(ctx, actions...); err != nil {
		tb.t.Fatal(err)
	}
}

func (tb *tab) open(url string) {
	tb.t.Helper()
	tb.run(chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("main")))
}

// press clicks a button that leads to another page, and waits for what is on that.
func (tb *tab) press(button, then chromedp.CSS) {
	tb.t.Helper()
	tb.run(chromedp.Click(button), chromedp.WaitVisible(then))
}

// text is what stands in the page.
func (tb *tab) text() string {
	tb.t.Helper()
	return ask(tb, chromedp.Text(chromedp.CSS("main")))
}

// checked reports whether a box is.
func (tb *tab) checked(box chromedp.CSS) bool {
	tb.t.Helper()
	return ask(tb, chromedp.Evaluate[bool]("document.querySelector("+quoted(string(box))+").checked"))
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // texts can be written
		panic(err)
	}
	return string(b)
}

// quiet fails the test if the console said anything.
func (tb *tab) quiet() {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, e := range tb.errors {
		tb.t.Errorf("the console says: %s", e)
	}
}

// A violation is what axe found.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// violations are all that axe finds on the page before it, in the colours of day and of night.
func (tb *tab) violations() (all []violation) {
	tb.t.Helper()
	ask(tb, chromedp.Evaluate[string](axe+"\n;typeof axe"))
	for scheme, rules := range map[string]string{"light": "{}", "dark": `{runOnly: ["color-contrast"]}`} {
		tell(tb, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		all = append(all, ask(tb, chromedp.Evaluate[[]violation](`axe.run(document, `+rules+`).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help,
			Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`, chromedp.EvalAwaitPromise))...)
	}
	tell(tb, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	return all
}

// screenshot keeps how the page looks, below build/screenshots.
func (tb *tab) screenshot(name string) {
	tb.t.Helper()
	png := ask(tb, chromedp.FullScreenshot(100))
	folder := filepath.Join("..", "..", "build", "screenshots")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		tb.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		tb.t.Fatal(err)
	}
}

// lang is the language that the page says it speaks.
func (tb *tab) lang() string {
	tb.t.Helper()
	return ask(tb, chromedp.Evaluate[string]("document.documentElement.lang"))
}

// speak makes the browser ask for pages in a language.
func (tb *tab) speak(lang string) {
	tb.t.Helper()
	tell(tb, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": lang}})
}
