package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets this binary be the simulator's process as well.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "simulate" {
		if err := Simulate(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestEveryMeasurementEndsWithFigures(t *testing.T) {
	var out bytes.Buffer
	o := Options{Rounds: 1, Span: 50 * time.Millisecond, Deliveries: 200, JSON: true, Simulate: []string{os.Args[0], "simulate"}}
	if err := Run(t.Context(), o, &out); err != nil {
		t.Fatal(err)
	}
	var report Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("report %s: %v", out.Bytes(), err)
	}
	var names []string
	for _, r := range report.Results {
		names = append(names, r.Name)
		if r.PerSecond <= 0 || r.CPU <= 0 || r.Busy <= 0 || r.Limit == "" || len(r.Rounds) != 1 {
			t.Errorf("%s = %+v, want figures", r.Name, r)
		}
	}
	if got, want := strings.Join(names, " "), "accept.nothing accept.single accept.nothing.many accept.single.many accept.batch accept.batch.keyed drain blast.raw blast"; got != want {
		t.Errorf("measured %s, want %s", got, want)
	}
	if last := report.Results[len(report.Results)-1]; last.Against != "blast.raw" || last.Ratio <= 0 || last.Bytes <= 0 {
		t.Errorf("blast = %+v, want it compared to the raw loop, with bytes a delivery", last)
	}
}

func TestWhatCannotBeMeasuredIsRefused(t *testing.T) {
	for _, c := range []struct {
		why string
		o   Options
	}{
		{"nobody knows this measurement", Options{Kinds: []string{"speed"}}},
		{"the blast has no simulator to push to", Options{Kinds: []string{"blast"}}},
	} {
		if err := Run(t.Context(), c.o, &bytes.Buffer{}); err == nil {
			t.Errorf("%s: no error", c.why)
		}
	}
}

func TestTheLoadNumbersItsKeysAndReadsWhatIsAnswered(t *testing.T) {
	r := newRequest("/v1/events", "id.secret", `{"dedupe_key":"`+keyMark+`"}`, 1)
	if len(r.marks) != 1 {
		t.Fatalf("found %d places for a number, want 1", len(r.marks))
	}
	number(r.text[r.marks[0]:r.marks[0]+keyWidth], 4711)
	if !strings.HasSuffix(string(r.text), `{"dedupe_key":"000000004711"}`) {
		t.Errorf("request %s", r.text)
	}
	const ok = "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}"
	const chunks = "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
	const refused = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull"
	answers := bufio.NewReader(strings.NewReader(ok + chunks + ok + refused))
	for n := range 3 {
		if err := readAnswer(answers, 202); err != nil {
			t.Errorf("answer %d: %v", n, err)
		}
	}
	if err := readAnswer(answers, 202); err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "full") {
		t.Errorf("refusal read as %v, want its status and body", err)
	}
}

func TestAQuantileIsAMeasuredValue(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	if m := median(values); m != 3 {
		t.Errorf("median = %v, want 3", m)
	}
	if values[0] != 5 {
		t.Error("median sorted the rounds, want them in the order they were measured")
	}
	if q := quantile([]float64{1, 2, 3, 4}, 0.99); q != 4 {
		t.Errorf("99th percentile of four = %v, want the largest", q)
	}
	if q := quantile([]float64(nil), 0.5); q != 0 {
		t.Errorf("median of nothing = %v, want 0", q)
	}
}
