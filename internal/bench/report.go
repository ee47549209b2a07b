package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// A Report is what a run measured.
type Report struct {
	Cores   int      `json:"cores"`
	Rounds  int      `json:"rounds"`
	Results []Result `json:"results"`
}

// A Result is one measurement. Rates and ratios are medians over its rounds; zero members were not measured.
type Result struct {
	Name      string    `json:"name"`                         // "accept.batch"
	Item      string    `json:"item"`                         // what is counted: events, deliveries, pushes, requests
	PerSecond float64   `json:"per_second"`                   // median of Rounds
	Rounds    []float64 `json:"rounds"`                       // items a second of each
	P50       float64   `json:"p50_ms,omitzero"`              // of one request, in milliseconds
	P99       float64   `json:"p99_ms,omitzero"`              // of one request, in milliseconds
	CPU       float64   `json:"cpu_us_per_item"`              // processor time of this process
	Beside    float64   `json:"cpu_us_beside,omitzero"`       // processor time an item of the simulator's process
	Busy      float64   `json:"cores_busy"`                   // of both processes together
	Bytes     float64   `json:"disk_bytes_per_item,omitzero"` // in the log
	IdleRSS   int64     `json:"rss_idle_bytes,omitzero"`      // the service before the first item
	PeakRSS   int64     `json:"rss_peak_bytes,omitzero"`
	Against   string    `json:"against,omitzero"` // the result that Ratio compares to
	Ratio     float64   `json:"ratio,omitzero"`   // of the medians
	Elsewhere float64   `json:"cores_elsewhere"`  // of other programs on this machine
	Limit     string    `json:"limited_by"`
}

// A series gathers the rounds of one measurement.
type series struct {
	Result
	cpu, beside, busy, elsewhere []float64
	took                         []time.Duration
}

// add takes one round: items between two usages.
func (s *series) add(items int, from, to usage) {
	n, span := float64(max(items, 1)), to.at.Sub(from.at).Seconds()
	s.Rounds = append(s.Rounds, n/span)
	own, beside := (to.own - from.own).Seconds(), (to.beside - from.beside).Seconds()
	s.cpu = append(s.cpu, own/n*1e6)
	s.beside = append(s.beside, beside/n*1e6)
	s.busy = append(s.busy, (own+beside)/span)
	s.elsewhere = append(s.elsewhere, max(0, (to.machine-from.machine).Seconds()-own-beside)/span)
}

// result closes the series. compared may be nil.
func (s *series) result(compared *Result) Result {
	r := s.Result
	r.PerSecond, r.CPU, r.Beside, r.Busy = median(r.Rounds), median(s.cpu), median(s.beside), median(s.busy)
	r.Elsewhere = median(s.elsewhere)
	if len(s.took) > 0 {
		r.P50, r.P99 = milliseconds(quantile(s.took, 0.5)), milliseconds(quantile(s.took, 0.99))
	}
	if compared != nil && compared.PerSecond > 0 {
		r.Against, r.Ratio = compared.Name, r.PerSecond/compared.PerSecond
	}
	r.Limit = limit(r.Busy, r.Elsewhere)
	return r
}

// busyShare is from where on the processor counts as the limit.
const busyShare = 0.85

// limit says what a rate is limited by, as far as the processor time tells.
func limit(busy, elsewhere float64) string {
	cores := float64(runtime.GOMAXPROCS(0))
	switch {
	case busy >= busyShare*cores:
		return fmt.Sprintf("the processor: %.1f of %.0f cores busy", busy, cores)
	case busy+elsewhere >= busyShare*cores:
		return fmt.Sprintf("other programs: %.1f of %.0f cores busy here, %.1f elsewhere", busy, cores, elsewhere)
	}
	return fmt.Sprintf("waiting for commits and answers: %.1f of %.0f cores busy", busy, cores)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (r Report) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r Report) writeTable(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "measurement\ta second\tp50 ms\tp99 ms\tCPU µs\tbeside µs\tdisk B\tRSS idle/peak MiB\tratio\tlimited by")
	for _, s := range r.Results {
		fmt.Fprintf(w, "%s\t%.0f %s\t%s\t%s\t%.1f\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.PerSecond, s.Item, number2(s.P50), number2(s.P99),
			s.CPU, number2(s.Beside), number2(s.Bytes), s.rss(), s.ratio(), s.Limit)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Medians of %d rounds on %d cores, load included. CPU and disk are for one item; beside is the simulator's process.\n", r.Rounds, r.Cores)
	return err
}

func number2(f float64) string {
	if f == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", f)
}

func (r *Result) rss() string {
	if r.PeakRSS == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", r.IdleRSS>>20, r.PeakRSS>>20)
}

func (r *Result) ratio() string {
	if r.Against == "" {
		return "-"
	}
	return fmt.Sprintf("%.2f of %s", r.Ratio, r.Against)
}
