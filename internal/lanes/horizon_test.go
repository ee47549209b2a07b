package lanes

import (
	"testing"
	"time"
)

func TestHorizonIsTheFirstEntryNotHandedOut(t *testing.T) {
	now := time.UnixMicro(1796000000000000).UTC()
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	fill := func(t *testing.T, l *Lanes) {
		for i := range 3 {
			publish(t, l, bulk, at(i-10), ids(1))
		}
	}
	tests := []struct {
		why  string
		do   func(*testing.T, *Lanes)
		want time.Time
	}{
		{"an empty lane hides nothing", func(*testing.T, *Lanes) {}, now},
		{"nothing was handed out yet", fill, at(-10)},
		{"what is in hand does not hold it back", func(t *testing.T, l *Lanes) {
			fill(t, l)
			fetch(t, l, bulk, 2)
		}, at(-8)},
		{"an old entry in hand behind acknowledged ones does not either", func(t *testing.T, l *Lanes) {
			fill(t, l)
			if err := fetch(t, l, bulk, 2)[1].Ack(); err != nil {
				t.Fatal(err)
			}
		}, at(-8)},
		{"all are handed out", func(t *testing.T, l *Lanes) {
			fill(t, l)
			fetch(t, l, bulk, 3)
		}, now},
		{"a purge leaves a gap in the sequences", func(t *testing.T, l *Lanes) {
			fill(t, l)
			if err := l.lanes[bulk].stream.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			publish(t, l, bulk, at(-1), ids(1))
		}, at(-1)},
		{"a stream made again starts at one", func(t *testing.T, l *Lanes) {
			fill(t, l)
			fetch(t, l, bulk, 3)
			if err := l.js.DeleteStream(t.Context(), l.lanes[bulk].streamName()); err != nil {
				t.Fatal(err)
			}
			publish(t, l, bulk, at(-2), ids(1))
		}, at(-2)},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			l := open(t, Settings{})
			defer closeLanes(t, l)
			tt.do(t, l)
			got, err := l.Horizon(t.Context(), bulk, now)
			if err != nil || !got.Equal(tt.want) {
				t.Errorf("horizon %v, want %v, %v", got, tt.want, err)
			}
		})
	}
}

func TestRoomIsTheLastCountLessWhatWasPublishedSince(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	steps := []struct {
		why  string
		do   func()
		want int
	}{
		{"before the first count a lane is taken as empty", func() {}, 5},
		{"what is published takes room", func() { publish(t, l, urgent, time.Now(), ids(2)) }, 3},
		{"a count replaces the guess", func() { l.Gauge(urgent, 1, false) }, 4},
		{"what is handed out gives room", func() { fetch(t, l, urgent, 1) }, 5},
		{"but never more than the lane has", func() { fetch(t, l, urgent, 1) }, 5},
		{"a closed lane has none", func() { l.Gauge(urgent, 0, true) }, 0},
		{"more than it holds is none", func() { l.Gauge(urgent, 9, false) }, 0},
		{"what was refused takes none", func() {
			l.Gauge(urgent, 0, false)
			if failed, err := l.Publish(t.Context(), urgent, time.Now(), ids(4)); err == nil || len(failed) != 1 {
				t.Fatal("three of four fit beside the two", len(failed), err)
			}
		}, 2},
		{"a bound leaves what is less than it holds", func() { l.Bound(urgent, 4) }, 1},
		{"and no room when the lane holds more", func() { l.Bound(urgent, 2) }, 0},
		{"it is never above what the lane can hold", func() { l.Bound(urgent, 1000) }, 2},
		{"the dispatcher sees the space of a closed lane", func() { l.CloseLane(urgent, true) }, 0},
	}
	for _, s := range steps {
		s.do()
		if got := l.Room(urgent); got != s.want {
			t.Errorf("%s: room %d, want %d", s.why, got, s.want)
		}
	}
	if got := l.Space(urgent); got != 2 {
		t.Errorf("space %d, want 2", got)
	}
}
