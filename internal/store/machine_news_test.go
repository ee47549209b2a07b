package store_test

import (
	"crypto/rand"
	"slices"
	"time"

	"pgregory.net/rapid"

	"tidings"
	"tidings/internal/store"
)

// record records anything of any claim there ever was: in time, late, or a second time.
func (m *machine) record(r *rapid.T) {
	c, v := pick(r, m.claims, "claim"), pick(r, verdicts(), "verdict")
	res := result(c, v.outcome, v.status, m.now.Add(-time.Second))
	res.Attempt.Ref, res.Refund, res.Effect = ref(c), v.refund, store.AddressEffect{}
	res.DueAt = time.Time{}
	if v.status == tidings.Parked || v.wait > 0 {
		res.DueAt = m.now.Add(v.wait)
	}
	m.kept = append(m.kept, res)
	m.say(res, v)
}

func (m *machine) say(res store.Result, v verdict) {
	d, n := m.byID[res.Attempt.Delivery], res.Attempt.Number
	got, err := m.s.Record(m.Context(), store.Normal, []store.Result{res})
	m.must(err)
	if late := !d.is(tidings.Sending) || d.claimNo != n; got[0].Late != late {
		m.Fatalf("late is %v, want %v", got[0].Late, late)
	}
	m.hear(d, n, m.strays[res.Attempt.Ref]...) // they waited for their attempt
	delete(m.strays, res.Attempt.Ref)
	d.recorded(n, v, res.Attempt.EndedAt)
	if got[0].Status != d.status {
		m.Fatalf("recorded as %s, want %s", got[0].Status, d.status)
	}
}

// repeat records the very same again, as after a commit whose answer was lost.
func (m *machine) repeat(r *rapid.T) {
	res := pick(r, m.kept, "record")
	if _, err := m.s.Record(m.Context(), store.Normal, []store.Result{res}); err != nil {
		m.Fatal(err)
	}
}

func ref(c store.Claimed) string {
	return c.Delivery.ID.String() + "-" + string(rune('a'+c.Delivery.ClaimNo))
}

// hear follows what receipts for attempt n say together.
func (m *machine) hear(d *modelled, n int, together ...tidings.Receipt) {
	fresh := false
	for _, r := range together {
		news := d.heard(n, r.Status, r.Outcome)
		fresh = fresh || news
		if news && r.Outcome == tidings.RecipientOptout && r.Refuses() {
			m.stopped[d.address] = true
		}
	}
	if fresh {
		d.reconsider()
	}
}

func (m *machine) news(r *rapid.T) tidings.Receipt {
	s := pick(r, []tidings.ReceiptStatus{tidings.ReceiptAccepted, tidings.ReceiptSent, tidings.ReceiptDelivered, tidings.ReceiptFailed,
		tidings.ReceiptBounced, tidings.ReceiptFailed, tidings.ReceiptOpened}, "status")
	o := pick(r, []tidings.Outcome{tidings.PolicyBlocked, tidings.PolicyBlocked, tidings.RecipientOptout, tidings.OutcomeExpired}, "outcome")
	return tidings.Receipt{Provider: "apns", Status: s, Outcome: o, At: m.now, ReceivedAt: m.now}
}

func (m *machine) receipt(r *rapid.T) {
	c, news := pick(r, m.claims, "claim"), m.news(r)
	news.Delivery, news.Attempt = c.Delivery.ID, c.Delivery.ClaimNo
	list := slices.Repeat([]tidings.Receipt{news}, rapid.IntRange(1, 2).Draw(r, "copies"))
	m.tell(0, list...)
	m.hear(m.byID[c.Delivery.ID], c.Delivery.ClaimNo, news)
}

func (m *machine) tell(strays int, list ...tidings.Receipt) {
	applied, err := m.s.ApplyReceipts(m.Context(), list)
	m.must(err)
	if applied.Strays != strays {
		m.Fatalf("%d strays, want %d", applied.Strays, strays)
	}
}

func (m *machine) receiptByReference(r *rapid.T) {
	c, news := pick(r, m.claims, "claim"), m.news(r)
	news.Ref = ref(c)
	known := slices.ContainsFunc(m.kept, func(k store.Result) bool { return k.Attempt.Ref == news.Ref })
	if !known {
		m.tell(1, news)
		m.strays[news.Ref] = append(m.strays[news.Ref], news)
		return
	}
	m.tell(0, news)
	m.hear(m.byID[c.Delivery.ID], c.Delivery.ClaimNo, news)
}

// forged is a receipt of an attempt that never was, or of nothing that is known.
func (m *machine) forged(r *rapid.T) {
	d, news := pick(r, m.all, "delivery"), m.news(r)
	news.Delivery, news.Attempt, news.Ref = d.id, d.claimNo+3, rand.Text()
	other := news
	other.Delivery, other.Ref = tidings.DeliveryOf(tidings.NewNotificationID(m.now), 0), rand.Text()
	m.tell(2, news, other)
}
