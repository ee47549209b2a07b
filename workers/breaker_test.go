package workers

import (
	"math"
	"testing"
	"time"
)

// A step is one thing that happens to a breaker, and how it stands then.
type step struct {
	at   time.Duration // in seconds
	call string        // ok, fail, rest; ? a call is begun, back: and given back, late ok: one from before it opened succeeds
	free int
	want int
}

func TestBreakerLeavesAProviderAloneAfterFailuresInARow(t *testing.T) {
	rule := Breaker{Failures: 3, Window: 30 * time.Second, OpenFor: 10 * time.Second}
	const closed, open, half = 0, 2, 1
	all := math.MaxInt
	down := []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}}
	down = down[:len(down):len(down)]
	tests := []struct {
		why   string
		steps []step
	}{
		{"failures below the limit are weather", []step{{0, "fail", all, closed}, {1, "fail", all, closed}}},
		{"the last of the row opens it", []step{{0, "fail", all, closed}, {1, "fail", all, closed}, {2, "fail", 0, open}}},
		{"a success between ends the row", []step{{0, "fail", all, closed}, {1, "fail", all, closed}, {2, "ok", all, closed}, {3, "fail", all, closed}}},
		{"old failures do not count", []step{{0, "fail", all, closed}, {29, "fail", all, closed}, {30, "fail", all, closed}}},
		{"after its pause it lets a probe through", append(down, step{9, "", 0, open}, step{10, "", 1, half})},
		{"and no other beside it", append(down, step{10, "?", 0, half}, step{15, "", 0, half})},
		{"a few probes that succeed close it", append(down, step{10, "ok", 1, half}, step{10, "ok", 1, half}, step{10, "ok", all, closed}, step{11, "fail", all, closed})},
		{"a probe that fails opens it again", append(down, step{10, "ok", 1, half}, step{10, "ok", 1, half}, step{10, "fail", 0, open}, step{19, "", 0, open}, step{20, "", 1, half})},
		{"what probes proved before the last failure does not count", append(down, step{10, "ok", 1, half}, step{10, "ok", 1, half}, step{10, "fail", 0, open}, step{20, "ok", 1, half})},
		{"a probe given back is free for another", append(down, step{10, "?", 0, half}, step{11, "back", 1, half})},
		{"a pause that was asked for is no trouble", []step{{0, "rest", 0, closed}, {4, "", 0, closed}, {5, "", 1, closed}}},
		{"one success ends it", []step{{0, "rest", 0, closed}, {5, "ok", all, closed}}},
		{"a failure after it is trouble", []step{{0, "rest", 0, closed}, {5, "fail", 0, open}, {15, "", 1, half}}},
		{"asked while open, it is the longer of both", append(down, step{8, "rest", 0, open}, step{12, "", 0, open}, step{13, "", 1, half})},
		{"a success that began before it opened closes nothing", append(down, step{1, "late ok", 0, open})},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			start := time.Unix(1796000000, 0)
			b := &breaker{rule: rule}
			for i, s := range tt.steps {
				now := start.Add(s.at * time.Second)
				b.play(s.call, now)
				if b.free(now) != s.free || b.state(now) != s.want {
					t.Fatalf("step %d: free %d, state %d; want %d, %d", i, b.free(now), b.state(now), s.free, s.want)
				}
			}
		})
	}
}

func (b *breaker) play(call string, now time.Time) {
	switch call {
	case "ok":
		b.record(b.take(), false, now)
	case "fail":
		b.record(b.take(), true, now)
	case "rest":
		b.rest(now.Add(5*time.Second), now)
	case "?":
		b.take()
	case "back":
		b.giveBack(true)
	case "late ok":
		b.record(false, false, now)
	}
}
