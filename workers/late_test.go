package workers

import (
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

// The worker is stalled for longer than its lease, in the middle of its call; another process
// takes over. When it wakes, what it learned is told in the trail and changes nothing.
func TestAWorkerThatWakesAfterItsLeaseMovesNothing(t *testing.T) {
	p := &script{answer: func(call int, _ *channels.Message) error {
		if call == 0 {
			time.Sleep(3 * time.Minute) // deaf to its time-out, as a machine that sleeps is
			return fault(tidings.ContentRejected)
		}
		return nil
	}}
	inEachWorld(t, func() []Provider { return []Provider{provider("phones", tidings.Push, p)} }, func(t *testing.T, w *world) {
		p.calls, p.at = nil, nil
		w.start()
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(2 * time.Minute)
		w.ends(tidings.Sent, "", id)
		w.pass(2 * time.Minute)
		w.ends(tidings.Sent, "", id)
		d := w.delivery(id)
		var told []string
		for _, a := range d.Attempts {
			told = append(told, string(a.Outcome))
			if a.Late != (a.Outcome == tidings.ContentRejected) {
				t.Errorf("attempt %+v: late is %v", a, a.Late)
			}
		}
		if len(told) != 3 || p.count() != 2 {
			t.Errorf("attempts %v after %d calls, want an unknown one, the late one and the one that was accepted", told, p.count())
		}
	})
}

// A provider may report before it answers, and in any order.
func TestAReceiptInsideTheCallIsNotOverwritten(t *testing.T) {
	var w *world
	p := &script{answer: func(_ int, m *channels.Message) error {
		now := time.Now()
		for i, s := range []tidings.ReceiptStatus{tidings.ReceiptDelivered, tidings.ReceiptSent, tidings.ReceiptAccepted} {
			r := tidings.Receipt{Provider: "phones", Delivery: m.Delivery, Attempt: m.Attempt, Status: s, At: now, ReceivedAt: now.Add(time.Duration(i))}
			if _, err := w.store.ApplyReceipts(w.t.Context(), []tidings.Receipt{r}); err != nil {
				return err
			}
		}
		return nil
	}}
	inEachWorld(t, func() []Provider { return []Provider{provider("phones", tidings.Push, p)} }, func(t *testing.T, in *world) {
		w = in
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(time.Minute)
		w.ends(tidings.Delivered, "", id)
		if d := w.delivery(id); len(d.Attempts) != 1 || len(d.Receipts) != 3 {
			t.Errorf("attempts %+v, receipts %+v", d.Attempts, d.Receipts)
		}
	})
}
