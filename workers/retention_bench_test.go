package workers

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// aDay is how many notifications the keeper has to delete while others commit.
const aDay = 1_000_000

// BenchmarkCommitsBesideRetention is how long priority commits take while nobody else writes, and
// while the detail of a day of a million is deleted; make retention runs it.
func BenchmarkCommitsBesideRetention(b *testing.B) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			set := settings(b)
			s := storetest.Open(b, set)
			old := time.Now().Add(-31 * 24 * time.Hour).UTC().Truncate(time.Millisecond)
			storetest.Backlog{Lane: "push.bulk", App: "shop", Event: "order.shipped", N: aDay, Due: old, Expires: old.Add(time.Hour)}.PutSent(b, set)
			address := commitTo(b, s)
			b.Run("alone", func(b *testing.B) { commit(b, s, address) })
			b.Run("deleting", func(b *testing.B) {
				k := newKeeper(&Workers{Settings: Settings{Store: s, Log: slog.New(slog.DiscardHandler), Config: Config{Retention: 30 * 24 * time.Hour}}})
				ctx, stop := context.WithCancel(b.Context())
				gone := make(chan int)
				go func() {
					n, _ := k.pass(ctx, tidings.NotificationID{}, time.Now(), k.w.Config.Retention, nil)
					gone <- n
				}()
				began := time.Now()
				commit(b, s, address)
				stop()
				n := <-gone
				b.ReportMetric(float64(n)/time.Since(began).Seconds(), "deleted/s")
				if n == 0 {
					b.Error("nothing was deleted")
				}
			})
		})
	}
}

// commitTo is the address of a user that is known already.
func commitTo(b *testing.B, s *store.Store) tidings.AddressID {
	b.Helper()
	a, _, err := s.RegisterAddress(b.Context(), tidings.Address{UserID: "u_1", Channel: tidings.Push, Provider: "apns", Value: "made-up"}, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return a.ID
}

// commit accepts b.N notifications of a priority lane, one a transaction, a few milliseconds apart.
func commit(b *testing.B, s *store.Store, address tidings.AddressID) {
	b.Helper()
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		now := time.Now().UTC()
		_, err := s.Accept(b.Context(), store.Urgent, []store.Acceptance{{
			Notification: tidings.Notification{ID: tidings.NewNotificationID(now), App: "shop", Type: "account.code", UserID: "u_1", Category: "security",
				CatalogVersion: 1, Data: json.RawMessage(`{"code":"made-up"}`), AcceptedAt: now, ExpiresAt: now.Add(time.Hour)},
			Deliveries: []store.NewDelivery{{Lane: "push.priority", Address: address, Status: tidings.Queued, DueAt: now}}}})
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(now))
		time.Sleep(2 * time.Millisecond)
	}
	slices.Sort(took)
	for name, part := range map[string]float64{"p50-ms": 0.5, "p99-ms": 0.99, "max-ms": 1} {
		b.ReportMetric(took[int(part*float64(len(took)-1))].Seconds()*1000, name)
	}
}
