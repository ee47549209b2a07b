// Command testsum reads the output of "go test -json" and says in few lines what came of it.
//
// It promises to fail when a test failed or was skipped, or when no test ran on one of the
// two databases; it never hides the output of a test that failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// engines are the parts of test names that say on which database a test ran.
var engines = []string{"sqlite", "postgres"}

// An event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // instead of Package, when it is about a build
	Elapsed                       float64
}

// A tally is what was seen so far.
type tally struct {
	passed, failed, skipped int
	on                      map[string]int      // passed tests by engine
	output                  map[string][]string // of tests that have not ended
}

func main() {
	t := tally{on: map[string]int{}, output: map[string][]string{}}
	if err := t.read(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if complaints := t.complaints(); len(complaints) > 0 {
		fmt.Println(strings.Join(complaints, "\n"))
		os.Exit(1)
	}
}

func (t *tally) read(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			fmt.Fprintln(out, lines.Text()) // of make, not of a test
			continue
		}
		t.take(e, out)
	}
	return lines.Err()
}

func (t *tally) take(e event, out io.Writer) {
	key := strings.TrimSpace(e.Package + e.ImportPath + " " + e.Test)
	switch e.Action {
	case "output", "build-output":
		t.output[key] = append(t.output[key], e.Output)
		return
	case "build-fail", "fail":
		t.failed++
		fmt.Fprintf(out, "--- FAIL %s\n%s", key, strings.Join(t.output[key], ""))
	case "skip":
		if e.Test != "" { // a package without tests is skipped too
			t.skipped++
			fmt.Fprintf(out, "--- SKIP %s\n%s", key, strings.Join(t.output[key], ""))
		}
	case "pass":
		t.pass(e, out)
	default:
		return
	}
	delete(t.output, key)
}

func (t *tally) pass(e event, out io.Writer) {
	if e.Test == "" {
		fmt.Fprintf(out, "ok %6.1fs  %s\n", e.Elapsed, e.Package)
		return
	}
	t.passed++
	for _, engine := range engines {
		if strings.Contains(strings.ToLower(e.Test), engine) {
			t.on[engine]++
		}
	}
}

// complaints is why the run does not count as passed; the last line is always the sum.
func (t *tally) complaints() []string {
	var lines []string
	for _, engine := range engines {
		if t.on[engine] == 0 {
			lines = append(lines, "no test ran on "+engine)
		}
	}
	if t.failed > 0 {
		lines = append(lines, fmt.Sprintf("%d failed", t.failed))
	}
	if t.skipped > 0 {
		lines = append(lines, fmt.Sprintf("%d skipped: a test runs or fails", t.skipped))
	}
	fmt.Printf("%d tests passed, %d of them on SQLite, %d on PostgreSQL\n", t.passed, t.on["sqlite"], t.on["postgres"])
	return lines
}
