package fleet_test

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/api/wire"
	"tidings/channels/simulator"
	"tidings/internal/faults/fleet"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/internal/testkit"
)

// backlogEnv is how many deliveries wait in the log of the running service, on both databases; without
// it they are few, on SQLite.
const backlogEnv = "TIDINGS_BACKLOG"

// codeEvery is the time from one login code to the next.
const codeEvery = 20 * time.Millisecond

// What waits in the log costs those nothing who do not wait: login codes are as fast as in a service
// beside it, in whose log nothing waits; it takes no more memory, and what falls due goes out in
// the order of its due times.
func TestABacklogInTheLogIsInNobodysWay(t *testing.T) {
	waiting, span, databases := 2000, time.Second, map[string][2]string{"sqlite": {}}
	if text := os.Getenv(backlogEnv); text != "" {
		var err error
		if waiting, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %q is no number", backlogEnv, text)
		}
		span, databases["postgres"] = 30*time.Second, [2]string{testkit.Postgres(t), testkit.Postgres(t)}
	}
	for name, urls := range databases {
		t.Run(name, func(t *testing.T) {
			free, full := startWaiting(t, urls[0]), startWaiting(t, urls[1])
			full.put(storetest.Backlog{App: "blast", N: waiting, Due: time.Now().Add(12 * time.Hour), Tries: 1})
			without, with := together(free, full, span)
			t.Logf("codes with nothing that waits: %v\nbeside %d that wait: %v", without, waiting, with)
			due := storetest.Backlog{App: "late", N: max(500, waiting/50), Due: time.Now().Add(span / 3), Tries: 1}
			full.put(due)
			quiet, busy := together(free, full, span)
			t.Logf("codes with nothing that waits: %v\nwhile %d of them fall due: %v", quiet, due.N, busy)
			full.inOrder(due)
			if waiting < 100_000 { // what fifty codes take says little
				return
			}
			if with.memory > without.memory+64<<20 {
				t.Errorf("the service takes %d MiB beside a backlog, %d MiB without", with.memory>>20, without.memory>>20)
			}
			if with.half > 2*without.half+100*time.Millisecond {
				t.Errorf("half of the codes took %v beside a backlog, %v without", with.half, without.half)
			}
		})
	}
}

// together measures two services at the same time, since the speed of a machine changes by the minute.
func together(free, full *waiting, span time.Duration) (without, with figures) {
	free.Helper()
	var posts [2]map[string]time.Time
	var both sync.WaitGroup
	for i, w := range []*waiting{free, full} {
		both.Go(func() { posts[i] = w.codes(span) })
	}
	both.Wait()
	return free.figures(posts[0]), full.figures(posts[1])
}

// waiting is one process with everything embedded, in whose log something waits.
type waiting struct {
	*testing.T
	fleet   *fleet.Fleet
	service *fleet.Service
	log     store.Settings
	users   int
}

func startWaiting(t *testing.T, database string) *waiting {
	t.Helper()
	f, err := fleet.New(t.Context(), fleet.Settings{Dir: t.TempDir(), Binary: built(t), Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &waiting{T: t, fleet: f, log: store.Settings{URL: database, Dir: filepath.Join(f.Dir, "data")}}
	if w.service, err = f.Service("service"); err != nil {
		t.Fatal(err)
	}
	if err := w.service.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// put lets a backlog of pushes wait, a millisecond after each other. The service stops for a large
// one: SQLite has one writer.
func (w *waiting) put(b storetest.Backlog) {
	w.Helper()
	b.Lane, b.Event, b.To, b.Of, b.Step, b.Expires = "push.bulk", "order.shipped", fmt.Sprintf("a%063x", b.N), "apns", time.Millisecond, b.Due.Add(24*time.Hour)
	whole := b.N > 50_000
	if whole {
		if err := w.service.Stop(); err != nil {
			w.Fatal(err)
		}
	}
	begin := time.Now()
	b.Put(w, w.log)
	w.Logf("%d were put into the log in %v", b.N, time.Since(begin).Round(time.Second))
	if whole {
		if err := w.service.Start(w.Context()); err != nil {
			w.Fatal(err)
		}
	}
}

// figures are how long codes took from the post to the provider's accept, and what memory the
// service has after them.
type figures struct {
	n                 int
	half, most, worst time.Duration // p50, p99, longest
	memory            int64         // bytes
}

// String is the figures in one line.
func (f figures) String() string {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%d in p50 %.1f ms, p99 %.1f ms, longest %.1f ms; %d MiB", f.n, ms(f.half), ms(f.most), ms(f.worst), f.memory>>20)
}

// codes posts login codes at a steady pace, whatever becomes of them, and gives when each was posted.
func (w *waiting) codes(span time.Duration) map[string]time.Time {
	var mu sync.Mutex
	posted := map[string]time.Time{} // by notification; guarded by mu
	var posts sync.WaitGroup
	tick := time.NewTicker(codeEvery)
	defer tick.Stop()
	for range span / codeEvery {
		<-tick.C
		w.users++
		phone := fmt.Sprintf("+1555%07d", w.users)
		posts.Go(func() {
			var p wire.Posted
			at := time.Now()
			err := w.service.Client.Do(w.Context(), http.MethodPost, "/v1/events", map[string]any{
				"type": "login.code", "user": map[string]any{"id": "u_" + phone[1:], "phone": phone}, "data": map[string]any{"code": "482913"},
			}, &p)
			if err != nil {
				w.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			posted[p.ID.String()] = at
		})
	}
	posts.Wait()
	return posted
}

func (w *waiting) figures(posted map[string]time.Time) figures {
	w.Helper()
	spans := w.took(posted)
	slices.Sort(spans)
	memory, err := w.service.Memory()
	if err != nil {
		w.Fatal(err)
	}
	return figures{n: len(spans), half: spans[len(spans)/2], most: spans[len(spans)*99/100], worst: spans[len(spans)-1], memory: memory}
}

// took waits until the provider has accepted all that were posted, and gives how long each took.
func (w *waiting) took(posted map[string]time.Time) (spans []time.Duration) {
	w.Helper()
	within(w.T, time.Minute, "all codes are accepted", func() bool {
		spans = spans[:0]
		for _, e := range w.ledger() {
			id, err := tidings.ParseDeliveryID(e.DeliveryID)
			if err != nil {
				w.Fatal(err)
			}
			if at, ok := posted[tidings.NotificationOf(id).String()]; ok {
				spans = append(spans, e.At.Sub(at))
			}
		}
		return len(spans) >= len(posted)
	})
	return spans
}

func (w *waiting) ledger() []simulator.Entry {
	w.Helper()
	entries, err := w.fleet.Ledger()
	if err != nil {
		w.Fatal(err)
	}
	return entries
}

// inOrder waits until all of a backlog was accepted, and looks by how much one that was due later went before one that was due earlier.
func (w *waiting) inOrder(b storetest.Backlog) {
	w.Helper()
	var turns []int
	var late []time.Duration
	within(w.T, 5*time.Minute, "what was due is accepted", func() bool {
		turns, late = turns[:0], late[:0]
		for _, e := range w.ledger() {
			if !strings.HasPrefix(e.Provider, "apns") {
				continue
			}
			id, err := tidings.ParseDeliveryID(e.DeliveryID)
			if err != nil {
				w.Fatal(err)
			}
			n := int(binary.BigEndian.Uint32(id[10:14])) // the backlog is numbered as it is due
			turns, late = append(turns, n), append(late, e.At.Sub(b.Due.Add(time.Duration(n)*time.Millisecond)))
		}
		return len(turns) >= b.N
	})
	if len(turns) != b.N {
		w.Errorf("%d accepts for %d that were due", len(turns), b.N)
	}
	var ahead []int // of each, by how many milliseconds one that was due later went before it
	last := 0
	for _, n := range turns {
		last = max(last, n)
		ahead = append(ahead, last-n)
	}
	slices.Sort(ahead)
	slices.Sort(late)
	w.Logf("%d fell due in %v: accepted p50 %v, p99 %v after that; out of turn by p99 %d ms, at most %d ms",
		b.N, time.Duration(b.N)*time.Millisecond, late[len(late)/2].Round(time.Millisecond), late[len(late)*99/100].Round(time.Millisecond), ahead[len(ahead)*99/100], ahead[len(ahead)-1])
	if n := ahead[len(ahead)*99/100]; n > 5000 { // one that lost the race for a permit comes back in its turn, later
		w.Errorf("one in a hundred went after what was due %d ms later", n)
	}
	if late[0] < 0 {
		w.Errorf("one went %v before it was due", -late[0])
	}
}
