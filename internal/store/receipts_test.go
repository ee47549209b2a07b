package store_test

import (
	"cmp"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

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
		{why: "that it came too late is an expiry", after: []tidings.ReceiptStatus{tidings.ReceiptFailed}, outcome: tidings.OutcomeExpired,
			result: accepted, status: tidings.Expired, reason: tidings.ReasonExpired},
		{why: "that it came too late before our own record is not overwritten by it", before: []tidings.ReceiptStatus{tidings.ReceiptFailed}, outcome: tidings.OutcomeExpired,
			result: accepted, status: tidings.Expired, reason: tidings.ReasonExpired},
		{why: "delivered wins over an expiry that came first", after: []tidings.ReceiptStatus{tidings.ReceiptFailed, tidings.ReceiptDelivered}, outcome: tidings.OutcomeExpired,
			result: accepted, status: tidings.Delivered},
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

// Such receipts come before their claim can be seen, or after a crash of the process that called:
// no record will ever look for them. Those that bear no reference are told apart by their delivery.
func TestAStrayThatNamesItsDeliveryIsMatchedByTheSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		before, named, numbered := w.acceptance(start(), 1), w.queued(start()), w.queued(start())
		early := tidings.DeliveryOf(before.Notification.ID, 0)
		news := func(id tidings.DeliveryID, attempt int) tidings.Receipt {
			return tidings.Receipt{Provider: "apns", Delivery: id, Attempt: attempt, Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()}
		}
		forged := news(named, 9)
		forged.Ref = "forged"
		if strays := w.receipts(news(early, 1), news(named, 0), news(numbered, 2), forged); strays != 4 {
			t.Fatalf("%d strays", strays)
		}
		w.accept(before)
		w.claim(start(), early, named, numbered)
		for range 2 { // the second finds nothing new
			_, err := s.Expire(t.Context(), start(), 10)
			w.must(err)
			w.expect(early, tidings.Delivered, "")
			w.expect(named, tidings.Delivered, "")
			w.expect(numbered, tidings.Sending, "") // its second attempt is still to come
		}
	})
}
