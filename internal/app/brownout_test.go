package app_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tidings/internal/config"
)

// brownOutEnv asks for brown-outs of both kinds on both databases, which takes minutes.
const brownOutEnv = "TIDINGS_BROWNOUTS"

// A provider that answers 503 for ten minutes in a blast is hardly called meanwhile, and what
// waited goes out as fast as it can afterwards.
func TestABrownOutOfTenMinutesInABlastIsCaughtUpWith(t *testing.T) {
	const calls, takes = 4, 100 * time.Millisecond
	size, on, whole := 2000, onSQLite, os.Getenv(brownOutEnv) != ""
	if whole {
		size, on = 4000, onEachDatabase
	}
	narrow := func(c *config.Config) {
		narrowProvider(c, "apns", calls)
		c.Brake.Events = 0 // they are all for one user
	}
	slow := fmt.Sprintf(`{"provider":"apns","do":{"delay":%q}}`, takes)
	for _, down := range []struct {
		name, rule string
		whole      bool // every call fails
	}{
		{"down", `{"provider":"apns","do":{"status":503,"reason":"ServiceUnavailable","delay":"100ms"}}`, true},
		{"half down", `{"provider":"apns","share":0.5,"do":{"status":503,"reason":"ServiceUnavailable","delay":"100ms"}}`, false},
	}[:map[bool]int{false: 1, true: 2}[whole]] {
		t.Run(down.name, func(t *testing.T) {
			on(t, narrow, func(t *testing.T, w *world) {
				w.device("u_1", 1)
				w.faults("[" + down.rule + "," + slow + "]")
				for range size / 500 {
					w.batch(500)
				}
				time.Sleep(10 * time.Minute)
				during := w.sim.Stats()["apns"].Requests
				if down.whole && during > 10+60 { // the first few, and a probe every ten seconds
					t.Errorf("%d calls of a provider that is down", during)
				}
				w.faults("[" + slow + "]")
				depth, begin := size-w.accepted(), time.Now()
				w.untilAccepted(size)
				took, best := time.Since(begin), time.Duration(depth)*takes/calls
				total := int(w.sim.Stats()["apns"].Requests)
				t.Logf("%d calls in ten minutes; %d were left, and caught up with in %v, at best %v; %d calls in all, %d of them extra",
					during, depth, took, best, total, total-size)
				if took > best*12/10 {
					t.Errorf("caught up with %d in %v, at best %v", depth, took, best)
				}
				if extra := total - size; extra*10 > total {
					t.Errorf("%d of %d calls were extra", extra, total)
				}
				w.onceEach(size)
				if counted := w.attempts(); counted != total { // what was put off while the breaker was open cost none
					t.Errorf("%d attempts are told of, want one for each of %d calls", counted, total)
				}
			})
		})
	}
}

func narrowProvider(c *config.Config, name string, concurrency int) {
	for i := range c.Providers {
		if c.Providers[i].Name == name {
			c.Providers[i].Concurrency = concurrency
		}
	}
}

// attempts is how many attempts the service has counted.
func (w *world) attempts() (n int) {
	w.t.Helper()
	for line := range strings.Lines(w.page("/metrics")) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(series, "tidings_attempts_total{") {
			continue
		}
		count, err := strconv.ParseFloat(value, 64)
		if err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		n += int(count)
	}
	return n
}

// page is what a path shows that needs no key.
func (w *world) page(path string) string {
	w.t.Helper()
	transport := &http.Transport{DialContext: w.net.Dial}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get("http://" + serviceAddress + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %d, %v", path, res.StatusCode, err)
	}
	return string(text)
}
