package workers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

// A storm is a provider in trouble: it answers by lot, accepts some messages without saying so,
// takes its time, and remembers what it accepted.
type storm struct {
	mu       sync.Mutex
	dice     *rand.Rand                 // guarded by mu
	calm     bool                       // guarded by mu
	calls    map[tidings.DeliveryID]int // guarded by mu
	accepted map[tidings.DeliveryID]int // guarded by mu
}

func (s *storm) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	s.mu.Lock()
	lot, pause := s.dice.IntN(100), time.Duration(s.dice.IntN(300))*time.Millisecond
	if s.calm {
		lot = 99
	}
	s.calls[m.Delivery]++
	if lot >= 40 || lot < 5 {
		s.accepted[m.Delivery]++
	}
	s.mu.Unlock()
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	switch {
	case lot < 10:
		return channels.Answer{}, fault(tidings.OutcomeUnknown)
	case lot < 25:
		return channels.Answer{}, fault(tidings.Transient)
	case lot < 30:
		return channels.Answer{}, &channels.Error{Fault: tidings.Throttled, After: 5 * time.Second}
	case lot < 35:
		return channels.Answer{}, fault(tidings.ConfigFault)
	case lot < 40:
		return channels.Answer{}, fault(tidings.NotSent)
	}
	return channels.Answer{Ref: fmt.Sprint(m.Delivery, m.Attempt)}, nil
}

// All that happens here happens to a delivery sooner or later: every fault, workers that stop
// and start, a broker that loses its files.
func TestInAStormNothingIsLostAndNothingIsSentTwiceUnlessTheTrailSaysWhy(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var s *storm
			providers := func() []Provider {
				s = &storm{dice: rand.New(rand.NewPCG(seed, seed)), calls: map[tidings.DeliveryID]int{}, accepted: map[tidings.DeliveryID]int{}}
				one, two := provider("one", tidings.SMS, nil), provider("two", tidings.SMS, nil)
				one.Provider, two.Provider = s, s
				return []Provider{one, two}
			}
			inEachWorld(t, providers, func(t *testing.T, w *world) {
				w.config.Delivery.RetryCap = time.Minute
				w.ride(s)
				w.settleAccounts(s)
			})
		})
	}
}

// ride takes deliveries through the storm until it is over.
func (w *world) ride(s *storm) {
	first := w.start()
	w.start()
	for i := range 6 {
		w.accept(40, codeSMS)
		o := paySMS
		o.unsent = i%2 == 0
		w.accept(20, o)
		w.pass(2 * time.Second)
		switch i {
		case 2:
			w.stop(first)
		case 3:
			if err := os.Rename(filepath.Join(w.dir, "nats", "jetstream"), filepath.Join(w.dir, "lost")); err != nil {
				w.t.Fatal(err)
			}
		case 4:
			w.start()
		}
	}
	s.mu.Lock()
	s.calm = true
	s.mu.Unlock()
	w.pass(20 * time.Minute)
}

// settleAccounts holds the provider's memory against the log.
func (w *world) settleAccounts(s *storm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range w.all {
		d := w.delivery(id)
		ok, unknown := 0, 0
		for _, a := range d.Attempts {
			switch a.Outcome {
			case tidings.OK:
				ok++
			case tidings.OutcomeUnknown:
				unknown++
			}
		}
		switch {
		case !d.DueAt.IsZero():
			w.t.Errorf("%v is still %s, due %v", id, d.Status, d.DueAt)
		case d.Status == tidings.Sent && ok == 0, d.Status != tidings.Sent && ok > 0:
			w.t.Errorf("%v is %s with %d accepted attempts", id, d.Status, ok)
		case len(d.Attempts) != s.calls[id]:
			w.t.Errorf("%v had %d calls and %d attempts", id, s.calls[id], len(d.Attempts))
		case s.accepted[id] > 1 && s.accepted[id] > ok+unknown, ok > 1 && unknown == 0:
			w.t.Errorf("%v was accepted %d times, which its trail does not explain: %+v", id, s.accepted[id], d.Attempts)
		}
	}
	if len(w.all) != 360 || len(s.calls) == 0 {
		w.t.Errorf("%d deliveries, calls for %d", len(w.all), len(s.calls))
	}
}
