package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"tidings/api/wire"
	"tidings/internal/faults"
)

// A Report is what came of a run.
type Report struct {
	Engine         string         `json:"engine"`
	Seed           uint64         `json:"seed"`
	Kills          int            `json:"kills"`
	Crashes        int            `json:"database_restarts"`
	Outages        int            `json:"broker_restarts"`
	Seconds        float64        `json:"seconds"`
	Repeated       int            `json:"requests_repeated"` // answered with 503, or not at all
	Figures        faults.Figures `json:"figures"`
	Recovery       Spans          `json:"recovery"`        // from the start of a killed process to its first finished call
	Closed         Spans          `json:"claims_closed"`   // from a claim whose process died to its end as unknown
	MostAmbiguous  int            `json:"most_ambiguous"`  // claims that one kill left open
	Sightings      int            `json:"sightings"`       // deliveries looked at during the run
	Violations     []string       `json:"violations"`      // at most a hundred
	ViolationsMore int            `json:"violations_more"` // those beyond
}

// Spans are durations, in milliseconds.
type Spans struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Max   float64 `json:"max_ms"`
}

// maxViolations is how many the report spells out.
const maxViolations = 100

func (t *trial) report(h faults.History, v faults.Verdict, took time.Duration) Report {
	r := Report{
		Engine: t.Engine, Seed: t.Seed, Kills: len(t.chaos.deaths), Crashes: t.chaos.crashes, Outages: t.chaos.outages,
		Seconds: took.Seconds(), Repeated: t.traffic.repeated(), Figures: v.Figures,
		Recovery: spansOf(recoveries(t.chaos.deaths)), Sightings: len(h.Sightings), Violations: []string{},
	}
	var closed []time.Duration
	closed, r.MostAmbiguous = ambiguous(h.Trails, t.chaos.deaths)
	r.Closed = spansOf(closed)
	if t.Gently && v.Figures.Unknown > 0 {
		r.Violations = append(r.Violations, fmt.Sprintf("once: %d attempts are unknown, though processes were asked to end", v.Figures.Unknown))
	}
	for _, violation := range v.Violations[:min(len(v.Violations), maxViolations)] {
		r.Violations = append(r.Violations, violation.String())
	}
	r.ViolationsMore = max(0, len(v.Violations)-maxViolations)
	return r
}

// recoveries are the times from the start of each killed process to its first finished call.
// One that was killed again before that has none.
func recoveries(deaths []death) (spans []time.Duration) {
	for n, d := range deaths {
		next := time.Time{}
		for _, later := range deaths[n+1:] {
			if later.service == d.service {
				next = later.killed
				break
			}
		}
		if at := firstCall(d); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			spans = append(spans, at.Sub(d.started))
		}
	}
	return spans
}

// firstCall is when the log of a process first tells of a call after it was started again.
func firstCall(d death) time.Time {
	file, err := os.Open(d.service.LogFile())
	if err != nil {
		return time.Time{}
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(d.logged, io.SeekStart); err != nil {
		return time.Time{}
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line struct {
			Time time.Time
			Msg  string
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "attempt" {
			return line.Time
		}
	}
	return time.Time{}
}

// ambiguous are the claims that nobody recorded: how long they stayed open, and the most that one
// death left behind.
func ambiguous(trails []wire.Trail, deaths []death) (open []time.Duration, most int) {
	left := make([]int, len(deaths)+1)
	for i := range trails {
		for _, d := range trails[i].Deliveries {
			for _, a := range d.Attempts {
				if a.Code != "lease_over" {
					continue
				}
				open = append(open, a.EndedAt.Sub(a.StartedAt.Time))
				n := slices.IndexFunc(deaths, func(d death) bool { return d.killed.After(a.StartedAt.Time) })
				if n < 0 {
					n = len(deaths)
				}
				left[n]++
			}
		}
	}
	return open, slices.Max(left)
}

func spansOf(all []time.Duration) Spans {
	if len(all) == 0 {
		return Spans{}
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[min(len(all)-1, int(share*float64(len(all))))].Microseconds()) / 1000
	}
	return Spans{Count: len(all), P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// String is the report for people.
func (r Report) String() string {
	var b strings.Builder
	line := func(what string, format string, args ...any) {
		fmt.Fprintf(&b, "%-28s "+format+"\n", append([]any{what}, args...)...)
	}
	line("engine, seed", "%s, %d", r.Engine, r.Seed)
	line("kills", "%d in %.0f s, with %d restarts of the database and %d of the broker", r.Kills, r.Seconds, r.Crashes, r.Outages)
	line("events answered", "%d, after %d requests that were repeated", r.Figures.Accepted, r.Repeated)
	line("deliveries, accepts", "%d, %d", r.Figures.Deliveries, r.Figures.Accepts)
	line("digests", "%d, of %d events", r.Figures.Digests, r.Figures.Gathered)
	line("lost", "%d", r.Figures.Lost)
	line("accepts above one", "%d where the trail shows an unknown attempt, %d where it does not", r.Figures.Doubled, r.Figures.Unexplained)
	line("unknown attempts", "%d; claims left open %d, at most %d by one kill", r.Figures.Unknown, r.Closed.Count, r.MostAmbiguous)
	line("recovery", "p50 %.0f ms, p99 %.0f ms, longest %.0f ms of %d", r.Recovery.P50, r.Recovery.P99, r.Recovery.Max, r.Recovery.Count)
	line("claims left open for", "p50 %.0f ms, p99 %.0f ms, longest %.0f ms", r.Closed.P50, r.Closed.P99, r.Closed.Max)
	line("looks during the run", "%d", r.Sightings)
	for _, v := range r.Violations {
		line("BROKEN", "%s", v)
	}
	if r.ViolationsMore > 0 {
		line("BROKEN", "and %d more", r.ViolationsMore)
	}
	return b.String()
}
