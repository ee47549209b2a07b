package workers

import (
	"math"
	"testing"
	"time"
)

func TestBreakerLeavesAProviderAloneAfterFailuresInARow(t *testing.T) {
	rule := Breaker{Failures: 3, Window: 30 * time.Second, OpenFor: 10 * time.Second}
	const closed, open, half = 0, 2, 1
	type step struct {
		at   time.Duration
		call string // ok, fail; with ? the call is only begun, with = one that was begun ends
		free int
		want int
	}
	all := math.MaxInt
	tests := []struct {
		why   string
		steps []step
	}{
		{"failures below the limit are weather", []step{{0, "fail", all, closed}, {1, "fail", all, closed}}},
		{"the last of the row opens it", []step{{0, "fail", all, closed}, {1, "fail", all, closed}, {2, "fail", 0, open}}},
		{"a success between ends the row", []step{{0, "fail", all, closed}, {1, "fail", all, closed}, {2, "ok", all, closed}, {3, "fail", all, closed}}},
		{"old failures do not count", []step{{0, "fail", all, closed}, {29, "fail", all, closed}, {30, "fail", all, closed}}},
		{"after its pause it lets probes through", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}, {9, "", 0, open}, {10, "", probes, half}}},
		{"only so many probes at once", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open},
			{10, "?", 2, half}, {10, "?", 1, half}, {10, "?", 0, half}}},
		{"a probe that succeeds closes it", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}, {10, "ok", all, closed}, {11, "fail", all, closed}}},
		{"a probe that fails opens it again", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}, {10, "fail", 0, open}, {19, "", 0, open}, {20, "", probes, half}}},
		{"a probe given back is free for another", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}, {10, "?", 2, half}, {11, "back", probes, half}}},
		{"a success that began before it opened closes nothing", []step{{0, "fail", all, closed}, {0, "fail", all, closed}, {0, "fail", 0, open}, {1, "late ok", 0, open}}},
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
	case "?":
		b.take()
	case "back":
		b.giveBack(true)
	case "late ok":
		b.record(false, false, now)
	}
}
