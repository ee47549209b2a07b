package store_test

import (
	"math"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestProcessesCountThoseThatWereSeenLately(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		beat := func(id byte, at time.Time) int {
			t.Helper()
			live, err := s.Beat(t.Context(), store.Beat{Process: store.ProcessID{id}, Now: at, Silent: 15 * time.Second})
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

func TestTheDrainOfALaneIsThatOfAllProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		for _, step := range []struct {
			why      string
			id       byte
			at       time.Duration
			finished map[tidings.Lane]int
			want     float64 // of push.bulk
		}{
			{"nothing yet", 1, 0, nil, 0},
			{"the first seconds count as if they were a whole span", 1, time.Second, map[tidings.Lane]int{"push.bulk": 50, "sms.bulk": 7}, 10},
			{"another process adds to it", 2, 2 * time.Second, map[tidings.Lane]int{"push.bulk": 50}, 20},
			{"the mean since the first", 1, 20 * time.Second, map[tidings.Lane]int{"push.bulk": 100}, 10},
			{"one that is gone has finished what it has", 2, 40 * time.Second, nil, 5},
			{"the last minute counts", 2, 62 * time.Second, nil, 100.0 / 60},
			{"what is long ago does not", 1, 5 * time.Minute, nil, 0},
			{"a lane that rested is not new", 1, 6 * time.Minute, map[tidings.Lane]int{"push.bulk": 60}, 1},
			{"until it is forgotten", 1, 20 * time.Minute, map[tidings.Lane]int{"push.bulk": 60}, 12},
		} {
			at := now.Add(step.at)
			if _, err := s.Beat(t.Context(), store.Beat{Process: store.ProcessID{step.id}, Now: at, Silent: 15 * time.Second, Finished: step.finished}); err != nil {
				t.Fatal(err)
			}
			drain, err := s.Drain(t.Context(), at)
			if err != nil || math.Abs(drain["push.bulk"]-step.want) > 0.001 {
				t.Errorf("%s: %v, %v; want %v", step.why, drain, err, step.want)
			}
		}
	})
}
