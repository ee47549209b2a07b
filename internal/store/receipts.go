package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tidings"
)

// ApplyReceipts folds receipts into their deliveries; one for an unknown delivery is kept as a
// stray. Engagement sets its instant only. The same news of the same attempt again changes nothing.
func (s *Store) ApplyReceipts(ctx context.Context, receipts []tidings.Receipt) (applied Applied, err error) {
	err = s.write(ctx, Normal, func(t *tx) error {
		a := applying{tx: t, category: s.category, list: slices.Clone(receipts)}
		err := a.run()
		applied = Applied{Strays: len(a.strays)}
		return err
	})
	if err != nil {
		return Applied{}, fmt.Errorf("apply receipts: %w", err)
	}
	return applied, nil
}

// Unsubscribed notes that somebody unsubscribed by a link in a delivery, and which provider had carried
// it; first is false where that was known, or the delivery is not.
func (s *Store) Unsubscribed(ctx context.Context, id tidings.DeliveryID, at time.Time) (provider string, first bool, err error) {
	err = s.write(ctx, Normal, func(t *tx) error {
		provider, first = "", false
		var err error
		first, err = t.one("engaged_unsubscribed", keyArgs(id, at.UnixMicro()), &provider)
		return err
	})
	if err != nil {
		return "", false, fmt.Errorf("note an unsubscribe: %w", err)
	}
	return provider, first, nil
}

// Applied is what receipts came to.
type Applied struct {
	Strays int // receipts for deliveries that are not known
}

// applying is one run of the transaction that applies receipts.
type applying struct {
	*tx
	category func(name string) (tidings.Category, bool)

	list   []tidings.Receipt
	strays []tidings.Receipt
	ids    []tidings.DeliveryID // of the list, in order, each once
	rows   map[tidings.DeliveryID]*receiptRow
}

// A receiptRow is what must be known of a delivery to apply receipts to it.
type receiptRow struct {
	standing
	sensitive bool
	lane      tidings.Lane
	address   tidings.AddressID
	evidence  evidence
	fresh     []tidings.Receipt
}

func (a *applying) run() error {
	steps := []func() error{a.find, a.lockRows, a.facts, a.proof, a.sort, a.keepStrays, a.keep, a.settle, a.engage, a.effects}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// find looks up by reference the deliveries of receipts that do not name theirs.
func (a *applying) find() error {
	var nameless []int
	for i := range a.list {
		if a.list[i].Delivery.IsZero() {
			nameless = append(nameless, i)
		}
	}
	err := a.each("attempt_by_ref", len(nameless), func(k int) []any {
		return []any{a.list[nameless[k]].Provider, a.list[nameless[k]].Ref}
	}, func(k int, row row) error {
		r := &a.list[nameless[k]]
		var ntf tidings.NotificationID
		var n int
		err := row.Scan(into(&ntf), &n, &r.Attempt)
		r.Delivery = tidings.DeliveryOf(ntf, n)
		return err
	})
	for i := range a.list {
		if !a.list[i].Delivery.IsZero() {
			a.ids = append(a.ids, a.list[i].Delivery)
		}
	}
	slices.SortFunc(a.ids, compareIDs)
	a.ids = slices.Compact(a.ids)
	return err
}

func (a *applying) key(i int) []any { return keyArgs(a.ids[i]) }

func (a *applying) lockRows() error { return a.lock("delivery_lock", len(a.ids), a.key) }

func (a *applying) facts() error {
	a.rows = make(map[tidings.DeliveryID]*receiptRow, len(a.ids))
	err := a.each("receipt_facts", len(a.ids), a.key, func(i int, row row) (err error) {
		r := &receiptRow{}
		r.standing, r.sensitive, err = scanStanding(row, &r.lane, into(&r.address))
		a.rows[a.ids[i]] = r
		return err
	})
	a.ids = slices.DeleteFunc(a.ids, func(id tidings.DeliveryID) bool { return a.rows[id] == nil })
	return err
}

func (a *applying) proof() error {
	err := a.each("attempt_refs", len(a.ids), a.key, func(i int, row row) error {
		var at tidings.Attempt
		err := row.Scan(&at.Number, &at.Outcome, &at.Provider, &at.Ref)
		e := &a.rows[a.ids[i]].evidence
		e.attempts = append(e.attempts, at)
		return err
	})
	if err != nil {
		return err
	}
	return a.each("receipt_statuses", len(a.ids), a.key, func(i int, row row) error {
		s, err := scanReceiptStatus(row)
		e := &a.rows[a.ids[i]].evidence
		e.receipts = append(e.receipts, s)
		return err
	})
}

// sort tells strays from news, and news from what is known already.
func (a *applying) sort() error {
	for _, r := range a.list {
		row := a.rows[r.Delivery]
		if row == nil || !row.place(&r) {
			a.strays = append(a.strays, r)
			continue
		}
		if engagement(r.Status) || !row.evidence.knows(r) {
			row.fresh = append(row.fresh, r)
			row.evidence.receipts = append(row.evidence.receipts, r)
		}
	}
	return nil
}

// place finds the attempt of a receipt: the one it names, else the one with its reference, else
// the newest, which may not be recorded yet. An attempt that never was has no place.
func (row *receiptRow) place(r *tidings.Receipt) bool {
	if r.Attempt == 0 {
		r.Attempt = row.claimNo
		for _, at := range row.evidence.attempts {
			if at.Ref != "" && at.Ref == r.Ref && at.Provider == r.Provider {
				r.Attempt = at.Number
			}
		}
	}
	return r.Attempt > 0 && r.Attempt <= row.claimNo
}

// knows reports whether the same was said of the same attempt before.
func (e evidence) knows(r tidings.Receipt) bool {
	return slices.ContainsFunc(e.receipts, func(o tidings.Receipt) bool { return o.Attempt == r.Attempt && o.Status == r.Status })
}

func engagement(s tidings.ReceiptStatus) bool {
	return s == tidings.ReceiptOpened || s == tidings.ReceiptClicked || s == tidings.ReceiptComplained
}

func (a *applying) keepStrays() error {
	return a.each("stray_add", len(a.strays), func(i int) []any {
		r := &a.strays[i]
		delivery := []byte{} // it names none
		if !r.Delivery.IsZero() {
			delivery = r.Delivery[:]
		}
		return []any{r.Provider, r.Ref, string(r.Status), r.At.UnixMicro(), delivery, int64(r.Attempt), string(r.Outcome), r.Code, r.ReceivedAt.UnixMicro()}
	}, nil)
}

func (a *applying) keep() error {
	var fresh []tidings.Receipt
	for _, id := range a.ids {
		fresh = append(fresh, a.rows[id].fresh...)
	}
	return a.addReceipts(fresh)
}

// addReceipts writes receipts whose delivery and attempt are known; repeated ones are ignored.
func (t *tx) addReceipts(list []tidings.Receipt) error {
	return t.each("receipt_add", len(list), func(i int) []any {
		r := &list[i]
		return keyArgs(r.Delivery, int64(r.Attempt), string(r.Status), r.At.UnixMicro(), r.Provider, r.Ref, string(r.Outcome), r.Code, r.ReceivedAt.UnixMicro())
	}, nil)
}

func (a *applying) settle() error {
	var moved, risen []tidings.DeliveryID
	var ended []tidings.NotificationID
	var next []standing
	for _, id := range a.ids {
		row := a.rows[id]
		if len(row.fresh) == 0 {
			continue
		}
		after := row.afterNews(row.evidence, row.fresh[0].ReceivedAt)
		if after == row.standing {
			continue
		}
		moved, next = append(moved, id), append(next, after)
		a.noteEnd(row.lane, row.fresh[0].Provider, row.standing, after)
		if row.rises(after) {
			risen = append(risen, id)
		}
		if row.sensitive && !after.live() {
			ended = append(ended, tidings.NotificationOf(id))
		}
	}
	if err := a.deaths(risen); err != nil {
		return err
	}
	err := a.each("delivery_settle", len(moved), func(i int) []any { return settleArgs(moved[i], next[i]) }, nil)
	if err != nil {
		return err
	}
	return a.eraseData(ended)
}

// engage notes when a message was first opened, clicked or complained about.
func (a *applying) engage() error {
	fresh := a.fresh(func(r *tidings.Receipt) bool { return engagement(r.Status) })
	return a.each("engaged", len(fresh), func(i int) []any {
		r := fresh[i]
		var opened, clicked, complained any
		switch r.Status {
		case tidings.ReceiptOpened:
			opened = r.At.UnixMicro()
		case tidings.ReceiptClicked:
			clicked = r.At.UnixMicro()
		default:
			complained = r.At.UnixMicro()
		}
		return keyArgs(r.Delivery, opened, clicked, complained)
	}, nil)
}

// effects does to the addresses what the receipts say of them.
func (a *applying) effects() error {
	var effects []effect
	for _, r := range a.fresh(func(*tidings.Receipt) bool { return true }) {
		row := a.rows[r.Delivery]
		effects = append(effects, effectOf(r, row.lane.Channel(), row.address))
	}
	return a.apply(effects, a.category)
}

func (a *applying) fresh(want func(*tidings.Receipt) bool) []tidings.Receipt {
	var out []tidings.Receipt
	for _, id := range a.ids {
		for i := range a.rows[id].fresh {
			if r := a.rows[id].fresh[i]; want(&r) {
				out = append(out, r)
			}
		}
	}
	return out
}
