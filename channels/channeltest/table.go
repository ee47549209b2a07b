package channeltest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"text/tabwriter"

	"tidings"
	"tidings/channels"
	"tidings/internal/golden"
)

// faultTable compares what the provider makes of each answer with the golden table.
func (h Harness) faultTable(t *testing.T, dir string) {
	var got string
	synctest.Test(t, func(t *testing.T) {
		b := h.open(t, dir)
		defer b.close()
		got = b.classifyAll()
	})
	golden.Check(t, filepath.Join("testdata", "faults.golden"), got)
}

func (b *Bench) classifyAll() string {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "# what it answers\t\twhat we make of it")
	for _, a := range b.Answers {
		b.Rule(a.Do)
		_, err := b.Send(b.Message(0))
		name := a.Name
		if name == "" {
			name = a.Do.Reason
		}
		fmt.Fprintf(w, "%d\t%s\t%s\n", a.Do.Status, name, describe(err))
	}
	_ = w.Flush()
	return table.String()
}

func describe(err error) string {
	if err == nil {
		return string(tidings.OK)
	}
	e := channels.Classify(err)
	text := string(e.Fault)
	if e.Scope != "" {
		text += " of the " + string(e.Scope)
	}
	if e.After > 0 {
		text += ", again after " + e.After.String()
	}
	if e.Twice {
		text += ", proven by the second in 24 hours"
	}
	if !e.DeadSince.IsZero() {
		text += ", dead since " + e.DeadSince.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return text
}
