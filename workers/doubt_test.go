package workers

import (
	"testing"
	"time"
)

func TestWhatAProviderSaysOfAddressesIsDoubtedWhenItIsUnusual(t *testing.T) {
	// A phase is minutes of so many answers each, of which some, spread evenly, call the address bad.
	type phase struct{ minutes, bad, all int }
	tests := []struct {
		why    string
		phases []phase
		doubt  bool
	}{
		{"one in a hundred is ordinary", []phase{{30, 1, 100}}, false},
		{"few answers prove nothing: all twenty are bad", []phase{{1, 20, 20}}, false},
		{"the twenty-first is too much", []phase{{1, 21, 21}}, true},
		{"spread over the span too", []phase{{7, 3, 3}}, true},
		{"and over a longer time it is not", []phase{{30, 1, 2}}, false},
		{"many, but below a fifth of all", []phase{{5, 20, 101}}, false},
		{"above a fifth", []phase{{5, 21, 100}}, true},
		{"a wrong environment after good days", []phase{{600, 1, 100}, {1, 100, 100}}, true},
		{"a fifth where a tenth is usual is no jump", []phase{{600, 10, 100}, {10, 22, 100}}, false},
		{"but half is", []phase{{600, 10, 100}, {10, 50, 100}}, true},
		{"what is doubted does not become usual", []phase{{600, 1, 100}, {600, 90, 100}}, true},
		{"it ends with the trouble", []phase{{60, 1, 100}, {20, 100, 100}, {10, 1, 100}}, false},
		{"it ends after a quiet time", []phase{{60, 1, 100}, {5, 100, 100}, {20, 0, 0}, {1, 0, 1}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			var d doubt
			now, got := start, false
			for _, p := range tt.phases {
				for range p.minutes {
					for i := range p.all {
						got = d.heard(i*p.bad/p.all != (i+1)*p.bad/p.all, now)
					}
					now = now.Add(time.Minute)
				}
			}
			if got != tt.doubt {
				t.Errorf("doubt is %v, want %v: %+v", got, tt.doubt, d)
			}
		})
	}
}
