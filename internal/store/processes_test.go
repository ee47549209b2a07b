package store_test

import (
	"testing"
	"time"

	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestProcessesCountThoseThatWereSeenLately(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		beat := func(id byte, at time.Time) int {
			t.Helper()
			live, err := s.Beat(t.Context(), store.ProcessID{id}, at, 15*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			return live
		}
		steps := []struct {
			why  string
			id   byte
			at   time.Duration
			want int
		}{
			{"the first is alone", 1, 0, 1},
			{"a second joins", 2, time.Second, 2},
			{"one that beats again is counted once", 1, 10 * time.Second, 2},
			{"one that is silent for too long is forgotten", 1, 17 * time.Second, 1},
			{"it may come back", 2, 18 * time.Second, 2},
		}
		for _, step := range steps {
			if got := beat(step.id, now.Add(step.at)); got != step.want {
				t.Errorf("%s: %d live, want %d", step.why, got, step.want)
			}
		}
		if err := s.Leave(t.Context(), store.ProcessID{1}); err != nil {
			t.Fatal(err)
		}
		if got := beat(2, now.Add(19*time.Second)); got != 1 {
			t.Errorf("after the other left: %d live, want 1", got)
		}
	})
}
