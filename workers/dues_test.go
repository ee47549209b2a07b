package workers

import (
	"testing"
	"time"
)

func TestEveryDueTimeIsKeptInMind(t *testing.T) {
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var d dues
	for _, tt := range []struct {
		ms    int
		first bool
		left  int
		why   string
	}{
		{1010, true, 1, "the only one"},
		{2010, false, 2, "a later one"},
		{2030, false, 2, "one of the same moment"},
		{1010, false, 3, "the first again, which costs a second look"},
		{507, true, 4, "an earlier one, to the millisecond"},
	} {
		if first := d.add(at(tt.ms)); first != tt.first || len(d) != tt.left {
			t.Errorf("%s: first is %v, %d are kept, want %v and %d", tt.why, first, len(d), tt.first, tt.left)
		}
	}
	for _, tt := range []struct {
		ms   int
		want bool
	}{{506, false}, {507, true}, {1009, false}, {1010, true}, {2049, true}, {2049, false}, {2050, true}, {9999, false}} {
		if got := d.take(at(tt.ms)); got != tt.want {
			t.Errorf("at %d ms something is due: %v", tt.ms, got)
		}
	}
	for ms := range 10 * maxDues {
		d.add(at(100 * ms))
	}
	if len(d) != maxDues || d.add(at(-1)) != true || len(d) != maxDues {
		t.Errorf("%d are kept, want %d", len(d), maxDues)
	}
}
