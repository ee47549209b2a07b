package lanes

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.PrepareBubbles()
	os.Exit(m.Run())
}

const (
	bulk   = tidings.Lane("push.bulk")
	urgent = tidings.Lane("push.priority")
)

func specs() []Spec {
	return []Spec{
		{Lane: bulk, MaxIDs: 1000, AckWait: 30 * time.Second, MaxInHand: 100},
		{Lane: urgent, MaxIDs: 5, AckWait: 30 * time.Second, MaxInHand: 3},
	}
}

func open(t *testing.T, s Settings) *Lanes {
	t.Helper()
	if s.Lanes == nil {
		s.Lanes = specs()
	}
	if s.URL == "" && s.Dir == "" {
		s.Dir = t.TempDir()
	}
	s.Log = slog.New(slog.DiscardHandler)
	l, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLanes(t *testing.T, l *Lanes) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func ids(n int) []tidings.DeliveryID {
	ntf := tidings.NewNotificationID(time.Now())
	all := make([]tidings.DeliveryID, n)
	for i := range all {
		all[i] = tidings.DeliveryOf(ntf, i)
	}
	return all
}

func publish(t *testing.T, l *Lanes, lane tidings.Lane, stamp time.Time, ids []tidings.DeliveryID) {
	t.Helper()
	if failed, err := l.Publish(t.Context(), lane, stamp, ids); err != nil || len(failed) > 0 {
		t.Fatalf("publish: %d failed, %v", len(failed), err)
	}
}

func fetch(t *testing.T, l *Lanes, lane tidings.Lane, max int) []*Entry {
	t.Helper()
	entries, err := l.Fetch(t.Context(), lane, max)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestEntriesComeAsTheyWerePublished(t *testing.T) {
	tests := []struct {
		why  string
		lane tidings.Lane
		n    int
		want []int // ids an entry
	}{
		{"an urgent delivery never waits for its neighbours", urgent, 3, []int{1, 1, 1}},
		{"bulk deliveries share an entry", bulk, 120, []int{50, 50, 20}},
		{"one is an entry too", bulk, 1, []int{1}},
	}
	l := open(t, Settings{})
	defer closeLanes(t, l)
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			stamp := time.UnixMicro(1796000000123456).UTC()
			all := ids(tt.n)
			publish(t, l, tt.lane, stamp, all)
			entries := fetch(t, l, tt.lane, 3)
			var sizes []int
			var got []tidings.DeliveryID
			for _, e := range entries {
				sizes, got = append(sizes, len(e.IDs)), append(got, e.IDs...)
				if !e.Stamp.Equal(stamp) || e.Times != 1 || e.Lane != tt.lane {
					t.Errorf("entry: lane %s, stamp %v, times %d", e.Lane, e.Stamp, e.Times)
				}
				if err := e.Ack(); err != nil {
					t.Error(err)
				}
			}
			if !slices.Equal(sizes, tt.want) || !slices.Equal(got, all) {
				t.Errorf("sizes %v, want %v; %d of %d ids", sizes, tt.want, len(got), len(all))
			}
		})
	}
}

func TestAForeignEntryIsDropped(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	for _, data := range []string{"", "hello", "\x02........", "\x01........tooshort"} {
		if _, err := l.js.Publish(t.Context(), l.lanes[bulk].subject(), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, l, bulk, time.Now(), ids(1))
	if entries := fetch(t, l, bulk, 10); len(entries) != 1 || len(entries[0].IDs) != 1 {
		t.Errorf("fetched %v", entries)
	}
}

func TestAFullLaneGivesBackWhatItDoesNotTake(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	all := ids(8) // the lane takes five
	failed, err := l.Publish(t.Context(), urgent, time.Now(), all)
	if !errors.Is(err, ErrFull) || !slices.Equal(failed, all[5:]) {
		t.Errorf("failed %d ids with %v", len(failed), err)
	}
	if err := l.Healthy(t.Context()); err != nil {
		t.Errorf("a full lane is no trouble of the broker: %v", err)
	}
}

func TestNothingIsHandedOutBeyondTheHandsOfTheWorkers(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	publish(t, l, urgent, time.Now(), ids(5))
	entries := fetch(t, l, urgent, 10)
	if len(entries) != 3 {
		t.Fatalf("fetched %d entries, want the three that may be in hand", len(entries))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if more, err := l.Fetch(ctx, urgent, 10); err != nil || more != nil {
		t.Errorf("fetched %d more, %v", len(more), err)
	}
	d, err := l.Depth(t.Context(), urgent)
	if err != nil || d != (Depth{Entries: 5, InHand: 3}) {
		t.Errorf("depth %+v, %v", d, err)
	}
}

func TestAReturnedEntryComesAgainAtOnce(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	publish(t, l, bulk, time.Now(), ids(1))
	if err := fetch(t, l, bulk, 1)[0].Return(); err != nil {
		t.Fatal(err)
	}
	if again := fetch(t, l, bulk, 1); len(again) != 1 || again[0].Times != 2 {
		t.Errorf("fetched %v", again)
	}
}

func TestAnUnknownLaneIsRefused(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	if failed, err := l.Publish(t.Context(), "fax.bulk", time.Now(), ids(2)); err == nil || len(failed) != 2 {
		t.Errorf("publish: %d failed, %v", len(failed), err)
	}
	if _, err := l.Fetch(t.Context(), "fax.bulk", 1); err == nil {
		t.Error("fetched from a lane that does not exist")
	}
	if l.Room("fax.bulk") != 0 {
		t.Error("an unknown lane has room")
	}
}

func TestEntriesOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Settings{Dir: dir})
	all := ids(3)
	publish(t, l, bulk, time.Now(), all[:2])
	publish(t, l, bulk, time.Now(), all[2:])
	if err := fetch(t, l, bulk, 1)[0].Ack(); err != nil {
		t.Fatal(err)
	}
	closeLanes(t, l)

	more := specs()
	more[0].MaxIDs, more[0].AckWait = 2000, time.Minute
	l = open(t, Settings{Dir: dir, Lanes: more}) // settings change in place
	defer closeLanes(t, l)
	if entries := fetch(t, l, bulk, 10); len(entries) != 1 || entries[0].IDs[0] != all[2] {
		t.Errorf("after the restart: %v", entries)
	}
	info, err := l.lanes[bulk].stream.Info(t.Context())
	if err != nil || info.Config.MaxMsgs != 2000 {
		t.Errorf("max messages %d, %v", info.Config.MaxMsgs, err)
	}
}

func TestARestartOnLostFilesStartsEmpty(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Settings{Dir: dir})
	publish(t, l, bulk, time.Now(), ids(2))
	closeLanes(t, l)
	if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	l = open(t, Settings{Dir: dir})
	defer closeLanes(t, l)
	if d, err := l.Depth(t.Context(), bulk); err != nil || d.Entries != 0 {
		t.Errorf("depth %+v, %v", d, err)
	}
	publish(t, l, bulk, time.Now(), ids(2))
	if len(fetch(t, l, bulk, 1)) != 1 {
		t.Error("the new lane hands out nothing")
	}
}

func TestAMissingStreamIsMadeAgain(t *testing.T) {
	uses := map[string]func(*testing.T, *Lanes){
		"by publish": func(t *testing.T, l *Lanes) { publish(t, l, bulk, time.Now(), ids(60)) },
		"by depth": func(t *testing.T, l *Lanes) {
			if _, err := l.Depth(t.Context(), bulk); err != nil {
				t.Error(err)
			}
		},
		"by horizon": func(t *testing.T, l *Lanes) {
			if _, err := l.Horizon(t.Context(), bulk, time.Now()); err != nil {
				t.Error(err)
			}
		},
		"by fetch": func(t *testing.T, l *Lanes) {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if _, err := l.Fetch(ctx, bulk, 1); err != nil {
				t.Error(err)
			}
		},
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			l := open(t, Settings{})
			defer closeLanes(t, l)
			if err := l.js.DeleteStream(t.Context(), l.lanes[bulk].streamName()); err != nil {
				t.Fatal(err)
			}
			use(t, l)
			if err := l.server.trouble(l.lanes[bulk]); err != nil {
				t.Errorf("the lane is still missing: %v", err)
			}
		})
	}
}

// BenchmarkHorizon is what the search for lost entries costs for each lane at each sweep.
func BenchmarkHorizon(b *testing.B) {
	l, err := Open(b.Context(), Settings{Dir: b.TempDir(), Lanes: specs(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if failed, err := l.Publish(b.Context(), bulk, time.Now(), ids(1000)); err != nil || len(failed) > 0 {
		b.Fatal(len(failed), err)
	}
	for b.Loop() {
		if _, err := l.Horizon(b.Context(), bulk, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
