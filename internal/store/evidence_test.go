package store_test

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestAllNewsOfALostClaimIsKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, start()))
		w.record(result(c, tidings.Transient, tidings.Parked, start().Add(time.Minute)))
		w.record(result(c, tidings.OK, tidings.Sent, start().Add(2*time.Minute)))
		var outcomes []tidings.Outcome
		for _, a := range w.expect(c.Delivery.ID, tidings.Sent, "").Attempts {
			outcomes = append(outcomes, a.Outcome)
		}
		if want := []tidings.Outcome{tidings.OutcomeUnknown, tidings.Transient, tidings.OK}; !slices.Equal(outcomes, want) {
			t.Fatalf("the trail shows %v, want %v", outcomes, want)
		}
	})
}

func TestALeaseThatTwoDispatchersCloseIsClosedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		for i := range 2 {
			r := result(c, tidings.OutcomeUnknown, tidings.Parked, start().Add(time.Duration(i)*time.Second))
			r.OnlyHeld = true
			if got := w.record(r); got[0].Late != (i == 1) || got[0].Status != tidings.Parked {
				t.Fatalf("recorded %+v", got[0])
			}
		}
		if d := w.expect(c.Delivery.ID, tidings.Parked, ""); len(d.Attempts) != 1 {
			t.Fatalf("attempts %+v", d.Attempts)
		}
	})
}

// A receipt may come before its attempt is known, named by the provider's reference alone.
func TestAStrayRefusalCountsAsOneThatFoundItsAttempt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, outcome := range []tidings.Outcome{tidings.OK, tidings.OutcomeUnknown, tidings.Transient} {
			w := newWorld(t, s)
			c := w.sending(start())
			ref := rand.Text()
			at := start().Add(time.Minute)
			if n := w.receipts(tidings.Receipt{Provider: "apns", Ref: ref, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientDead, At: at, ReceivedAt: at}); n != 1 {
				t.Fatalf("%d strays", n)
			}
			r := result(c, outcome, map[tidings.Outcome]tidings.Status{tidings.OK: tidings.Sent, tidings.OutcomeUnknown: tidings.Unknown, tidings.Transient: tidings.Parked}[outcome], at)
			r.Attempt.Ref = ref
			w.record(r)
			w.expect(c.Delivery.ID, tidings.Failed, tidings.ReasonRecipientDead)
			if a := w.address(w.devices[0].ID); a.Status != tidings.AddressRetired {
				t.Fatalf("after a dead receipt for an attempt that was %s the address is %s", outcome, a.Status)
			}
		}
	})
}
