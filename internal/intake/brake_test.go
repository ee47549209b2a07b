package intake

import (
	"fmt"
	"testing"
	"time"

	"tidings"
)

func TestABrakeStopsALoopAndHealsByItself(t *testing.T) {
	b, now := newBrake(), time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	limit := tidings.Cap{Count: 10, Per: time.Minute}
	passed := 0
	for range 600 { // one a second for ten minutes
		now = now.Add(time.Second)
		if !b.over(limit, "order.shipped", "u_1", false, 1, now) {
			passed++
		}
		if b.over(limit, "order.shipped", "u_2", false, 0, now) || b.over(limit, "order.paid", "u_1", false, 0, now) || b.over(limit, "order.shipped", "u_1", true, 0, now) {
			t.Fatal("it stops others")
		}
	}
	if passed != 10 {
		t.Errorf("%d of a loop passed, want the first 10", passed)
	}
	now = now.Add(2 * time.Minute)
	if b.over(limit, "order.shipped", "u_1", false, 1, now) {
		t.Error("it does not heal")
	}
}

func TestABrakeLetsThroughWhatKeepsToTheLimit(t *testing.T) {
	b, now := newBrake(), time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for i := range 1000 {
		now = now.Add(6 * time.Second)
		if b.over(tidings.Cap{Count: 10, Per: time.Minute}, "order.shipped", "u_1", false, 1, now) {
			t.Fatalf("event %d is stopped", i)
		}
	}
	for range 1000 {
		if b.over(tidings.Cap{}, "order.shipped", "u_1", false, 1, now) {
			t.Fatal("no limit stops")
		}
	}
}

func TestABrakeForgetsWhoIsQuiet(t *testing.T) {
	b, now := newBrake(), time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	limit := tidings.Cap{Count: 10, Per: time.Minute}
	for i := range brakeShards * brakeKeep * 3 {
		b.over(limit, "order.shipped", fmt.Sprint("u_", i), false, 1, now)
		if i%500 == 0 {
			b.over(limit, "order.shipped", "busy", false, 1, now)
		}
	}
	kept := 0
	for i := range b.shards {
		kept += len(b.shards[i].now) + len(b.shards[i].old)
	}
	if kept > 2*brakeShards*brakeKeep {
		t.Errorf("%d users are remembered", kept)
	}
	if !b.over(limit, "order.shipped", "busy", false, 0, now) {
		t.Error("the busy one is forgotten")
	}
}

func TestABrakeTellsOfOneMoreWithoutCountingIt(t *testing.T) {
	b, now := newBrake(), time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	limit := tidings.Cap{Count: 3, Per: time.Minute}
	for n := range 5 {
		if got, want := b.peek(limit, "order.shipped", "u_1", false, now), n >= 3; got != want {
			t.Errorf("after %d events the next one is stopped: %t", n, got)
		}
		b.over(limit, "order.shipped", "u_1", false, 1, now)
	}
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {time.Minute, true}, {2*time.Minute - 1, true}, {2 * time.Minute, false}, {5 * time.Minute, false}, {0, true}} {
		if got := b.peek(limit, "order.shipped", "u_1", false, now.Add(c.after)); got != c.want {
			t.Errorf("%v ahead it is stopped: %t", c.after, got)
		}
	}
	if b.peek(limit, "order.shipped", "u_2", false, now) || b.peek(tidings.Cap{}, "order.shipped", "u_1", false, now) {
		t.Error("it stops others, or without a limit")
	}
}

func BenchmarkBrake(b *testing.B) {
	brake, now := newBrake(), time.Now()
	users := make([]string, 10_000)
	for i := range users {
		users[i] = fmt.Sprint("u_", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		brake.over(tidings.Cap{Count: 500, Per: time.Minute}, "order.shipped", users[i%len(users)], false, 1, now)
	}
}
