package lanes

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/testkit"
)

// A damage is done to the files of the broker whose paths end so.
type damage struct {
	why    string
	suffix string
	change func([]byte) []byte
	atStop bool // the files are written when the broker stops
}

func damages() []damage {
	return []damage{
		{"messages lose their second half", ".blk", func(b []byte) []byte { return b[:len(b)/2] }, false},
		{"messages lose their last bytes", ".blk", func(b []byte) []byte { return b[:len(b)-10] }, false},
		{"a bit flips in the first message", ".blk", func(b []byte) []byte { b[5] ^= 0x40; return b }, false},
		{"a bit flips in the middle", ".blk", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, false},
		{"messages become zeroes", ".blk", func(b []byte) []byte { clear(b); return b }, false},
		{"the index is garbage", "index.db", scramble, true},
		{"the state of the consumer is garbage", "o.dat", scramble, false},
		{"the state of the consumer is empty", "o.dat", func([]byte) []byte { return nil }, false},
		{"the settings are garbage", "meta.inf", scramble, false},
		{"the checksums of the settings are garbage", "meta.sum", scramble, false},
		{"everything is garbage", "", scramble, false},
	}
}

func scramble(b []byte) []byte {
	for i := range b {
		b[i] ^= 0x5a
	}
	return b
}

func (d damage) do(t *testing.T, dir string) {
	t.Helper()
	done := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, d.suffix) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return err
		}
		done++
		return os.WriteFile(path, d.change(b), 0o600)
	})
	if err != nil || done == 0 && !d.atStop {
		t.Fatalf("%d files damaged, %v", done, err)
	}
}

// What the lane held may be lost, for the log knows it; what comes after must not be.
func TestWhateverHappensToTheFilesALaneCarriesWhatComesAfter(t *testing.T) {
	for _, d := range damages() {
		for _, while := range []string{"stopped", "running"} {
			t.Run(d.why+" while "+while, func(t *testing.T) {
				testkit.Bubble(t, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "jetstream")
					l := open(t, Settings{Dir: dir})
					defer func() { closeLanes(t, l) }()
					halfDone(t, l)
					if while == "stopped" {
						closeLanes(t, l)
						d.do(t, dir)
						l = open(t, Settings{Dir: dir})
					} else {
						pass(15 * time.Second) // the server forgets what it has in memory
						d.do(t, dir)
					}
					drain(t, l, 5*time.Second) // finds the damage
					pass(2 * superviseAt)
					carries(t, l)
				})
			})
		}
	}
}

// halfDone leaves entries that wait, are in hand, and are done with.
func halfDone(t *testing.T, l *Lanes) {
	t.Helper()
	for range 300 {
		publish(t, l, bulk, time.Now(), ids(1))
	}
	for _, e := range fetch(t, l, bulk, 90)[:60] {
		if err := e.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	pass(time.Second)
}

// carries checks that a healthy lane hands out what is published now.
func carries(t *testing.T, l *Lanes) {
	t.Helper()
	if err := l.Healthy(t.Context()); err != nil {
		t.Error(err)
	}
	all := ids(120)
	publish(t, l, bulk, time.Now(), all)
	got := drain(t, l, 5*time.Second)
	for _, id := range all {
		if !slices.Contains(got, id) {
			t.Fatalf("%d ids came, and not all of the last 120", len(got))
		}
	}
	if d, err := l.Depth(t.Context(), bulk); err != nil || d.Entries > d.InHand {
		t.Errorf("depth %+v, %v", d, err)
	}
}

// drain takes and acknowledges what comes within a time.
func drain(t *testing.T, l *Lanes, within time.Duration) (got []tidings.DeliveryID) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for ctx.Err() == nil {
		entries, err := l.Fetch(ctx, bulk, 50)
		if err != nil {
			time.Sleep(100 * time.Millisecond) // it is being mended
		}
		for _, e := range entries {
			got = append(got, e.IDs...)
			if err := e.Ack(); err != nil {
				t.Error(err)
			}
		}
	}
	return got
}

// The server gives up JetStream and stays up when it may not write, or runs out of space.
func TestABrokerThatGaveUpStoringIsRestarted(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		l := open(t, Settings{})
		defer closeLanes(t, l)
		publish(t, l, bulk, time.Now(), ids(3))
		if err := l.server.current().ShutdownJetStream(); err != nil {
			t.Fatal(err)
		}
		if err := l.Healthy(t.Context()); err == nil {
			t.Error("it is healthy without JetStream")
		}
		pass(2 * superviseAt)
		carries(t, l)
	})
}

func TestALaneIsMadeAgainEmpty(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	publish(t, l, bulk, time.Now(), ids(200))
	inHand := fetch(t, l, bulk, 1)
	publish(t, l, urgent, time.Now(), ids(1))
	if err := l.Rebuild(t.Context(), bulk); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Depth(t.Context(), bulk); err != nil || d != (Depth{}) {
		t.Errorf("depth %+v, %v", d, err)
	}
	if d, err := l.Depth(t.Context(), urgent); err != nil || d.Entries != 1 {
		t.Errorf("its neighbour has depth %+v, %v", d, err)
	}
	if err := inHand[0].Ack(); err != nil {
		t.Errorf("what was handed out is acknowledged to nobody: %v", err)
	}
	if err := l.Rebuild(t.Context(), "fax.bulk"); err == nil {
		t.Error("a lane that does not exist was made again")
	}
	carriesNow(t, l)
}

func carriesNow(t *testing.T, l *Lanes) {
	t.Helper()
	all := ids(1)
	publish(t, l, bulk, time.Now(), all)
	if got := fetch(t, l, bulk, 10); len(got) != 1 || got[0].IDs[0] != all[0] {
		t.Errorf("fetched %v", got)
	}
}

func TestFilesThatCannotBeUsedAreSetAsideAndOnlyTheLastAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jetstream")
	for range 3 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		inner := filepath.Join(dir, "jetstream")
		if err := os.RemoveAll(inner); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(inner, []byte("not a folder"), 0o600); err != nil {
			t.Fatal(err)
		}
		l := open(t, Settings{Dir: dir})
		carriesNow(t, l)
		closeLanes(t, l)
	}
	kept, err := filepath.Glob(dir + asideMark + "*")
	if err != nil || len(kept) != 1 {
		t.Errorf("kept %v, %v", kept, err)
	}
}

// The broker goes on in memory for seconds: what it takes meanwhile would be gone with it.
func TestABrokerWhoseFilesAreGoneIsUnhealthyAtOnceUntilTheLanesAreMadeAgain(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "jetstream")
		l := open(t, Settings{Dir: dir})
		defer closeLanes(t, l)
		halfDone(t, l)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		lost := time.Now()
		if err := l.Healthy(t.Context()); err == nil {
			t.Error("it is healthy without its files")
		}
		for l.Healthy(t.Context()) != nil {
			if time.Since(lost) > 2*time.Second {
				t.Fatal("nobody looks after it")
			}
			pass(10 * time.Millisecond)
		}
		for _, name := range l.Names() {
			if _, err := os.Stat(filepath.Join(dir, "jetstream", "$G", "streams", l.lanes[name].streamName())); err != nil {
				t.Errorf("it is healthy again, and %s is not made: %v", name, err)
			}
		}
		carries(t, l)
	})
}
