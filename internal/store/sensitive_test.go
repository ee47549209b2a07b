package store_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestSensitiveDataGoesWhenNothingNeedsIt(t *testing.T) {
	now := start()
	cases := []struct {
		why  string
		end  func(w *world, ids []tidings.DeliveryID)
		gone bool
	}{
		{"a delivery is still to be sent", func(w *world, ids []tidings.DeliveryID) {
			w.record(result(w.claim(now, ids[0])[0], tidings.OK, tidings.Sent, now))
		}, false},
		{"all are sent", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.OK, tidings.Sent, now))
		}, true},
		{"one waits for a receipt", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.OutcomeUnknown, tidings.Unknown, now))
		}, false},
		{"the receipt came", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.OutcomeUnknown, tidings.Unknown, now))
			w.receipts(receipt(c[1], tidings.ReceiptDelivered, now))
		}, true},
		{"the wait was in vain", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.OutcomeUnknown, tidings.Unknown, now))
			w.must(w.s.Resolve(w.Context(), []store.Resolution{{ID: ids[1], ClaimNo: 1, Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown}}))
		}, true},
		{"it is cancelled", func(w *world, ids []tidings.DeliveryID) {
			_, err := w.s.Cancel(w.Context(), "", tidings.NotificationOf(ids[0]), now)
			w.must(err)
		}, true},
		{"it expired", func(w *world, _ []tidings.DeliveryID) {
			_, err := w.s.Expire(w.Context(), now.Add(25*time.Hour), 1000)
			w.must(err)
		}, true},
		{"one needs a person, who may try it again", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.Transient, tidings.Dead, now))
			_, err := w.s.Expire(w.Context(), now.Add(23*time.Hour), 1000)
			w.must(err)
		}, false},
		{"one needs a person, and it is too late", func(w *world, ids []tidings.DeliveryID) {
			c := w.claim(now, ids...)
			w.record(result(c[0], tidings.OK, tidings.Sent, now), result(c[1], tidings.Transient, tidings.Dead, now))
			_, err := w.s.Expire(w.Context(), now.Add(24*time.Hour), 1000)
			w.must(err)
		}, true},
		{"the check ends it", func(w *world, ids []tidings.DeliveryID) {
			_, err := w.s.Claim(w.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: ids, Now: now, Lease: time.Minute,
				Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
					return tidings.Suppressed, tidings.ReasonOptedOutAll, time.Time{}
				}})
			w.must(err)
		}, true},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				a := w.acceptance(now, 2)
				a.Notification.Sensitive = true
				ids := w.accept(a)[0].Deliveries
				if got := w.data(a.Notification.ID); !strings.HasPrefix(got, "v1:") || strings.Contains(got, "4711") {
					t.Fatalf("stored as %q", got)
				}
				c.end(w, ids)
				if got := w.data(a.Notification.ID); (got == "") != c.gone {
					t.Fatalf("the data is %q", got)
				}
			})
		}
	})
}

func (w *world) data(id tidings.NotificationID) string {
	w.Helper()
	data, err := w.s.StoredData(w.Context(), id)
	w.must(err)
	return data
}

func TestSensitiveDataIsOpenForTheSenderAndForHolds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		a.Notification.Sensitive = true
		a.Holds = []tidings.Hold{{ID: tidings.NewHoldID(start()), Notification: a.Notification.ID, Channel: tidings.Email, Until: start()}}
		c := w.claim(start(), w.accept(a)[0].Deliveries...)[0]
		_, of, err := s.DueHolds(t.Context(), start(), 1)
		w.must(err)
		if string(c.Notification.Data) != `{"order":"4711"}` || string(of[0].Data) != `{"order":"4711"}` {
			t.Fatalf("claimed %q, held %q", c.Notification.Data, of[0].Data)
		}
		w.record(result(c, tidings.OK, tidings.Sent, start()))
		if w.data(a.Notification.ID) == "" {
			t.Fatal("the data is gone while a hold waits for it")
		}
	})
}

func TestWhatLeadsToNothingKeepsNoSensitiveData(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 0)
		a.Notification.Sensitive = true
		w.accept(a)
		if got := w.data(a.Notification.ID); got != "" {
			t.Fatalf("kept %q", got)
		}
	})
}
