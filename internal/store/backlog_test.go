package store_test

import (
	"runtime"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// millisecond puts n deliveries into the log, parked and due a millisecond after the other.
func millisecond(t testing.TB, set store.Settings, n int) {
	t.Helper()
	storetest.Backlog{Lane: bulk, App: "blast", Event: "order.shipped", N: n, Due: start(), Step: time.Millisecond, Expires: start().Add(24 * time.Hour), Tries: 1}.Put(t, set)
}

func TestALargeBacklogIsFedInDueOrder(t *testing.T) {
	set := storetest.SQLite(t)
	s := storetest.Open(t, set)
	millisecond(t, set, 50_000)
	now := start().Add(time.Hour)
	var last tidings.DeliveryID
	for range 20 {
		ids, err := s.Due(t.Context(), bulk, now, 500)
		if err != nil || len(ids) != 500 {
			t.Fatal(len(ids), err)
		}
		for _, id := range ids { // numbered as they are due
			if string(id[:]) <= string(last[:]) {
				t.Fatalf("%v is fed after %v", id, last)
			}
			last = id
		}
	}
	stats, err := s.LaneStats(t.Context(), now)
	if err != nil || stats[bulk].Queued != 10_000 || stats[bulk].Due != 40_000 || !stats[bulk].Oldest.Equal(start().Add(10*time.Second)) {
		t.Errorf("stats %+v, %v", stats[bulk], err)
	}
}

// What a sweep costs while a million deliveries wait; make backlog runs it.
func BenchmarkAMillionWaiting(b *testing.B) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			set := settings(b)
			s := storetest.Open(b, set)
			millisecond(b, set, 1_000_000)
			now := start().Add(time.Hour)
			for what, run := range map[string]func() error{
				"due 500":       func() error { _, err := s.Due(b.Context(), bulk, now, 500); return err },
				"heads":         func() error { _, err := s.LaneHeads(b.Context(), now); return err },
				"stats":         func() error { _, err := s.LaneStats(b.Context(), now); return err },
				"expire":        func() error { _, err := s.Expire(b.Context(), now, 500); return err },
				"urgent commit": func() error { return s.Ping(b.Context()) },
			} {
				b.Run(what, func(b *testing.B) {
					for b.Loop() {
						if err := run(); err != nil {
							b.Fatal(err)
						}
					}
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					b.ReportMetric(float64(m.HeapInuse>>20), "MiB")
				})
			}
		})
	}
}
