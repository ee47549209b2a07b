package admission

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// loaded is a lane of a hundred, of which apps hold so many.
func loaded(apps map[string]int) *load {
	l := newLoad("push.bulk", Bound{Limit: 100, Short: 100})
	l.apps = apps
	for _, n := range apps {
		l.total += n
	}
	return l
}

func TestWhatALaneTakes(t *testing.T) {
	type apps = map[string]int
	cases := []struct {
		why  string
		has  apps
		app  string
		as   Class
		n    int
		code string
	}{
		{"an empty lane takes as many as may wait", nil, "shop", Transactional, 100, ""},
		{"and not one more", nil, "shop", Transactional, 101, CodeLaneFull},
		{"a lane with room takes what fits", apps{"shop": 99}, "shop", Transactional, 1, ""},
		{"a full lane takes nothing", apps{"shop": 100}, "shop", Transactional, 1, CodeLaneFull},
		{"marketing is refused first", apps{"shop": 80}, "shop", Marketing, 1, CodeLaneFull},
		{"then digests", apps{"shop": 80}, "shop", Digest, 1, ""},
		{"which end at ninety", apps{"shop": 90}, "shop", Digest, 1, CodeLaneFull},
		{"critical work is last", apps{"shop": 100}, "shop", Critical, 10, ""},
		{"and ends too", apps{"shop": 110}, "shop", Critical, 1, CodeLaneFull},
		{"half a lane is not contended", apps{"shop": 45, "bank": 1}, "shop", Transactional, 4, ""},
		{"above it an app has its share", apps{"shop": 50, "bank": 1}, "shop", Transactional, 1, CodeQuotaExceeded},
		{"and others have theirs", apps{"shop": 60, "bank": 1}, "bank", Transactional, 1, ""},
		{"also where one app filled the lane before they came", apps{"shop": 100}, "bank", Transactional, 50, ""},
		{"up to their share", apps{"shop": 100}, "bank", Transactional, 51, CodeQuotaExceeded},
		{"three share in thirds", apps{"shop": 34, "bank": 33}, "post", Transactional, 33, ""},
		{"and no more", apps{"shop": 34, "bank": 33}, "post", Transactional, 34, CodeQuotaExceeded},
		{"of a share too, marketing has less", apps{"shop": 40, "bank": 40}, "shop", Marketing, 1, CodeQuotaExceeded},
		{"however many come, a lane ends at twice its limit", apps{"a": 50, "b": 50, "c": 33, "d": 25, "e": 20, "f": 20}, "g", Transactional, 3, CodeLaneFull},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			refusal := loaded(c.has).refusal(c.app, c.as, c.n)
			if code := codeOf(refusal); code != c.code {
				t.Errorf("%s %q, want %q", code, refusal, c.code)
			}
			if refusal != nil && (refusal.After < time.Second || refusal.After%time.Second != 0) {
				t.Errorf("to be tried again after %v, want whole seconds", refusal.After)
			}
		})
	}
}

func codeOf(r *Refusal) string {
	if r == nil {
		return ""
	}
	return r.Code
}

// What is late does not keep fresh work out, but a lane that falls behind for long takes no more of it.
func TestLateWorkIsBoundedApart(t *testing.T) {
	for _, c := range []struct {
		late, waiting int
		as            Class
		code          string
	}{
		{99, 50, Transactional, ""}, {100, 0, Transactional, CodeLaneFull}, {100, 0, Critical, ""}, {110, 0, Critical, CodeLaneFull}, {80, 0, Marketing, CodeLaneFull},
	} {
		l := loaded(map[string]int{"shop": c.waiting})
		l.late = c.late
		if code := codeOf(l.refusal("shop", c.as, 1)); code != c.code {
			t.Errorf("%d late, %d others, class %v: %q, want %q", c.late, c.waiting, c.as, code, c.code)
		}
	}
}

func TestWhatIsOnItsWayCounts(t *testing.T) {
	l := loaded(map[string]int{"shop": 40})
	l.add(l.since, "shop", 30)
	l.add(l.open, "shop", 30)
	if got := l.waiting(); got != 100 {
		t.Errorf("%d wait, want 100", got)
	}
	if codeOf(l.refusal("shop", Transactional, 1)) != CodeLaneFull {
		t.Error("a full lane took one more")
	}
}

func TestAppsThatAreNotToldApartShareNothing(t *testing.T) {
	l := loaded(nil)
	l.total = 70
	l.add(l.since, "bank", 1)
	if r := l.refusal("shop", Transactional, 29); r != nil {
		t.Errorf("refused: %v", r)
	}
	if r := l.refusal("shop", Transactional, 30); codeOf(r) != CodeLaneFull {
		t.Errorf("refusal %v, want the lane full", r)
	}
}

func TestWhatGoesStraightIntoALane(t *testing.T) {
	l := loaded(map[string]int{"shop": 50, "bank": 10})
	if l.direct("shop", 1) {
		t.Error("an app with its share of the room goes on")
	}
	if !l.direct("bank", 40) {
		t.Error("another app must wait behind it")
	}
	if l.direct("bank", 41) {
		t.Error("the other app takes more than its share")
	}
	alone := loaded(map[string]int{"shop": 90})
	if !alone.direct("shop", 10) {
		t.Error("an app alone leaves room unused")
	}
}

func TestHowLongToWait(t *testing.T) {
	cases := []struct {
		why  string
		rate float64
		over int
		want time.Duration
	}{
		{"as long as the surplus takes to drain", 10, 95, 10 * time.Second},
		{"never less than a second", 1000, 1, time.Second},
		{"never more than five minutes", 0.1, 1000, 5 * time.Minute},
		{"a guess while nothing drains", 0, 1, 10 * time.Second},
	}
	for _, c := range cases {
		l := loaded(nil)
		l.drain.perSecond = c.rate
		if got := l.after(c.over); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestASlowLaneTakesWhatItCanDoInTime(t *testing.T) {
	l := newLoad("sms.bulk", Bound{Limit: 1000, MaxWait: 10 * time.Second, Short: 1000})
	if got := l.limit(); got != 1000 {
		t.Errorf("without a known rate %d may wait, want the limit", got)
	}
	l.drain.full = 20
	if got := l.limit(); got != 200 {
		t.Errorf("at 20 a second %d may wait, want what takes ten seconds", got)
	}
	l.drain.full = 500
	if got := l.limit(); got != 1000 {
		t.Errorf("at 500 a second %d may wait, want the limit", got)
	}
}

func TestTheRateOfALane(t *testing.T) {
	type seen struct{ before, came, after int }
	cases := []struct {
		why             string
		seen            []seen // a second each
		perSecond, full float64
	}{
		{"nothing is known of a lane at rest", []seen{{0, 5, 0}, {0, 5, 0}}, 0, 0},
		{"a backlog shows what the lane can do", []seen{{100, 0, 80}, {80, 10, 70}, {70, 0, 50}}, 20, 20},
		{"two seconds are the least to go by", []seen{{100, 0, 80}}, 20, 0},
		{"a trickle does not show it", []seen{{1, 5, 1}, {1, 5, 1}, {1, 5, 1}}, 5, 0},
		{"a lane that stands still has the rate it had", []seen{{100, 0, 80}, {80, 0, 60}, {60, 0, 60}, {60, 0, 60}}, 20, 20},
		{"nor does a count that is off", []seen{{10, 0, 30}, {30, 0, 30}}, 0, 0},
	}
	for _, c := range cases {
		var d drain
		now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
		for _, s := range c.seen {
			now = now.Add(time.Second)
			d.see(s.before, s.came, s.after, time.Second, now)
		}
		if d.perSecond != c.perSecond || d.full != c.full {
			t.Errorf("%s: %v a second, at most %v, want %v and %v", c.why, d.perSecond, d.full, c.perSecond, c.full)
		}
		if d.see(0, 0, 0, time.Second, now.Add(drainSpan)); d.perSecond != 0 || d.full != 0 {
			t.Errorf("%s: after a minute it is still %v", c.why, d.perSecond)
		}
	}
}

// What waits is summed up as it changes; it must come to the same as a count of all apps.
func TestTheRunningSumIsThatOfTheApps(t *testing.T) {
	l := newLoad("push.bulk", Bound{Limit: 100, Short: 100})
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		app, n := fmt.Sprint("app", random.IntN(5)), random.IntN(4)
		maps := []map[string]int{l.since, l.open}
		if random.IntN(2) == 0 {
			l.add(maps[random.IntN(2)], app, n)
		} else {
			l.take(maps[random.IntN(2)], app, n) // also of what is not there
		}
		want := 0
		for _, m := range maps {
			for _, of := range m {
				want += of
			}
		}
		if l.waiting() != want {
			t.Fatalf("the sum is %d, all apps have %d", l.waiting(), want)
		}
	}
}

func TestWhatWaitsForAProviderDoesNotSlowItsLane(t *testing.T) {
	l := newLoad("push.bulk", Bound{Limit: 100, MaxWait: 10 * time.Second})
	l.drain.full = 2
	for turn, want := range map[int]int{0: 20, 30: 50, 500: 100} {
		if l.turn = turn; l.limit() != want {
			t.Errorf("%d wait for their turn: %d may wait, want %d", turn, l.limit(), want)
		}
	}
}
