package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestRecord(t *testing.T) {
	now := start()
	cases := []struct {
		why    string
		result func(c store.Claimed) store.Result
		status tidings.Status
		reason tidings.Reason
		tries  int
	}{
		{"accepted is sent", func(c store.Claimed) store.Result {
			return result(c, tidings.OK, tidings.Sent, now)
		}, tidings.Sent, "", 1},
		{"a reason of sent is kept", func(c store.Claimed) store.Result {
			r := result(c, tidings.OK, tidings.Sent, now)
			r.Reason = tidings.ReasonSimulated
			return r
		}, tidings.Sent, tidings.ReasonSimulated, 1},
		{"a transient fault parks", func(c store.Claimed) store.Result {
			return result(c, tidings.Transient, tidings.Parked, now)
		}, tidings.Parked, "", 1},
		{"a refunded try does not count", func(c store.Claimed) store.Result {
			r := result(c, tidings.Throttled, tidings.Parked, now)
			r.Refund = true
			return r
		}, tidings.Parked, "", 0},
		{"no answer waits for a receipt", func(c store.Claimed) store.Result {
			return result(c, tidings.OutcomeUnknown, tidings.Unknown, now)
		}, tidings.Unknown, "", 1},
		{"giving up on an unknown outcome is an end", func(c store.Claimed) store.Result {
			r := result(c, tidings.OutcomeUnknown, tidings.Unknown, now)
			r.DueAt, r.Reason = time.Time{}, tidings.ReasonOutcomeUnknown
			return r
		}, tidings.Unknown, tidings.ReasonOutcomeUnknown, 1},
		{"a dead address fails", func(c store.Claimed) store.Result {
			r := result(c, tidings.RecipientDead, tidings.Failed, now)
			r.Reason = tidings.ReasonRecipientDead
			return r
		}, tidings.Failed, tidings.ReasonRecipientDead, 1},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				claimed := w.sending(now)
				got := w.record(c.result(claimed))
				if got[0].Late || got[0].Status != c.status {
					t.Fatalf("recorded %+v", got[0])
				}
				d := w.expect(claimed.Delivery.ID, c.status, c.reason)
				if d.Tries != c.tries || len(d.Attempts) != 1 || d.Attempts[0].Late {
					t.Fatalf("tries %d, attempts %+v", d.Tries, d.Attempts)
				}
			})
		}
	})
}

func TestNewsOfALostClaim(t *testing.T) {
	now := start()
	later := now.Add(2 * time.Minute)
	unknown := func(w *world, c store.Claimed) { w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now)) }
	retried := func(w *world, c store.Claimed) {
		w.record(result(c, tidings.OutcomeUnknown, tidings.Parked, now))
		if _, err := w.s.Due(w.Context(), bulk, later, 10); err != nil {
			w.Fatal(err)
		}
		w.claim(later, c.Delivery.ID)
	}
	cases := []struct {
		why    string
		lose   func(w *world, c store.Claimed)
		late   tidings.Outcome
		as     tidings.Status
		status tidings.Status
		reason tidings.Reason
	}{
		{"a late acceptance resolves an unknown outcome", unknown, tidings.OK, tidings.Sent, tidings.Sent, ""},
		{"a late acceptance ends even a newer claim", retried, tidings.OK, tidings.Sent, tidings.Sent, ""},
		{"a late failure does not touch a newer claim", retried, tidings.RecipientDead, tidings.Failed, tidings.Sending, ""},
		{"a late failure of an older attempt leaves a newer one its wait for a receipt", func(w *world, c store.Claimed) {
			retried(w, c)
			newer := result(c, tidings.OutcomeUnknown, tidings.Unknown, later)
			newer.Attempt.Number = 2
			w.record(newer)
		}, tidings.RecipientDead, tidings.Failed, tidings.Unknown, ""},
		{"no bytes had left: what waited for a receipt is retried", unknown, tidings.NotSent, tidings.Parked, tidings.Parked, ""},
		{"a late refusal for good ends the wait", unknown, tidings.RecipientDead, tidings.Failed, tidings.Failed, tidings.ReasonRecipientDead},
		{"a second unknown changes nothing", unknown, tidings.OutcomeUnknown, tidings.Parked, tidings.Unknown, ""},
		{"a late acceptance stands even after a cancel", func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OutcomeUnknown, tidings.Parked, now))
			if _, err := w.s.Cancel(w.Context(), "", c.Notification.ID, later); err != nil {
				w.Fatal(err)
			}
		}, tidings.OK, tidings.Sent, tidings.Sent, ""},
		{"a late failure does not undo a cancel", func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OutcomeUnknown, tidings.Parked, now))
			if _, err := w.s.Cancel(w.Context(), "", c.Notification.ID, later); err != nil {
				w.Fatal(err)
			}
		}, tidings.Transient, tidings.Parked, tidings.Cancelled, tidings.ReasonCancelled},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				claimed := w.sending(now)
				c.lose(w, claimed)
				before := len(w.trail(claimed.Delivery.ID).Attempts)
				r := result(claimed, c.late, c.as, later)
				if c.as == tidings.Failed {
					r.Reason = tidings.ReasonRecipientDead
				}
				if got := w.record(r); !got[0].Late || got[0].Status != c.status {
					t.Fatalf("recorded %+v", got[0])
				}
				if d := w.expect(claimed.Delivery.ID, c.status, c.reason); len(d.Attempts) != before+1 {
					t.Fatalf("the late attempt is not kept: %+v", d.Attempts)
				}
			})
		}
	})
}

func TestRecordingTwiceIsRecordingOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		r := result(c, tidings.Transient, tidings.Parked, start())
		w.record(r)
		w.record(r)
		if d := w.expect(c.Delivery.ID, tidings.Parked, ""); len(d.Attempts) != 1 || d.Tries != 1 {
			t.Fatalf("attempts %+v, tries %d", d.Attempts, d.Tries)
		}
		both := w.record(r, result(c, tidings.OK, tidings.Sent, start().Add(time.Minute)))
		if both[1].Status != tidings.Sent {
			t.Fatalf("two results of one delivery in one group: %+v", both)
		}
	})
}
