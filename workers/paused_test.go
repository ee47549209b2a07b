package workers

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/store"
)

// pauses are those that a delivery's trail tells of.
func (w *world) pauses(id tidings.DeliveryID) []store.Pause {
	w.t.Helper()
	trail, err := w.store.Trail(w.t.Context(), "", tidings.NotificationOf(id))
	if err != nil {
		w.t.Fatal(err)
	}
	return trail.Pauses
}

// remarks are what workers said of a delivery.
func (w *world) remarks(id tidings.DeliveryID) (all []string) {
	w.t.Helper()
	trail, err := w.store.Trail(w.t.Context(), "", tidings.NotificationOf(id))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range trail.Timeline {
		all = append(all, m.Kind+": "+m.Text)
	}
	return all
}

func TestTheLogKnowsOfAnOpenBreakerAndOfItsEnd(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n < 6 {
			return fault(tidings.Transient)
		}
		return nil
	}}
	inEachWorld(t, func() []Provider {
		s.calls = nil
		return []Provider{provider("phones", tidings.Push, s)}
	}, func(t *testing.T, w *world) {
		began := time.Now()
		w.start()
		ids := w.accept(20, order{event: "order.shipped", channel: tidings.Push, token: "phones"})
		w.pass(2 * beatEvery)
		pauses := w.pauses(ids[19])
		if len(pauses) != 1 || pauses[0].Name != "phones" || pauses[0].Cause != store.PauseFailing || !pauses[0].Over.IsZero() ||
			!pauses[0].Until.After(time.Now()) || pauses[0].Since.Before(began.Truncate(time.Microsecond)) {
			t.Fatalf("the pauses are %+v", pauses)
		}
		w.pass(2 * time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if pauses = w.pauses(ids[19]); len(pauses) != 1 || pauses[0].Over.IsZero() {
			t.Errorf("after its end the pauses are %+v", pauses)
		}
		for _, id := range ids {
			if said := w.remarks(id); len(said) > 1 {
				t.Errorf("a delivery that waited was told of %d times: %q", len(said), said)
			}
		}
	})
}

func TestAProviderThatComesAndGoesIsOnePause(t *testing.T) {
	g := testGate(8, 0)
	now := start
	fail := func() { take(t, g, tidings.Urgent, now, 1).done(ended{failed: true}, now) }
	g.Concurrency = 1
	fail()
	first := g.pause
	for range 5 {
		now = now.Add(10 * time.Second)
		for range recovered {
			take(t, g, tidings.Urgent, now, 1).done(ended{}, now)
		}
		if g.pause.Over.IsZero() {
			t.Fatalf("it works, and the pause lasts: %+v", g.pause)
		}
		now = now.Add(time.Second)
		fail()
	}
	if !g.pause.Since.Equal(first.Since) || !g.pause.Over.IsZero() {
		t.Errorf("the pause is %+v, want one since %v that lasts", g.pause, first.Since)
	}
	now = now.Add(10 * time.Second)
	for range recovered {
		take(t, g, tidings.Urgent, now, 1).done(ended{}, now)
	}
	now = now.Add(2 * pauseGoesOn)
	fail()
	if g.pause.Since.Equal(first.Since) {
		t.Error("another outage, much later, counts as the first")
	}
}

func TestWhatWaitsForADeviceSaysSoOnce(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n == 0 {
			return &channels.Error{Fault: tidings.Throttled, Scope: channels.ScopeDevice, HTTPStatus: 429, After: 5 * time.Minute}
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		first := w.acceptTo(order{event: "order.shipped", channel: tidings.Push, token: "phones", value: "aaaa0001"}, nil)
		w.pass(time.Second)
		device := w.delivery(first).AddressID
		second := w.acceptTo(order{event: "order.shipped", channel: tidings.Push, token: "phones"}, &device)
		w.pass(time.Minute)
		if d := w.delivery(second); d.Status != tidings.Parked || !d.DueAt.After(time.Now()) {
			t.Fatalf("it is %s, due %v", d.Status, d.DueAt)
		}
		said := w.remarks(second)
		if len(said) != 1 || !strings.HasPrefix(said[0], "queued: the provider asked that nothing be sent to this address until ") {
			t.Errorf("it is told %q", said)
		}
		w.pass(6 * time.Minute)
		w.ends(tidings.Sent, "", first, second)
		if said := w.remarks(second); len(said) != 1 {
			t.Errorf("in the end it is told %q", said)
		}
	})
}

// acceptTo accepts one delivery, to an address of before if there is one.
func (w *world) acceptTo(o order, to *tidings.AddressID) tidings.DeliveryID {
	w.t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	lane := tidings.LaneOf(o.channel, w.catalogue.Events[o.event].Priority)
	a := w.acceptance(o, lane, now)
	if to != nil {
		a.NewAddresses, a.Deliveries[0].Address = nil, *to
		w.users--
		a.Notification.UserID = "u_1"
		a.User = nil
	}
	accepted, err := w.store.Accept(w.t.Context(), store.Normal, []store.Acceptance{a})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.lanes.Publish(w.t.Context(), lane, now, accepted[0].Deliveries); err != nil {
		w.t.Fatal(err)
	}
	return accepted[0].Deliveries[0]
}
