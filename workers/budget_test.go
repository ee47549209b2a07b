package workers

import (
	"math/rand/v2"
	"testing"
	"time"
)

// outage plays a provider of which a share of the calls fails, to which n first calls a second
// come for ten minutes, and counts how many retries the budget lets through where as many wait as
// ever failed.
func outage(share float64, perSecond int) (first, retries int) {
	dice := rand.New(rand.NewPCG(1, 2))
	b := newBudget(start)
	waiting := 0
	call := func(retry bool, now time.Time) {
		b.call(retry)
		failed := dice.Float64() < share
		if b.ended(failed, now); failed {
			waiting++
		}
	}
	for s := range 600 {
		now := start.Add(time.Duration(s) * time.Second)
		for range perSecond {
			first++
			call(false, now)
			for waiting > 0 && b.allows(now) {
				waiting--
				retries++
				call(true, now)
			}
		}
	}
	return first, retries
}

func TestInAnOutageRetriesAreATenthOfTheCalls(t *testing.T) {
	for _, share := range []float64{1, 0.9, 0.5, 0.3} {
		first, retries := outage(share, 20)
		if most := float64(first+retries)*retryShare + retriesSaved + 600*retriesAlways; float64(retries) > most {
			t.Errorf("%v of the calls fail: %d retries beside %d first calls", share, retries, first)
		}
	}
}

func TestAProviderThatIsWellIsRetriedFreely(t *testing.T) {
	first, retries := outage(0.02, 20)
	if want := float64(first) * 0.02; float64(retries) < want*0.9 {
		t.Errorf("%d retries, want nearly all of %v", retries, want)
	}
	b := budget{filled: start, saved: retriesSaved}
	for n := range 1000 { // what an outage left over, without any fresh traffic
		if !b.allows(start) {
			t.Fatalf("retry %d waits although all before it succeeded", n)
		}
		b.call(true)
		b.ended(false, start)
	}
}

func TestAProviderWithHardlyAnyTrafficMayBeAskedAgain(t *testing.T) {
	b := budget{filled: start, failed: start}
	if b.allows(start) {
		t.Error("nothing is saved up")
	}
	if b.allows(start.Add(calm-1)) || !b.allows(start.Add(calm+time.Second)) {
		t.Error("the first retry comes once the last failure is a while ago")
	}
}

func TestWhatAnOutageLeftOverNeedsNoFreshTraffic(t *testing.T) {
	b := budget{filled: start, failed: start}
	now := start
	for b.run < wellAfter {
		if now = now.Add(100 * time.Millisecond); b.allows(now) {
			b.call(true)
			b.ended(false, now)
		}
	}
	if took := now.Sub(start); took > 40*time.Second {
		t.Errorf("it takes %v until the provider counts as well", took)
	}
}
