package store

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/testkit"
)

// A row that another verb has locked is not somebody else's to send: whoever passed over it would
// acknowledge its entry, and nobody would claim it.
func TestAClaimWaitsForARowThatIsLocked(t *testing.T) {
	s, err := Open(t.Context(), Settings{URL: testkit.Postgres(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	now := time.Now().UTC().Truncate(time.Microsecond)
	a := filler()
	a.NewAddresses = []tidings.Address{{ID: tidings.NewAddressID(now), UserID: "u_1", Channel: tidings.SMS, Value: "+15550123001",
		Status: tidings.AddressActive, RegisteredAt: now}}
	a.User = &tidings.User{ID: "u_1", CreatedAt: now, UpdatedAt: now}
	a.Deliveries = []NewDelivery{{Lane: "sms.bulk", Address: a.NewAddresses[0].ID, Status: tidings.Queued, DueAt: now}}
	accepted, err := s.Accept(t.Context(), Normal, []Acceptance{a})
	if err != nil {
		t.Fatal(err)
	}
	id := accepted[0].Deliveries[0]

	locked, release, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() { // such as a cancel, or a receipt
		over <- s.write(t.Context(), Normal, func(tx *tx) error {
			if err := tx.lock("delivery_lock", 1, func(int) []any { return keyArgs(id) }); err != nil {
				return err
			}
			close(locked)
			<-release
			return nil
		})
	}()
	<-locked
	claimed := make(chan int, 1)
	go func() {
		got, err := s.Claim(t.Context(), Normal, ClaimRequest{Lane: "sms.bulk", IDs: []tidings.DeliveryID{id}, Now: now, Lease: time.Minute})
		if err != nil {
			t.Error(err)
		}
		claimed <- len(got)
	}()
	for waits := 0; waits == 0 && len(claimed) == 0; {
		err := s.read(t.Context(), func(tx *tx) error {
			const waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
			return tx.conn.QueryRowContext(tx.ctx, waiting).Scan(&waits)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	if n := <-claimed; n != 1 {
		t.Errorf("%d were claimed", n)
	}
}
