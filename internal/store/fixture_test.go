package store_test

import (
	"crypto/rand"
	"encoding/json"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
)

const bulk = tidings.Lane("push.bulk")

// start is the instant at which every story begins.
func start() time.Time { return time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC) }

// A world is a log with a user who has two devices, and the verbs in short. Cases may share a log.
type world struct {
	*testing.T
	s       *store.Store
	user    string
	devices []tidings.Address
}

func newWorld(t *testing.T, s *store.Store) *world {
	t.Helper()
	w := &world{T: t, s: s, user: "u_" + rand.Text()}
	for range 2 {
		w.devices = append(w.devices, w.device(w.user, rand.Text()))
	}
	return w
}

func (w *world) device(user, token string) tidings.Address {
	w.Helper()
	a, _, err := w.s.RegisterAddress(w.Context(), tidings.Address{UserID: user, Channel: tidings.Push, Provider: "apns", Value: token}, start().Add(-time.Hour))
	w.must(err)
	return a
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// acceptance is one for the user's first n devices, queued now.
func (w *world) acceptance(now time.Time, n int) store.Acceptance {
	a := store.Acceptance{Notification: tidings.Notification{
		ID: tidings.NewNotificationID(now), App: "shop", Type: "order.shipped", UserID: w.user, Category: "orders", CatalogVersion: 3,
		Data: json.RawMessage(`{"order":"4711"}`), AcceptedAt: now, ExpiresAt: now.Add(24 * time.Hour),
		Decisions: []tidings.Decision{{Channel: tidings.Push, Action: tidings.ActionSend, Addresses: n, At: now}},
	}}
	for i := range n {
		a.Deliveries = append(a.Deliveries, store.NewDelivery{Lane: bulk, Address: w.devices[i].ID, Status: tidings.Queued, DueAt: now})
	}
	return a
}

func (w *world) accept(group ...store.Acceptance) []store.Accepted {
	w.Helper()
	out, err := w.s.Accept(w.Context(), store.Background, group)
	w.must(err)
	for _, a := range out {
		w.must(a.Err)
	}
	return out
}

// queued accepts one notification and gives its one delivery.
func (w *world) queued(now time.Time) tidings.DeliveryID {
	w.Helper()
	return w.accept(w.acceptance(now, 1))[0].Deliveries[0]
}

func (w *world) claim(now time.Time, ids ...tidings.DeliveryID) []store.Claimed {
	w.Helper()
	got, err := w.s.Claim(w.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: ids, Now: now, Lease: time.Minute})
	w.must(err)
	return got
}

// sending accepts one notification and claims its delivery.
func (w *world) sending(now time.Time) store.Claimed {
	w.Helper()
	got := w.claim(now, w.queued(now))
	if len(got) != 1 {
		w.Fatalf("claimed %d", len(got))
	}
	return got[0]
}

// result is what a claim came to: an attempt of one second.
func result(c store.Claimed, o tidings.Outcome, status tidings.Status, now time.Time) store.Result {
	r := store.Result{
		Attempt: tidings.Attempt{Delivery: c.Delivery.ID, Number: c.Delivery.ClaimNo, Provider: "apns", StartedAt: now, EndedAt: now.Add(time.Second), Outcome: o},
		Lane:    c.Delivery.Lane, Called: "apns", Status: status, Address: c.Address.ID,
	}
	switch status {
	case tidings.Parked, tidings.Unknown:
		r.DueAt = now.Add(time.Minute)
	case tidings.Sent:
		r.Effect.Kind = store.EffectOK
	}
	return r
}

func (w *world) record(results ...store.Result) []store.Recorded {
	w.Helper()
	got, err := w.s.Record(w.Context(), store.Normal, results)
	w.must(err)
	return got
}

func (w *world) receipts(list ...tidings.Receipt) int {
	w.Helper()
	applied, err := w.s.ApplyReceipts(w.Context(), list)
	w.must(err)
	return applied.Strays
}

func receipt(c store.Claimed, s tidings.ReceiptStatus, at time.Time) tidings.Receipt {
	return tidings.Receipt{Provider: "apns", Delivery: c.Delivery.ID, Attempt: c.Delivery.ClaimNo, Status: s, At: at, ReceivedAt: at}
}

func (w *world) trail(id tidings.DeliveryID) store.TrailDelivery {
	w.Helper()
	trail, err := w.s.Trail(w.Context(), "", tidings.NotificationOf(id))
	w.must(err)
	return trail.Deliveries[tidings.OrdinalOf(id)]
}

// expect checks the status and reason of a delivery.
func (w *world) expect(id tidings.DeliveryID, status tidings.Status, reason tidings.Reason) store.TrailDelivery {
	w.Helper()
	d := w.trail(id)
	if d.Status != status || d.Reason != reason {
		w.Fatalf("the delivery is %s %q, want %s %q", d.Status, d.Reason, status, reason)
	}
	if live := status.Live(!d.DueAt.IsZero()); live == d.DueAt.IsZero() || live == !d.FinishedAt.IsZero() {
		w.Fatalf("%s, but due %v and finished %v", status, d.DueAt, d.FinishedAt)
	}
	return d
}

func (w *world) address(id tidings.AddressID) tidings.Address {
	w.Helper()
	facts, _, err := w.s.Facts(w.Context(), []string{w.user})
	w.must(err)
	for _, a := range facts[w.user].Addresses {
		if a.ID == id {
			return a
		}
	}
	w.Fatal("the address is gone")
	return tidings.Address{}
}
