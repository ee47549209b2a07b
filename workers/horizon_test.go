package workers

import (
	"testing"
	"time"
)

func TestWhatIsLostIsToldByTheHorizonOfAClaimWaitAgo(t *testing.T) {
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	const wait = 30 * time.Second
	tests := []struct {
		why   string
		seen  map[int]int // horizon in seconds by instant in seconds
		now   int
		skew  time.Duration
		empty bool
		want  int
		ok    bool
	}{
		{"at first nothing can be told", map[int]int{0: -10}, 0, 0, false, 0, false},
		{"what was just handed out may be in good hands", map[int]int{0: -10, 20: 20}, 20, 0, false, 0, false},
		{"the horizon of a claim wait ago counts, less the grace", map[int]int{0: -10, 5: 0, 30: 25}, 30, 0, false, -15, true},
		{"the newest one that is old enough", map[int]int{0: -10, 5: 0, 30: 25}, 35, 0, false, -5, true},
		{"clocks may differ both ways", map[int]int{0: -10}, 30, 2 * time.Second, false, -19, true},
		{"an empty lane hides nothing", map[int]int{}, 100, 0, true, 95, true},
		{"a blocked head holds the horizon where it is", map[int]int{0: -10, 10: -10, 20: -10, 60: -10}, 60, 0, false, -15, true},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var s sights
			for i := range 200 {
				if h, ok := tt.seen[i]; ok {
					s.see(at(i), at(h), wait)
				}
			}
			got, ok := s.lost(at(tt.now), wait, tt.skew, tt.empty)
			if ok != tt.ok || ok && !got.Equal(at(tt.want)) {
				t.Errorf("lost before %v, %v", got.Sub(start), ok)
			}
		})
	}
}

func TestSightsForgetWhatIsNotNeeded(t *testing.T) {
	var s sights
	for i := range 1000 {
		s.see(start.Add(time.Duration(i)*5*time.Second), start, 30*time.Second)
	}
	if len(s) > 8 {
		t.Errorf("%d sights are kept", len(s))
	}
}
