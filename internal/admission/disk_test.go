package admission

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatADiskHasRoomFor(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	cases := []struct {
		why         string
		free, total uint64
		want        room
	}{
		{"an empty disk", 100 * gib, 100 * gib, roomForAll},
		{"a tenth of a large disk is plenty", 100 * gib, 1000 * gib, roomForAll},
		{"an empty small disk", 60 * mib, 64 * mib, roomForAll},
		{"below the part and the amount", 1 * gib, 20 * gib, roomForUrgent},
		{"a small disk that fills up", 9 * mib, 64 * mib, roomForUrgent},
		{"a large disk that is nearly full", 60 * mib, 1000 * gib, roomForNone},
		{"a small disk that is nearly full", 3 * mib, 64 * mib, roomForNone},
		{"a full disk", 0, 64 * mib, roomForNone},
	}
	for _, c := range cases {
		if got := DefaultDisk().room(c.free, c.total); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestTheDiskIsMeasuredEachTime(t *testing.T) {
	var free uint64
	var failed error
	d := &Door{Settings: Settings{Dir: "data", Disk: DefaultDisk(), Log: slog.New(slog.DiscardHandler),
		Free: func(string) (uint64, uint64, error) { return free, 100 << 20, failed }}}
	expect := func(why string, bulk, all bool) {
		t.Helper()
		noBulk, none := d.Space()
		if (noBulk == nil) != bulk || (none == nil) != all {
			t.Errorf("%s: bulk %v, all %v", why, noBulk, none)
		}
		if (d.Full() == nil) != all {
			t.Errorf("%s: full says %v", why, d.Full())
		}
		for _, r := range []*Refusal{noBulk, none} {
			if r != nil && (r.Code != CodeNotReady || r.After <= 0) {
				t.Errorf("%s: refused with %+v", why, r)
			}
		}
	}
	free = 50 << 20
	expect("half full", true, true)
	free = 10 << 20
	expect("filling up", false, true)
	free = 1 << 20
	expect("nearly full", false, false)
	free = 50 << 20
	expect("cleaned up", true, true)
	failed = errors.New("no answer")
	expect("not measured", true, true)
}

func TestADiskWithPlentyIsMeasuredNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		measured, free := 0, uint64(50<<30)
		d := &Door{Settings: Settings{Dir: "data", Disk: DefaultDisk(), Log: slog.New(slog.DiscardHandler),
			Free: func(string) (uint64, uint64, error) { measured++; return free, 100 << 30, nil }}}
		ask := func(want int) {
			t.Helper()
			measured = 0
			for range 100 {
				d.Space()
				_ = d.Full()
			}
			if measured != want {
				t.Errorf("two hundred questions at one instant measure the disk %d times, want %d", measured, want)
			}
		}
		ask(1)
		time.Sleep(diskFor)
		ask(1)
		time.Sleep(diskFor)
		free = 2 << 30 // from which on bulk work is refused
		ask(200)
	})
}

func TestTheSystemTellsHowMuchIsFree(t *testing.T) {
	free, total, err := freeSpace(t.TempDir())
	if err != nil || free == 0 || free > total {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
	if _, _, err := freeSpace("/nowhere/at/all"); err == nil {
		t.Error("a folder that is not there was measured")
	}
}

func TestDisksThatCannotBeMeant(t *testing.T) {
	for _, d := range []Disk{{BulkPercent: 101}, {AllPercent: -1}, {BulkMiB: -1}, {AllMiB: -1}} {
		if d.Validate() == nil {
			t.Errorf("%+v is valid", d)
		}
	}
	if err := DefaultDisk().Validate(); err != nil {
		t.Error(err)
	}
}
