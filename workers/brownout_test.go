package workers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
)

// A brownout is a provider that answers 503 to a share of its calls while it lasts.
type brownout struct {
	script
	dice  sync.Mutex
	lots  *rand.Rand // guarded by dice, as all below
	share float64
	taken int // accepted
}

func newBrownout(share float64) *brownout {
	b := &brownout{share: share, lots: rand.New(rand.NewPCG(7, 7))}
	b.takes = 100 * time.Millisecond
	b.answer = func(int, *channels.Message) error {
		b.dice.Lock()
		defer b.dice.Unlock()
		if b.lots.Float64() < b.share {
			return fault(tidings.Transient)
		}
		b.taken++
		return nil
	}
	return b
}

func (b *brownout) end() {
	b.dice.Lock()
	defer b.dice.Unlock()
	b.share = 0
}

func (b *brownout) accepted() int {
	b.dice.Lock()
	defer b.dice.Unlock()
	return b.taken
}

// extra is how many of the calls were second and later ones of their deliveries.
func (b *brownout) extra() (calls, extra int) {
	calls = b.count()
	return calls, calls - len(b.perDelivery())
}

func TestABrownOutInABlastCostsHardlyAnyExtraCallsAndIsCaughtUpWith(t *testing.T) {
	tests := []struct {
		share     float64
		processes int // each has a breaker and a budget of its own
		size      int // messages
	}{{1, 1, 4000}, {0.5, 1, 4000}, {0.5, 3, 7500}}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%v of the calls of %d", test.share, test.processes), func(t *testing.T) {
			s, n, size := newBrownout(test.share), test.processes, test.size
			p := provider("phones", tidings.Push, nil)
			p.Provider, p.Concurrency = s, 4
			capacity := 40 * n // calls a second: four at once for each process, of a tenth of a second
			inWorld(t, []Provider{p}, func(t *testing.T, w *world) {
				for range n {
					w.start()
				}
				ids := w.accept(size, orderPush)
				w.pass(10 * time.Minute)
				calls, extra := s.extra()
				t.Logf("in ten minutes: %d calls, %d of them extra", calls, extra)
				if most := float64(calls)*retryShare + float64(n)*(retriesSaved+600*retriesAlways); float64(extra) > most {
					t.Errorf("%d of %d calls were extra, want at most %v", extra, calls, most)
				}
				if test.share == 1 && calls > n*(10+60) {
					t.Errorf("%d calls of a provider that is down, want of each process the first few and a probe every ten seconds", calls)
				}
				s.end()
				depth, begin := size-s.accepted(), time.Now()
				for s.accepted() < size && time.Since(begin) < 10*time.Minute {
					time.Sleep(100 * time.Millisecond)
				}
				took, best := time.Since(begin), time.Duration(depth)*time.Second/time.Duration(capacity)
				t.Logf("%d were left, and caught up with in %v, at best %v", depth, took, best)
				if took > best*12/10 {
					t.Errorf("%d were left, and caught up with in %v, at best %v", depth, took, best)
				}
				// Of several processes each has its first calls in the outage for itself, and how many those
				// come to is a matter of luck: they are bound while it lasts.
				if calls, extra = s.extra(); n == 1 && extra*10 > calls {
					t.Errorf("%d of %d calls were extra in the end", extra, calls)
				}
				w.pass(time.Second)
				for _, id := range ids { // what was put off or given back has cost no attempt
					if d := w.delivery(id); d.Status != tidings.Sent || d.Tries != len(d.Attempts) {
						t.Fatalf("%s after %d tries and %d attempts", d.Status, d.Tries, len(d.Attempts))
					}
				}
			})
		})
	}
}
