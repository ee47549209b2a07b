package store_test

import (
	"cmp"
	"slices"
	"sync"
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

func TestReceipts(t *testing.T) {
	now := start()
	later := now.Add(time.Minute)
	accepted := func(c store.Claimed) store.Result { return result(c, tidings.OK, tidings.Sent, now) }
	cases := []struct {
		why      string
		before   []tidings.ReceiptStatus // they come before the Record
		result   func(c store.Claimed) store.Result
		after    []tidings.ReceiptStatus
		outcome  tidings.Outcome // of refusals; none: the address is gone
		status   tidings.Status
		reason   tidings.Reason
		attempts int
	}{
		{why: "delivered after sent", result: accepted, after: []tidings.ReceiptStatus{tidings.ReceiptDelivered}, status: tidings.Delivered},
		{why: "sent after delivered changes nothing", result: accepted,
			after: []tidings.ReceiptStatus{tidings.ReceiptDelivered, tidings.ReceiptSent}, status: tidings.Delivered},
		{why: "delivered before our own record", before: []tidings.ReceiptStatus{tidings.ReceiptDelivered}, result: accepted, status: tidings.Delivered},
		{why: "a bounce before our own record is not overwritten by it", before: []tidings.ReceiptStatus{tidings.ReceiptBounced},
			result: accepted, status: tidings.Bounced, reason: tidings.ReasonRecipientDead},
		{why: "a bounce after sent", result: accepted, after: []tidings.ReceiptStatus{tidings.ReceiptBounced},
			status: tidings.Bounced, reason: tidings.ReasonRecipientDead},
		{why: "delivered wins over a bounce that came first", result: accepted,
			after: []tidings.ReceiptStatus{tidings.ReceiptBounced, tidings.ReceiptDelivered}, status: tidings.Delivered},
		{why: "a receipt resolves an unknown outcome", after: []tidings.ReceiptStatus{tidings.ReceiptAccepted}, status: tidings.Sent,
			result: func(c store.Claimed) store.Result { return result(c, tidings.OutcomeUnknown, tidings.Unknown, now) }},
		{why: "a refusal resolves an unknown outcome", after: []tidings.ReceiptStatus{tidings.ReceiptFailed}, status: tidings.Failed, reason: tidings.ReasonRecipientDead,
			result: func(c store.Claimed) store.Result { return result(c, tidings.OutcomeUnknown, tidings.Unknown, now) }},
		{why: "that the person said stop suppresses", after: []tidings.ReceiptStatus{tidings.ReceiptFailed}, outcome: tidings.RecipientOptout,
			result: accepted, status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel},
		{why: "a stop before our own record is not overwritten by it", before: []tidings.ReceiptStatus{tidings.ReceiptFailed}, outcome: tidings.RecipientOptout,
			result: accepted, status: tidings.Suppressed, reason: tidings.ReasonOptedOutChannel},
		{why: "opened does not change the status", result: accepted, after: []tidings.ReceiptStatus{tidings.ReceiptOpened, tidings.ReceiptClicked}, status: tidings.Sent},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				claimed := w.sending(now)
				say := func(list []tidings.ReceiptStatus) {
					for _, status := range list {
						r := receipt(claimed, status, later)
						r.Outcome = cmp.Or(c.outcome, tidings.RecipientDead)
						if strays := w.receipts(r, r); strays != 0 {
							t.Fatalf("%d strays", strays)
						}
					}
				}
				say(c.before)
				w.record(c.result(claimed))
				say(c.after)
				d := w.expect(claimed.Delivery.ID, c.status, c.reason)
				if want := len(c.before) + len(c.after); len(d.Receipts) != want {
					t.Fatalf("%d receipts kept, want %d", len(d.Receipts), want)
				}
				for _, r := range c.after {
					if r == tidings.ReceiptOpened && !d.OpenedAt.Equal(later) || r == tidings.ReceiptClicked && !d.ClickedAt.Equal(later) {
						t.Fatalf("engagement %+v", d.Delivery)
					}
				}
			})
		}
	})
}

func TestARefusalOfAnOlderAttemptDoesNotEndANewerOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		first := w.sending(start())
		w.record(result(first, tidings.OutcomeUnknown, tidings.Parked, start()))
		later := start().Add(2 * time.Minute)
		if ids, err := s.Due(t.Context(), bulk, later, 10); err != nil || len(ids) != 1 {
			t.Fatal(ids, err)
		}
		second := w.claim(later, first.Delivery.ID)[0]
		w.receipts(receipt(first, tidings.ReceiptFailed, later))
		w.expect(first.Delivery.ID, tidings.Sending, "")
		w.record(result(second, tidings.OK, tidings.Sent, later))
		w.expect(first.Delivery.ID, tidings.Sent, "")
		w.receipts(receipt(second, tidings.ReceiptBounced, later))
		w.expect(first.Delivery.ID, tidings.Bounced, tidings.ReasonProviderRejected)
	})
}

func TestReceiptsTellEachEndTheyBringOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OK, tidings.Sent, start()))
		for _, told := range []struct {
			status tidings.ReceiptStatus
			want   []tidings.Status
		}{
			{tidings.ReceiptSent, nil},
			{tidings.ReceiptFailed, []tidings.Status{tidings.Failed}},
			{tidings.ReceiptDelivered, []tidings.Status{tidings.Delivered}},
			{tidings.ReceiptDelivered, nil},
			{tidings.ReceiptOpened, nil},
		} {
			applied, err := s.ApplyReceipts(t.Context(), []tidings.Receipt{receipt(c, told.status, start())})
			w.must(err)
			if !slices.Equal(applied.Ends, told.want) {
				t.Errorf("%s brought %v, want %v", told.status, applied.Ends, told.want)
			}
		}
	})
}

func TestReceiptsAndRecordAtOnceAreBothSeen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for range 30 {
			c := w.sending(start())
			var wg sync.WaitGroup
			wg.Go(func() { w.record(result(c, tidings.OK, tidings.Sent, start())) })
			wg.Go(func() { w.receipts(receipt(c, tidings.ReceiptDelivered, start())) })
			wg.Wait()
			w.expect(c.Delivery.ID, tidings.Delivered, "")
		}
	})
}

func TestReceiptsByReference(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		byRef := tidings.Receipt{Provider: "apns", Ref: "ref-1", Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()}
		if strays := w.receipts(byRef); strays != 1 {
			t.Fatalf("%d strays", strays)
		}
		r := result(c, tidings.OK, tidings.Sent, start())
		r.Attempt.Ref = "ref-1"
		w.record(r)
		w.expect(c.Delivery.ID, tidings.Delivered, "")

		next := w.sending(start())
		r = result(next, tidings.OK, tidings.Sent, start())
		r.Attempt.Ref = "ref-2"
		w.record(r)
		byRef.Ref = "ref-2"
		if strays := w.receipts(byRef); strays != 0 {
			t.Fatal("a receipt did not find its attempt by reference")
		}
		w.expect(next.Delivery.ID, tidings.Delivered, "")
	})
}

func TestAReceiptOfAnAttemptThatNeverWasIsAStray(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		queued := w.queued(start())
		c := w.sending(start())
		ahead := receipt(c, tidings.ReceiptDelivered, start())
		ahead.Attempt = 7
		strays := w.receipts(
			tidings.Receipt{Provider: "apns", Ref: "a", Delivery: queued, Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()}, ahead,
			tidings.Receipt{Provider: "apns", Ref: "b", Delivery: tidings.DeliveryOf(tidings.NewNotificationID(start()), 0), Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()})
		if strays != 3 {
			t.Fatalf("%d strays", strays)
		}
		w.expect(queued, tidings.Queued, "")
		w.expect(c.Delivery.ID, tidings.Sending, "")
	})
}
