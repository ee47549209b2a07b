package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

const (
	benchUsers = 2000
	benchGroup = 500 // notifications an Accept
	benchClaim = 100 // deliveries a Claim and a Record
)

// onEngines runs a benchmark on both engines; the time of a row is in µs of this process's CPU,
// which other work on the machine does not change, beside the usual wall clock.
func onEngines(b *testing.B, bench func(b *testing.B, s *store.Store, addresses []tidings.Address)) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			s := storetest.Open(b, settings(b))
			addresses := benchAddresses(b, s)
			b.ReportAllocs()
			b.ResetTimer()
			cpu := cpuTime(b)
			bench(b, s, addresses)
			b.StopTimer()
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchAddresses(b *testing.B, s *store.Store) []tidings.Address {
	var group []store.Acceptance
	var out []tidings.Address
	for i := range benchUsers {
		now := start().Add(time.Duration(i) * time.Millisecond)
		a := tidings.Address{ID: tidings.NewAddressID(now), UserID: fmt.Sprintf("u_%06d", i), Channel: tidings.Push, Provider: "apns", Value: fmt.Sprintf("%064d", i)}
		group = append(group, store.Acceptance{NewAddresses: []tidings.Address{a}, Notification: benchNotification(now, a.UserID)})
		out = append(out, a)
	}
	if _, err := s.Accept(b.Context(), store.Background, group); err != nil {
		b.Fatal(err)
	}
	return out
}

func benchNotification(now time.Time, user string) tidings.Notification {
	return tidings.Notification{ID: tidings.NewNotificationID(now), App: "shop", Type: "order.shipped", UserID: user, Category: "orders", CatalogVersion: 3,
		Data:       json.RawMessage(`{"order":"4711","carrier":"UPS","url":"https://shop.example.test/orders/4711"}`),
		Decisions:  []tidings.Decision{{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: 1, At: now}},
		AcceptedAt: now, ExpiresAt: now.Add(24 * time.Hour)}
}

// benchAccept writes n notifications with one queued delivery each.
func benchAccept(b *testing.B, s *store.Store, addresses []tidings.Address, n int) []tidings.DeliveryID {
	ids := make([]tidings.DeliveryID, 0, n)
	for i := 0; i < n; i += benchGroup {
		group := make([]store.Acceptance, min(benchGroup, n-i))
		for j := range group {
			a := &addresses[(i+j)%len(addresses)]
			now := start().Add(time.Hour + time.Duration(i+j)*time.Microsecond)
			group[j] = store.Acceptance{Notification: benchNotification(now, a.UserID),
				Deliveries: []store.NewDelivery{{Lane: bulk, Address: a.ID, Status: tidings.Queued, DueAt: now}}}
		}
		out, err := s.Accept(context.Background(), store.Background, group)
		if err != nil {
			b.Fatal(err)
		}
		for _, a := range out {
			ids = append(ids, a.Deliveries...)
		}
	}
	return ids
}

func BenchmarkAccept(b *testing.B) {
	onEngines(b, func(b *testing.B, s *store.Store, addresses []tidings.Address) { benchAccept(b, s, addresses, b.N) })
}

func BenchmarkClaimRecord(b *testing.B) {
	onEngines(b, func(b *testing.B, s *store.Store, addresses []tidings.Address) {
		b.StopTimer()
		ids := benchAccept(b, s, addresses, b.N)
		b.StartTimer()
		cpu := cpuTime(b)
		for i := 0; i < len(ids); i += benchClaim {
			benchClaimRecord(b, s, ids[i:min(i+benchClaim, len(ids))])
		}
		b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "claim-record-cpu-µs/op")
	})
}

func benchClaimRecord(b *testing.B, s *store.Store, ids []tidings.DeliveryID) {
	now := start().Add(2 * time.Hour)
	claims, err := s.Claim(context.Background(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: ids, Now: now, Lease: time.Minute})
	if err != nil || len(claims) != len(ids) {
		b.Fatalf("claimed %d of %d: %v", len(claims), len(ids), err)
	}
	results := make([]store.Result, len(claims))
	for i, c := range claims {
		results[i] = result(c, tidings.OK, tidings.Sent, now)
		results[i].Attempt.Ref, results[i].Attempt.HTTPStatus = c.Delivery.ID.UUID(), 200
	}
	if _, err := s.Record(context.Background(), store.Normal, results); err != nil {
		b.Fatal(err)
	}
}
