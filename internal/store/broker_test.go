package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestALogIsWorkedWithOneBrokerAtATime(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const silent = 8 * time.Second
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		one, two, external := store.BrokerID{1}, store.BrokerID{2}, store.BrokerID{}
		for _, step := range []struct {
			why   string
			id    store.BrokerID
			at    time.Duration
			leave bool
			other store.BrokerID
			free  bool
		}{
			{"the first is alone", one, 0, false, store.BrokerID{}, true},
			{"another one is not let in", two, 3 * time.Second, false, one, false},
			{"nor is one that is external", external, 4 * time.Second, false, one, false},
			{"the first says so again", one, 5 * time.Second, false, store.BrokerID{}, true},
			{"being refused is not being heard of", two, 13 * time.Second, false, one, false},
			{"who is silent for too long has left", two, 14 * time.Second, false, store.BrokerID{}, true},
			{"and finds out when it comes back", one, 15 * time.Second, false, two, false},
			{"who leaves", two, 16 * time.Second, true, store.BrokerID{}, true},
			{"makes room at once", external, 16 * time.Second, false, store.BrokerID{}, true},
			{"an external one is many processes'", external, 17 * time.Second, false, store.BrokerID{}, true},
			{"and nobody else's", one, 18 * time.Second, false, external, false},
		} {
			if step.leave {
				if err := s.LeaveBroker(t.Context(), step.id); err != nil {
					t.Fatal(err)
				}
				continue
			}
			other, err := s.HoldBroker(t.Context(), store.Broker{ID: step.id, About: string('a' + step.id[0]), Seen: now.Add(step.at)}, silent)
			switch {
			case err != nil:
				t.Fatal(err)
			case step.free != (other == nil):
				t.Errorf("%s: found %+v", step.why, other)
			case other != nil && (other.ID != step.other || other.About != string('a'+step.other[0]) || other.Seen.After(now.Add(step.at))):
				t.Errorf("%s: found %+v, want %v", step.why, other, step.other)
			}
		}
	})
}

func TestOfBrokersThatComeAtOnceOneIsLetIn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var in atomic.Int32
		var all sync.WaitGroup
		for n := range 10 {
			all.Go(func() {
				other, err := s.HoldBroker(t.Context(), store.Broker{ID: store.BrokerID{1 + byte(n)}, Seen: time.Now()}, time.Minute)
				if err != nil {
					t.Error(err)
				} else if other == nil {
					in.Add(1)
				}
			})
		}
		all.Wait()
		if n := in.Load(); n != 1 {
			t.Errorf("%d of ten were let in", n)
		}
	})
}
