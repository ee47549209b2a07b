package workers

import (
	"slices"
	"testing"
	"time"

	"tidings"
)

// bottlenecks are ways in which a provider takes five calls a second of what waits for it.
var bottlenecks = map[string]func(p *Provider, s *script){
	"it has a low rate":                       func(p *Provider, _ *script) { p.PerSecond = 6 },
	"it takes few calls at once, and is slow": func(p *Provider, s *script) { p.Concurrency, s.takes = 5, time.Second },
}

// inBottleneck runs f where phones goes to a provider that takes some five calls a second, and its lane
// has another one with nothing to do.
func inBottleneck(t *testing.T, f func(t *testing.T, w *world, s *script)) {
	t.Helper()
	for why, narrow := range bottlenecks {
		t.Run(why, func(t *testing.T) {
			s := &script{}
			phones := provider("phones", tidings.Push, s)
			narrow(&phones, s)
			inWorld(t, []Provider{phones, provider("others", tidings.Push, &script{})}, func(t *testing.T, w *world) {
				f(t, w, s)
			})
		})
	}
}

var freshPush = order{event: "order.shipped", channel: tidings.Push, token: "phones", fresh: 30 * time.Second}

// waits is how long deliveries waited until they were sent, sorted; those that were not are left out.
func (w *world) waits(ids []tidings.DeliveryID) (spans []time.Duration) {
	w.t.Helper()
	for _, id := range ids {
		if d := w.delivery(id); d.Status == tidings.Sent {
			spans = append(spans, d.FinishedAt.Sub(d.QueuedAt))
		}
	}
	slices.Sort(spans)
	return spans
}

// What waits for its turn at a provider becomes late, too: then it lets what is fresh go before it.
func TestFreshWorkGoesBeforeLateWorkThatWaitsForItsTurnAtAProvider(t *testing.T) {
	inBottleneck(t, func(t *testing.T, w *world, s *script) {
		w.start()
		blast := w.accept(320, freshPush)
		w.pass(35 * time.Second) // some 175 are sent, the rest is late
		sent := s.count()
		if sent < 120 || sent > 220 {
			t.Fatalf("%d calls in 35 seconds, some 175 can be made", sent)
		}
		var fresh []tidings.DeliveryID
		for range 20 {
			fresh = append(fresh, w.accept(2, freshPush)...)
			w.pass(time.Second)
		}
		w.pass(5 * time.Second)
		spans := w.waits(fresh)
		if len(spans) < len(fresh) {
			t.Fatalf("%d of %d fresh ones are sent in time", len(spans), len(fresh))
		}
		t.Logf("fresh ones waited %v at the median, %v at most", spans[len(spans)/2], spans[len(spans)-1])
		if most := spans[len(spans)*9/10]; most > 6*time.Second {
			t.Errorf("one in ten of the fresh ones waited %v and longer behind late work", most)
		}
		calls := s.count() - sent
		if calls < 25*5*7/10 {
			t.Errorf("%d calls in 25 seconds: the provider stood idle while late work waited", calls)
		}
		w.pass(time.Minute)
		if spans := w.waits(blast); len(spans) != len(blast) {
			t.Errorf("%d of %d late ones are sent in the end", len(spans), len(blast))
		}
	})
}

// The turns of what is called off are used by what comes after it.
func TestTheTurnsOfWhatWaitsNoMoreAreNotLeftEmpty(t *testing.T) {
	inBottleneck(t, func(t *testing.T, w *world, s *script) {
		w.start()
		blast := w.accept(300, freshPush)
		w.pass(time.Second)
		last := w.accept(20, freshPush)
		w.pass(3 * time.Second)
		left := slices.DeleteFunc(blast, func(id tidings.DeliveryID) bool { return w.delivery(id).ClaimNo > 0 })
		for _, id := range left[60:] {
			if _, err := w.store.Cancel(t.Context(), "shop", tidings.NotificationOf(id), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(20 * time.Second)
		if spans := w.waits(last); len(spans) != len(last) {
			t.Errorf("%d of %d are sent after 24 seconds; 60 were before them, five a second", len(spans), len(last))
		}
	})
}

// A process that starts does not know whose turns are left, and uses those of what is over all the same.
func TestTurnsThatAnEarlierProcessGaveAreUsed(t *testing.T) {
	s := &script{}
	phones := provider("phones", tidings.Push, s)
	phones.PerSecond = 8
	inWorld(t, []Provider{phones, provider("others", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		first := w.start()
		brief := freshPush
		brief.fresh, brief.expires = 0, 15*time.Second
		lasting := brief
		lasting.expires = time.Hour
		var ids []tidings.DeliveryID
		for range 150 { // each other one is over soon
			w.accept(1, brief)
			ids = append(ids, w.accept(1, lasting)...)
		}
		w.pass(5 * time.Second)
		w.stop(first)
		w.start()
		w.pass(12 * time.Second) // what is brief is over
		before := s.count()
		w.pass(10 * time.Second)
		if n := s.count() - before; n < 10*7*8/10 {
			t.Errorf("%d calls in ten seconds, seven a second may be made", n)
		}
		w.pass(20 * time.Second)
		if spans := w.waits(ids); len(spans) != len(ids) {
			t.Errorf("%d of %d are sent", len(spans), len(ids))
		}
	})
}
