package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// BenchmarkRetention is what the sums of 200,000 deliveries cost while their detail is there, and
// what it costs to delete a chunk of them.
func BenchmarkRetention(b *testing.B) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			set := settings(b)
			s := storetest.Open(b, set)
			storetest.Backlog{Lane: bulk, App: "shop", Event: "order.shipped", N: 200_000, Due: start(), Expires: start().Add(time.Hour)}.PutSent(b, set)
			b.Run("statistics", func(b *testing.B) { benchStatistics(b, s) })
			b.Run("forget32", func(b *testing.B) { benchForget(b, s) })
		})
	}
}

func benchStatistics(b *testing.B, s *store.Store) {
	cpu := cpuTime(b)
	for b.Loop() {
		list, err := s.Statistics(b.Context(), store.StatisticsFilter{Since: startDay, Until: startDay + 1}, start())
		if err != nil || len(list) != 1 {
			b.Fatal(list, err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-cpu).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// benchForget deletes as the workers do: a page is looked at, then deleted in chunks.
func benchForget(b *testing.B, s *store.Store) {
	var ids []tidings.NotificationID
	for b.Loop() {
		if len(ids) < 32 {
			page, err := s.Old(b.Context(), store.OldPage{Before: later(), Now: later(), Limit: 500})
			if err != nil || len(page) < 32 {
				b.Fatal(len(page), err)
			}
			ids = ids[:0]
			for _, o := range page {
				ids = append(ids, o.ID)
			}
		}
		if n, err := s.Forget(b.Context(), ids[:32], later()); err != nil || n != 32 {
			b.Fatal(n, err)
		}
		ids = ids[32:]
	}
}
