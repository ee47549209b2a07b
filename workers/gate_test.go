package workers

import (
	"testing"
	"time"

	"tidings"
)

var start = time.Unix(1796000000, 0).UTC()

func testGate(concurrency int, perSecond float64) *gate {
	p := Provider{Name: "one", Channel: tidings.SMS, Concurrency: concurrency, PerSecond: perSecond, Timeout: 10 * time.Second}
	return newGate(p, Breaker{Failures: 1, Window: time.Minute, OpenFor: 10 * time.Second, Slow: 0.9}, time.Minute, start)
}

func take(t *testing.T, g *gate, p tidings.Priority, now time.Time, want int) (last *permit) {
	t.Helper()
	got := 0
	for range want + 1 {
		permit, _ := g.take(request{priority: p}, now)
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
	urgent.done(ended{}, start)
	take(t, g, tidings.Bulk, start, 0)
	bulk.done(ended{}, start)
	take(t, g, tidings.Urgent, start, 2)
}

func TestASinglePlaceServesBothPriorities(t *testing.T) {
	g := testGate(1, 0)
	take(t, g, tidings.Bulk, start, 1).done(ended{}, start)
	take(t, g, tidings.Urgent, start, 1)
}

func TestRateIsSharedWithAReserveForWhatIsUrgent(t *testing.T) {
	g := testGate(1000, 80) // burst of eight, seven of them for bulk
	take(t, g, tidings.Bulk, start, 7)
	take(t, g, tidings.Urgent, start, 1)
	if _, again := g.free(tidings.Urgent, start); !again.After(start) || again.After(start.Add(13*time.Millisecond)) {
		t.Errorf("look again at %v, want an eightieth of a second on", again.Sub(start))
	}
	count := func(p tidings.Priority) (n int) {
		for ms := range 1000 {
			now := start.Add(time.Duration(ms) * time.Millisecond)
			for {
				permit, _ := g.take(request{priority: p}, now)
				if permit == nil {
					break
				}
				permit.done(ended{}, now)
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
	take(t, g, tidings.Urgent, start, 8).done(ended{failed: true}, start)
	if n, again := g.free(tidings.Urgent, start); n != 0 || !again.Equal(start.Add(10*time.Second)) {
		t.Errorf("%d permits, look again at %v", n, again)
	}
	if shut, until := g.shut(start.Add(time.Second)); !shut || !until.Equal(start.Add(10*time.Second)) {
		t.Errorf("shut %v until %v", shut, until)
	}
}

func TestAPermitTakenBeforeTheBreakerOpenedIsOfNoUse(t *testing.T) {
	g := testGate(8, 0)
	early := take(t, g, tidings.Urgent, start, 8)
	if !early.holds() {
		t.Error("nothing has happened yet")
	}
	other := &permit{gate: g, priority: tidings.Urgent}
	other.done(ended{failed: true}, start)
	if early.holds() {
		t.Error("a call would be made although the breaker is open")
	}
	if probe := take(t, g, tidings.Urgent, start.Add(10*time.Second), 1); !probe.holds() {
		t.Error("a probe may not be made")
	}
}

func TestACallThatTakesNearlyItsTimeoutIsAFailure(t *testing.T) {
	for took, shut := range map[time.Duration]bool{8999 * time.Millisecond: false, 9 * time.Second: true} {
		g := testGate(8, 0)
		take(t, g, tidings.Urgent, start, 8).done(ended{took: took}, start)
		if got, _ := g.shut(start); got != shut {
			t.Errorf("after %v of ten seconds: shut %v", took, got)
		}
	}
}

func TestAProviderThatAsksForAPauseGetsIt(t *testing.T) {
	tests := []struct {
		why  string
		said []ended
		rest time.Duration // from the last of them, each a second after the one before
	}{
		{"with a span", []ended{{throttled: true, pause: 7 * time.Second}}, 7 * time.Second},
		{"a span beside a failure", []ended{{failed: true, pause: 20 * time.Second}}, 20 * time.Second},
		{"a failure that asks for less than the breaker gives", []ended{{failed: true, pause: time.Second}}, 10 * time.Second},
		{"without a span", []ended{{throttled: true}}, time.Second},
		{"twice without a span: the second is longer", []ended{{throttled: true}, {throttled: true}}, 2 * time.Second},
		{"a success between them: it is the first again", []ended{{throttled: true}, {}, {throttled: true}}, time.Second},
		{"at most for a minute", []ended{{throttled: true, pause: time.Hour}}, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			g := testGate(64, 0)
			now := start
			for i, e := range tt.said {
				now = start.Add(time.Duration(i) * time.Second)
				permit, _ := g.take(request{priority: tidings.Bulk}, now)
				if permit == nil {
					t.Fatalf("no permit for call %d", i)
				}
				permit.done(e, now)
			}
			if _, until := g.shut(now); until.Sub(now) != tt.rest {
				t.Errorf("it rests for %v, want %v", until.Sub(now), tt.rest)
			}
		})
	}
}

func TestManyRefusalsAtOnceAreOnePause(t *testing.T) {
	g := testGate(64, 0)
	for range 20 {
		if permit, _ := g.take(request{priority: tidings.Urgent}, start); permit != nil {
			defer permit.done(ended{throttled: true}, start)
		}
	}
	t.Cleanup(func() {
		if _, until := g.shut(start); until.Sub(start) != time.Second {
			t.Errorf("it rests for %v, want a second", until.Sub(start))
		}
	})
}

func TestOneProviderOfALaneLeavesPlacesToTheOthers(t *testing.T) {
	for _, tt := range []struct{ workers, others, want int }{{64, 0, 64}, {64, 1, 56}, {64, 2, 48}, {16, 1, 14}, {2, 1, 1}, {1, 1, 1}, {4, 9, 1}} {
		if got := most(tt.workers, tt.others); got != tt.want {
			t.Errorf("of %d calls beside %d others it may have %d, want %d", tt.workers, tt.others, got, tt.want)
		}
	}
	g := testGate(64, 0)
	g.most[tidings.Bulk] = 5
	take(t, g, tidings.Bulk, start, 5).done(ended{}, start)
	take(t, g, tidings.Bulk, start, 1)
	take(t, g, tidings.Urgent, start, 59)
}

func TestRetriesBeyondTheBudgetWaitAndFirstCallsGoOn(t *testing.T) {
	g := testGate(64, 0)
	g.budget = budget{saved: 1, filled: start}
	if permit, _ := g.take(request{priority: tidings.Bulk, retry: true}, start); permit == nil {
		t.Fatal("a retry within the budget is refused")
	}
	permit, again := g.take(request{priority: tidings.Bulk, retry: true}, start)
	if permit != nil || again.Before(start.Add(overBudget)) {
		t.Fatalf("a retry beyond the budget: permit %v, again in %v", permit, again.Sub(start))
	}
	take(t, g, tidings.Bulk, start, 55) // and they pay for retries to come
	if permit, _ = g.take(request{priority: tidings.Urgent, retry: true}, start); permit == nil {
		t.Error("what fifty first calls pay for is not given")
	}
}
