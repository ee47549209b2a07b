package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// The process that made the call is gone, and its receipt has ended the delivery.
func TestACallThatOnlyAReceiptTellsOfIsInTheTrail(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w, now := newWorld(t, s), start()
		c := w.sending(now)
		attempts := func() []tidings.Attempt {
			trail, err := s.Trail(t.Context(), "shop", c.Notification.ID)
			w.must(err)
			return trail.Deliveries[0].Attempts
		}
		w.receipts(tidings.Receipt{Provider: "twilio", Delivery: c.Delivery.ID, Attempt: 1, Status: tidings.ReceiptSent, At: now, ReceivedAt: now.Add(time.Second)},
			tidings.Receipt{Provider: "twilio", Delivery: c.Delivery.ID, Attempt: 1, Status: tidings.ReceiptDelivered, At: now, ReceivedAt: now.Add(time.Second)})
		got := attempts()
		if len(got) != 1 || got[0].Number != 1 || got[0].Outcome != tidings.OutcomeUnknown || got[0].Code != store.CodeNotRecorded || !got[0].Delivered {
			t.Errorf("told by receipts alone: %+v", got)
		}
		w.record(result(c, tidings.OK, tidings.Sent, now))
		if got = attempts(); len(got) != 1 || got[0].Outcome != tidings.OK || got[0].Late {
			t.Errorf("recorded after all: %+v", got)
		}
	})
}
