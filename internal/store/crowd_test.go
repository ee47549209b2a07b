package store_test

import (
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestManyWritersOfAllClassesAtOnceAreAllServed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var wg sync.WaitGroup
		for worker := range 12 {
			wg.Go(func() {
				for i := range 10 {
					now := start().Add(time.Duration(worker*10+i) * time.Second)
					a := w.acceptance(now, 2)
					got, err := s.Accept(t.Context(), store.Class(worker%3), []store.Acceptance{a})
					if err != nil {
						t.Error(err)
						return
					}
					claims, err := s.Claim(t.Context(), store.Class(i%3), store.ClaimRequest{Lane: bulk, IDs: got[0].Deliveries, Now: now, Lease: time.Minute})
					if err != nil || len(claims) != 2 {
						t.Error(len(claims), err)
						return
					}
					if _, err := s.Record(t.Context(), store.Class(i%3), []store.Result{result(claims[1], tidings.OK, tidings.Sent, now), result(claims[0], tidings.OK, tidings.Sent, now)}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}
