package workers

import (
	"testing"
	"time"

	"tidings"
)

func TestABucketThatIsRetunedGivesNothingAway(t *testing.T) {
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	b := newBucket(100, now)
	b.use(10)
	steps := []struct {
		why  string
		wait time.Duration
		rate float64
		want int
	}{
		{"empty stays empty", 0, 200, 0},
		{"what came in at the old rate is kept", 50 * time.Millisecond, 10, 1},
		{"a lower rate holds less", 0, 10, 1},
		{"the old rate counts until it ends", time.Second, 1000, 1},
		{"then the new one", 10 * time.Millisecond, 1000, 11},
	}
	for _, s := range steps {
		now = now.Add(s.wait)
		b.retune(s.rate, now)
		if n, _ := b.free(now); n != s.want {
			t.Errorf("%s: %d, want %d", s.why, n, s.want)
		}
	}
}

// setRate sets the rate of push.bulk, and gives every process the time to see it.
func (w *world) setRate(perSecond float64) {
	w.t.Helper()
	if err := w.store.SetLaneRate(w.t.Context(), "push.bulk", perSecond); err != nil {
		w.t.Fatal(err)
	}
	w.pass(look)
}

func TestALaneKeepsTheRateThatIsSetWhileItRuns(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		w.setRate(10)
		w.accept(2000, orderPush)
		during := func(why string, d time.Duration, least, most int) {
			t.Helper()
			before := s.count()
			w.pass(d)
			if n := s.count() - before; n < least || n > most {
				t.Errorf("%s: %d calls in %v, want %d to %d", why, n, d, least, most)
			}
		}
		during("ten a second", 20*time.Second, 195, 201)
		w.setRate(40)
		during("forty a second", 10*time.Second, 390, 404)
		w.start()
		w.pass(beatEvery + look)
		during("shared by two", 5*time.Second, 190, 208)
		w.setRate(0)
		w.pass(5 * time.Second)
		if s.count() != 2000 {
			t.Errorf("%d calls after the rate was lifted, want all", s.count())
		}
	})
}
