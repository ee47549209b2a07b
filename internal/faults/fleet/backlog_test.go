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

// What waits in the log costs those nothing who do not wait: login codes are as fast as without it, the
// service takes no more memory, and what falls due goes out in the order of its due times.
func TestABacklogInTheLogIsInNobodysWay(t *testing.T) {
	waiting, span, databases := 5000, 2*time.Second, map[string]string{"sqlite": ""}
	if text := os.Getenv(backlogEnv); text != "" {
		var err error
		if waiting, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %q is no number", backlogEnv, text)
		}
		span, databases["postgres"] = 30*time.Second, testkit.Postgres(t)
	}
	binary, err := fleet.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range databases {
		t.Run(name, func(t *testing.T) {
			w := startWaiting(t, binary, url)
			without := w.codes(span)
			w.put(storetest.Backlog{App: "blast", N: waiting, Due: time.Now().Add(12 * time.Hour)})
			beside := w.codes(span)
			due := storetest.Backlog{App: "late", N: max(1000, waiting/50), Due: time.Now().Add(span / 3)}
			w.put(due)
			while := w.codes(span)
			t.Logf("codes: %v\nbeside %d that wait: %v\nwhile %d of them fall due: %v", without, waiting, beside, due.N, while)
			w.inOrder(due)
			if beside.memory > without.memory+64<<20 {
				t.Errorf("the service takes %d MiB beside a backlog, %d MiB without", beside.memory>>20, without.memory>>20)
			}
			if beside.half > 2*without.half+50*time.Millisecond {
				t.Errorf("half of the codes took %v beside a backlog, %v without", beside.half, without.half)
			}
		})
	}
}

// waiting is one process with everything embedded, in whose log something waits.
type waiting struct {
	*testing.T
	fleet   *fleet.Fleet
	service *fleet.Service
	log     store.Settings
	users   int
}

func startWaiting(t *testing.T, binary, database string) *waiting {
	t.Helper()
	f, err := fleet.New(t.Context(), fleet.Settings{Dir: t.TempDir(), Binary: binary, Database: database})
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

// codes posts login codes at a steady pace, whatever becomes of them, and measures them.
func (w *waiting) codes(span time.Duration) figures {
	w.Helper()
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
	f := figures{n: len(posted)}
	f.took(w.took(posted))
	var err error
	if f.memory, err = w.service.Memory(); err != nil {
		w.Fatal(err)
	}
	return f
}

// took waits until the provider has accepted all that were posted, and gives how long each took.
func (w *waiting) took(posted map[string]time.Time) (spans []time.Duration) {
	w.Helper()
	defer func() {
		if w.Failed() {
			w.Logf("%d of %d codes were accepted", len(spans), len(posted))
		}
	}()
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

func (f *figures) took(spans []time.Duration) {
	slices.Sort(spans)
	f.half, f.most, f.worst = spans[len(spans)/2], spans[len(spans)*99/100], spans[len(spans)-1]
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
	ahead, last := 0, 0
	for _, n := range turns {
		last = max(last, n)
		ahead = max(ahead, last-n)
	}
	slices.Sort(late)
	w.Logf("%d fell due in %v: accepted p50 %v, p99 %v after that; none went before one that was due more than %d ms earlier",
		b.N, time.Duration(b.N)*time.Millisecond, late[len(late)/2].Round(time.Millisecond), late[len(late)*99/100].Round(time.Millisecond), ahead)
	if ahead > 5000 {
		w.Errorf("one went before one that was due %d ms earlier", ahead)
	}
	if late[0] < 0 {
		w.Errorf("one went %v before it was due", -late[0])
	}
}
