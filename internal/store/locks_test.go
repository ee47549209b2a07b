package store_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// A keeper is another transaction that has a delivery's row. Only PostgreSQL has such: SQLite's
// one writer has everything.
type keeper struct {
	*testing.T
	conn *pgx.Conn
}

// keeping gives a log on PostgreSQL and a keeper on the same one.
func keeping(t *testing.T) (*world, *keeper) {
	settings := storetest.Postgres(t)
	w := newWorld(t, storetest.Open(t, settings))
	conn, err := pgx.Connect(t.Context(), settings.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return w, &keeper{t, conn}
}

func (k *keeper) exec(statement string, args ...any) {
	k.Helper()
	if _, err := k.conn.Exec(k.Context(), statement, args...); err != nil {
		k.Fatal(err)
	}
}

// keep takes the row until release.
func (k *keeper) keep(id tidings.DeliveryID) {
	k.exec("BEGIN")
	ntf := tidings.NotificationOf(id)
	k.exec("SELECT 1 FROM deliveries WHERE ntf = $1 AND n = $2 FOR UPDATE", ntf[:], tidings.OrdinalOf(id))
}

func (k *keeper) release() { k.exec("COMMIT") }

// awaited returns once somebody waits for the keeper.
func (k *keeper) awaited() {
	k.Helper()
	waits := false
	for tries := 0; !waits; tries++ {
		if tries == 2000 {
			k.Fatal("nobody waits for the row")
		}
		const ask = "SELECT pg_sleep(0.005) IS NOT NULL, EXISTS (SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
		var slept bool
		if err := k.conn.QueryRow(k.Context(), ask).Scan(&slept, &waits); err != nil {
			k.Fatal(err)
		}
	}
}

// free reports whether nobody has the row.
func (k *keeper) free(id tidings.DeliveryID) bool {
	k.Helper()
	ntf := tidings.NotificationOf(id)
	tag, err := k.conn.Exec(k.Context(), "SELECT 1 FROM deliveries WHERE ntf = $1 AND n = $2 FOR UPDATE SKIP LOCKED", ntf[:], tidings.OrdinalOf(id))
	if err != nil {
		k.Fatal(err)
	}
	return tag.RowsAffected() == 1
}

// during runs verb, which must come to wait for the row that is kept, and meanwhile what is given.
func (k *keeper) during(id tidings.DeliveryID, verb, meanwhile func()) {
	k.Helper()
	k.keep(id)
	var wg sync.WaitGroup
	wg.Go(verb)
	k.awaited()
	meanwhile()
	k.release()
	wg.Wait()
}

func TestAStopThatComesWhileAClaimWaitsIsSeenByIt(t *testing.T) {
	w, k := keeping(t)
	id := w.queued(start())
	var got []store.Claimed
	k.during(id, func() { got = w.claim(start(), id) }, func() {
		w.must(w.s.Suppress(t.Context(), tidings.Push, w.devices[0].Value, tidings.ReasonOptedOutChannel, "support", start()))
	})
	if len(got) != 1 || got[0].Suppressed == nil {
		t.Fatalf("claimed %d, without seeing the stop that was answered before", len(got))
	}
}

func TestAClaimWaitsForARowThatSomebodyElseHas(t *testing.T) {
	w, k := keeping(t)
	id := w.queued(start())
	var got []store.Claimed
	k.during(id, func() { got = w.claim(start(), id) }, func() {})
	if len(got) != 1 {
		t.Fatal("the delivery was left behind: its entry is acknowledged, and nothing brings it again soon")
	}
}

// Verbs that touch many deliveries lock them in the order of their keys, whatever the order in
// which they are named, so that no two of them ever wait for each other.
func TestEveryVerbLocksDeliveriesInTheOrderOfTheirKeys(t *testing.T) {
	w, k := keeping(t)
	var all, named []tidings.DeliveryID // of the verb at hand: each has queued deliveries of its own
	claim := func(id tidings.DeliveryID) store.Claimed {
		return store.Claimed{Delivery: tidings.Delivery{ID: id, ClaimNo: 1, Lane: bulk}}
	}
	verbs := map[string]func(){
		"claim": func() { w.claim(start(), named...) },
		"record": func() {
			var group []store.Result
			for _, id := range named {
				group = append(group, result(claim(id), tidings.Transient, tidings.Parked, start()))
			}
			w.record(group...)
		},
		"receipts": func() {
			var list []tidings.Receipt
			for _, id := range named {
				list = append(list, receipt(claim(id), tidings.ReceiptSent, start()))
			}
			w.receipts(list...)
		},
		"give back": func() {
			var group []store.Return
			for _, id := range named {
				group = append(group, store.Return{ID: id, ClaimNo: 1, DueAt: start()})
			}
			w.must(w.s.GiveBack(t.Context(), store.Normal, group))
		},
		"resolve": func() {
			var group []store.Resolution
			for _, id := range named {
				group = append(group, store.Resolution{ID: id, ClaimNo: 1, Status: tidings.Parked, DueAt: start()})
			}
			w.must(w.s.Resolve(t.Context(), group))
		},
		"unqueue": func() { w.must(w.s.Unqueue(t.Context(), named, start(), start())) },
		"redrive": func() {
			_, err := w.s.Redrive(t.Context(), store.Redrive{IDs: named, From: tidings.Dead, Now: start()})
			w.must(err)
		},
	}
	for name, verb := range verbs {
		ids := w.accept(w.acceptance(start(), 2), w.acceptance(start(), 2))
		all = slices.Concat(ids[0].Deliveries, ids[1].Deliveries)
		slices.SortFunc(all, func(a, b tidings.DeliveryID) int { return bytes.Compare(a[:], b[:]) })
		named = []tidings.DeliveryID{all[3], all[1], all[0]}
		k.during(all[1], verb, func() {
			if before, after := k.free(all[0]), k.free(all[3]); before && name != "unqueue" || !after {
				t.Errorf("%s: waiting for the second, the first is free: %v, the last is free: %v", name, before, after)
			}
		})
	}
}

// Neither of the two sees what the other writes, so the sweep brings them together.
func TestAReceiptByReferenceAndItsRecordAtOnceMeetByTheNextSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for i := range 30 {
			c := w.sending(start())
			r := result(c, tidings.OK, tidings.Sent, start())
			r.Attempt.Ref = c.Delivery.ID.String()
			news := tidings.Receipt{Provider: "apns", Ref: r.Attempt.Ref, Status: tidings.ReceiptDelivered, At: start(), ReceivedAt: start()}
			var wg sync.WaitGroup
			wg.Go(func() { w.record(r) })
			wg.Go(func() { w.receipts(news) })
			wg.Wait()
			if _, err := s.Expire(t.Context(), start().Add(time.Duration(i)*time.Second), 10); err != nil {
				t.Fatal(err)
			}
			w.expect(c.Delivery.ID, tidings.Delivered, "")
		}
	})
}

func TestNewsThatWaitsForARowIsJudgedByWhatTheRowBecame(t *testing.T) {
	w, k := keeping(t)
	for name, news := range map[string]func(c store.Claimed){
		"a receipt": func(c store.Claimed) { w.receipts(receipt(c, tidings.ReceiptFailed, start())) },
		"a record":  func(c store.Claimed) { w.record(result(c, tidings.ContentRejected, tidings.Failed, start())) },
	} {
		c := w.sending(start())
		ntf := tidings.NotificationOf(c.Delivery.ID)
		k.during(c.Delivery.ID, func() { news(c) }, func() {
			k.exec("UPDATE deliveries SET claim_no = 2 WHERE ntf = $1", ntf[:]) // somebody else claimed it
		})
		if d := w.trail(c.Delivery.ID); d.Status != tidings.Sending {
			t.Errorf("%s of an older claim made it %s", name, d.Status)
		}
	}
}
