package workers

import "testing"

func TestALaneHoldsSecondsOfItsDrain(t *testing.T) {
	for _, c := range []struct {
		why  string
		pull pull
		want int
	}{
		{"nothing is known: some calls for each worker", pull{workers: 16}, 320},
		{"what drains fast is filled for seconds", pull{workers: 16, drain: 1000}, 5000},
		{"what drains slowly is kept short once that is known", pull{workers: 16, drain: 2, known: true}, 50},
		{"but every worker finds work", pull{workers: 200, drain: 2, known: true}, 200},
		{"a rate tells before anything was measured", pull{workers: 16, rate: 4}, 20},
		{"and holds against what was finished before it was set", pull{workers: 16, drain: 1000, rate: 4, known: true}, 20},
		{"the slowest rate still moves", pull{workers: 16, rate: 0.01}, 1},
	} {
		if got := c.pull.depth(); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}
