package simulator

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestALedgerIsReadUpToAnUnfinishedLine(t *testing.T) {
	var tape Tape
	l := ledger{to: &tape}
	for _, ref := range []string{"a", "b"} {
		if err := l.write(Entry{At: time.Unix(1, 0).UTC(), Ref: ref, Text: "two\nlines"}); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(tape.buf.String(), "\n"); lines != 2 {
		t.Errorf("two entries are %d lines", lines)
	}
	_, _ = tape.Write([]byte(`{"at":"1970`))
	all, err := tape.Entries()
	if err != nil || len(all) != 2 || all[1].Ref != "b" || all[1].Text != "two\nlines" {
		t.Errorf("%+v, %v", all, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWhatCannotBeWrittenDownIsNotAccepted(t *testing.T) {
	d := &desk{typ: "apns", sim: &Simulator{ledger: ledger{to: fullDisk{}}}}
	if err := d.accept(Entry{}); err == nil {
		t.Error("accepted")
	}
	if got := d.counts(); got.Accepts != 0 {
		t.Errorf("%+v", got)
	}
}
