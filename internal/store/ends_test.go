package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// ends are what a log told of deliveries that ended, in words.
type ends struct {
	mu   sync.Mutex
	list []string // guarded by mu
}

func (e *ends) note(c tidings.Channel, provider string, status tidings.Status, reason tidings.Reason) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, strings.Join(strings.Fields(string(c)+" "+provider+" "+string(status)+" "+string(reason)), " "))
}

// take gives what was told since the last take.
func (e *ends) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.list
	e.list = nil
	return list
}

// eachTelling runs test on both engines, with a log that tells of ends.
func eachTelling(t *testing.T, test func(t *testing.T, s *store.Store, told *ends)) {
	t.Helper()
	for name, settings := range map[string]store.Settings{"sqlite": storetest.SQLite(t), "postgres": storetest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			told := &ends{}
			settings.Ended = told.note
			test(t, storetest.Open(t, settings), told)
		})
	}
}

// An ending is a way in which a delivery comes to an end, or to none, and what is told of it.
type ending struct {
	why  string
	do   func(w *world)
	told []string
}

func TestEachEndOfADeliveryIsToldOnce(t *testing.T) {
	eachTelling(t, func(t *testing.T, s *store.Store, told *ends) {
		for _, c := range slices.Concat(endsBySending(), endsByReceipts(), endsWithoutACall(), endsByPeople()) {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				c.do(w)
				if got := told.take(); !slices.Equal(got, c.told) {
					t.Errorf("told of %q, want %q", got, c.told)
				}
				w.expireAt(start().Add(48 * time.Hour)) // what it leaves behind is not the next one's
				told.take()
			})
		}
	})
}

// came records that a fresh claim came to a status.
func came(o tidings.Outcome, status tidings.Status, reason tidings.Reason) func(w *world) {
	return func(w *world) {
		r := result(w.sending(start()), o, status, start())
		r.Reason = reason
		w.record(r, r)
		w.record(r)
	}
}

func endsBySending() []ending {
	return []ending{
		{"accepted, and recorded three times", came(tidings.OK, tidings.Sent, ""), []string{"push apns sent"}},
		{"refused", came(tidings.ContentRejected, tidings.Failed, tidings.ReasonProviderRejected), []string{"push apns failed provider_rejected"}},
		{"the person said stop", came(tidings.RecipientOptout, tidings.Suppressed, tidings.ReasonOptedOutChannel), []string{"push apns suppressed opted_out_channel"}},
		{"too late", came(tidings.OutcomeExpired, tidings.Expired, tidings.ReasonExpired), []string{"push apns expired expired"}},
		{"tried too often", came(tidings.Transient, tidings.Dead, tidings.ReasonRetriesSpent), []string{"push apns dead retries_spent"}},
		{"to be tried again", came(tidings.Transient, tidings.Parked, ""), nil},
		{"a receipt is waited for", came(tidings.OutcomeUnknown, tidings.Unknown, ""), nil},
		{"given up", func(w *world) {
			r := result(w.sending(start()), tidings.OutcomeUnknown, tidings.Unknown, start())
			r.Reason, r.DueAt = tidings.ReasonOutcomeUnknown, time.Time{}
			w.record(r)
		}, []string{"push apns unknown outcome_unknown"}},
		{"no provider was called", func(w *world) {
			r := result(w.sending(start()), tidings.OK, tidings.Sent, start())
			r.Called, r.Reason = "", tidings.ReasonSimulated
			w.record(r)
		}, []string{"push sent simulated"}},
		{"accepted after all", func(w *world) {
			c := w.sending(start())
			w.record(result(c, tidings.Transient, tidings.Dead, start()))
			w.record(result(c, tidings.OK, tidings.Sent, start().Add(time.Second)))
		}, []string{"push apns dead", "push apns sent"}},
		{"no word came, and it is given up", func(w *world) { w.noWord(tidings.Unknown) }, []string{"push unknown"}},
		{"no word came, and it is tried again", func(w *world) { w.noWord(tidings.Parked) }, nil},
		{"no word came, and its time is over", func(w *world) { w.noWord(tidings.Expired) }, []string{"push expired"}},
		{"given back", func(w *world) {
			c := w.sending(start())
			w.must(w.s.GiveBack(w.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, Lane: bulk, ClaimNo: 1, DueAt: start()}}))
		}, nil},
	}
}

// noWord ends the wait for a receipt, twice.
func (w *world) noWord(status tidings.Status) {
	w.Helper()
	c := w.sending(start())
	w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, start()))
	r := store.Resolution{ID: c.Delivery.ID, Lane: bulk, ClaimNo: 1, Status: status}
	if status == tidings.Parked {
		r.DueAt = start().Add(time.Hour)
	}
	for range 2 {
		w.must(w.s.Resolve(w.Context(), []store.Resolution{r}))
	}
}

func endsByReceipts() []ending {
	reported := func(list ...tidings.ReceiptStatus) func(w *world) {
		return func(w *world) {
			c := w.sending(start())
			w.record(result(c, tidings.OK, tidings.Sent, start()))
			for i, s := range list {
				w.receipts(receipt(c, s, start().Add(time.Duration(i)*time.Second)))
			}
		}
	}
	return []ending{
		{"sent", reported(tidings.ReceiptSent), []string{"push apns sent"}},
		{"delivered, twice", reported(tidings.ReceiptDelivered, tidings.ReceiptDelivered), []string{"push apns sent", "push apns delivered"}},
		{"bounced", reported(tidings.ReceiptBounced), []string{"push apns sent", "push apns bounced provider_rejected"}},
		{"failed, then delivered", reported(tidings.ReceiptFailed, tidings.ReceiptDelivered),
			[]string{"push apns sent", "push apns failed provider_rejected", "push apns delivered"}},
		{"opened", reported(tidings.ReceiptOpened), []string{"push apns sent"}},
		{"before the record", func(w *world) {
			c := w.sending(start())
			w.receipts(receipt(c, tidings.ReceiptDelivered, start()))
			w.record(result(c, tidings.OK, tidings.Sent, start()))
		}, []string{"push apns delivered"}},
		{"by reference before the record", func(w *world) {
			r := result(w.sending(start()), tidings.OK, tidings.Sent, start())
			r.Attempt.Ref = r.Attempt.Delivery.String()
			w.receipts(tidings.Receipt{Provider: "apns", Ref: r.Attempt.Ref, Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()})
			w.record(r)
		}, []string{"push apns delivered"}},
		{"of an attempt that is not claimed yet", func(w *world) {
			id := w.queued(start())
			w.receipts(tidings.Receipt{Provider: "apns", Delivery: id, Attempt: 1, Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()})
			w.claim(start(), id)
			w.expireAt(start().Add(time.Minute))
		}, []string{"push apns delivered"}},
	}
}

func (w *world) expireAt(now time.Time) {
	w.Helper()
	_, err := w.s.Expire(w.Context(), now, 100)
	w.must(err)
}
