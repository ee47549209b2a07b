package workers

import (
	"testing"
	"time"
)

func TestMeterLooksBackAMinute(t *testing.T) {
	var m meter
	if got := m.perSecond(start); got != 0 {
		t.Errorf("%v before anything finished", got)
	}
	m.add(120, start)
	tests := []struct {
		at   time.Duration
		want float64
		why  string
	}{
		{0, 120, "the first second is all there is"},
		{9 * time.Second, 12, "the mean is over the time since the first"},
		{59 * time.Second, 2, "the whole minute"},
		{60 * time.Second, 0, "then it is forgotten"},
		{time.Hour, 0, "a long pause clears the ring"},
	}
	for _, tt := range tests {
		if got := m.perSecond(start.Add(tt.at)); got != tt.want {
			t.Errorf("%s: after %v %v, want %v", tt.why, tt.at, got, tt.want)
		}
	}
	for s := range 120 {
		m.add(5, start.Add(2*time.Hour+time.Duration(s)*time.Second))
	}
	if got := m.perSecond(start.Add(2*time.Hour + 119*time.Second)); got != 5 {
		t.Errorf("steady five a second: %v", got)
	}
}

func TestMeterTellsWhatTheLastSecondsWereLike(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	var m meter
	for _, s := range []struct {
		why  string
		at   time.Duration
		add  int
		want float64 // of the last five seconds
	}{
		{"nothing yet", 0, 0, 0},
		{"the second under way does not count", time.Second, 10, 0},
		{"then it is all there is", 2 * time.Second, 20, 10},
		{"the mean of those there are", 3 * time.Second, 0, 15},
		{"the mean of five", 6 * time.Second, 0, 6},
		{"what is older is left out", 8 * time.Second, 0, 0},
	} {
		now := start.Add(s.at)
		m.add(s.add, now)
		if got := m.lately(now, 5); got != s.want {
			t.Errorf("%s: %v, want %v", s.why, got, s.want)
		}
	}
}
