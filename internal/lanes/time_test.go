package lanes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tidings/internal/testkit"
)

// pass lets time go by, and all that falls due in it come to rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAnEntryComesAgainAfterItsAckWait(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		l := open(t, Settings{})
		defer closeLanes(t, l)
		publish(t, l, bulk, time.Now(), ids(1))
		first := fetch(t, l, bulk, 1)[0]
		start := time.Now()
		pass(20 * time.Second)
		if err := first.Working(); err != nil {
			t.Fatal(err)
		}
		again := fetch(t, l, bulk, 1)[0]
		if waited := time.Since(start); waited < 50*time.Second || waited > 55*time.Second {
			t.Errorf("came again after %v, want 20 s of work and 30 s of silence", waited)
		}
		if again.Times != 2 || again.IDs[0] != first.IDs[0] {
			t.Errorf("times %d, id %v", again.Times, again.IDs[0])
		}
		if err := again.Ack(); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if d, err := l.Depth(t.Context(), bulk); err != nil || d.Entries != 0 {
			t.Errorf("depth %+v, %v", d, err)
		}
	})
}

func TestABrokerThatLostItsFilesIsRestarted(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, Settings{Dir: dir})
		defer closeLanes(t, l)
		publish(t, l, bulk, time.Now(), ids(1))
		if err := os.RemoveAll(filepath.Join(dir, "jetstream")); err != nil {
			t.Fatal(err)
		}
		pass(2 * superviseAt)
		if err := l.Healthy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d, err := l.Depth(t.Context(), bulk); err != nil || d.Entries != 0 {
			t.Errorf("depth %+v, %v", d, err)
		}
		all := ids(1)
		publish(t, l, bulk, time.Now(), all)
		if got := fetch(t, l, bulk, 1); len(got) != 1 || got[0].IDs[0] != all[0] {
			t.Errorf("fetched %v", got)
		}
	})
}

func TestFetchGoesOnAfterARestartOfTheBroker(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		l := open(t, Settings{})
		defer closeLanes(t, l)
		got := make(chan []*Entry)
		go func() {
			for {
				entries, err := l.Fetch(t.Context(), bulk, 1)
				if err == nil {
					got <- entries
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		pass(time.Second)
		if err := l.server.start(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for {
			if failed, _ := l.Publish(t.Context(), bulk, time.Now(), ids(1)); len(failed) == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if entries := <-got; len(entries) != 1 || time.Since(start) > 30*time.Second {
			t.Errorf("fetched %d entries after %v", len(entries), time.Since(start))
		}
	})
}

func TestWhoWaitsForALaneToBeMadeGivesUpInTime(t *testing.T) {
	testkit.Bubble(t, func(t *testing.T) {
		l := open(t, Settings{})
		defer closeLanes(t, l)
		lane := l.lanes[bulk]
		lane.mending <- struct{}{} // somebody makes it, and the broker takes its time
		defer func() { <-lane.mending }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.mend(ctx, lane); !errors.Is(err, ErrUnavailable) {
			t.Errorf("err = %v, want ErrUnavailable", err)
		}
	})
}
