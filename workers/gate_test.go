package workers

import (
	"testing"
	"time"

	"tidings"
)

var start = time.Unix(1796000000, 0).UTC()

func testGate(concurrency int, perSecond float64) *gate {
	p := Provider{Name: "one", Channel: tidings.SMS, Concurrency: concurrency, PerSecond: perSecond}
	return newGate(p, Breaker{Failures: 1, Window: time.Minute, OpenFor: 10 * time.Second}, start, func() {})
}

func take(t *testing.T, g *gate, p tidings.Priority, now time.Time, want int) (last *permit) {
	t.Helper()
	got := 0
	for range want + 1 {
		permit, _ := g.take(p, now)
		if permit == nil {
			break
		}
		last = permit
		got++
	}
	if got != want {
		t.Fatalf("%d %s permits, want %d", got, p, want)
	}
	return last
}

func TestBulkLeavesPlacesForWhatIsUrgent(t *testing.T) {
	g := testGate(16, 0)
	bulk := take(t, g, tidings.Bulk, start, 14)
	urgent := take(t, g, tidings.Urgent, start, 2)
	urgent.done(false, start)
	take(t, g, tidings.Bulk, start, 0)
	bulk.done(false, start)
	take(t, g, tidings.Urgent, start, 2)
}

func TestASinglePlaceServesBothPriorities(t *testing.T) {
	g := testGate(1, 0)
	take(t, g, tidings.Bulk, start, 1).done(false, start)
	take(t, g, tidings.Urgent, start, 1)
}

func TestRateIsSharedWithAReserveForWhatIsUrgent(t *testing.T) {
	g := testGate(1000, 80) // burst of eight, seven of them for bulk
	take(t, g, tidings.Bulk, start, 7)
	take(t, g, tidings.Urgent, start, 1)
	if _, again := g.take(tidings.Urgent, start); !again.After(start) || again.After(start.Add(13*time.Millisecond)) {
		t.Errorf("look again at %v, want an eightieth of a second on", again.Sub(start))
	}
	count := func(p tidings.Priority) (n int) {
		for ms := range 1000 {
			now := start.Add(time.Duration(ms) * time.Millisecond)
			for {
				permit, _ := g.take(p, now)
				if permit == nil {
					break
				}
				permit.done(false, now)
				n++
			}
		}
		return n
	}
	if n := count(tidings.Bulk); n < 69 || n > 71 {
		t.Errorf("bulk made %d calls in a second, want seventy", n)
	}
}

func TestAPermitGivenBackCostsNothing(t *testing.T) {
	g := testGate(1, 1)
	take(t, g, tidings.Urgent, start, 1).giveBack()
	take(t, g, tidings.Urgent, start, 1)
}

func TestAnOpenBreakerGivesNoPermits(t *testing.T) {
	g := testGate(8, 0)
	take(t, g, tidings.Urgent, start, 8).done(true, start)
	if _, again := g.take(tidings.Urgent, start); !again.Equal(start.Add(10 * time.Second)) {
		t.Errorf("look again at %v", again)
	}
	if shut, until, since := g.shut(start.Add(time.Second)); !shut || !until.Equal(start.Add(10*time.Second)) || !since.Equal(start) {
		t.Errorf("shut %v until %v since %v", shut, until, since)
	}
}
