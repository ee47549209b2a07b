package workers

import (
	"testing"
	"time"

	"tidings"
)

func TestProcessesShareARateByTheirNumber(t *testing.T) {
	inWorld(t, []Provider{provider("phones", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		first := w.start()
		if got := first.crew.share(12); got != 12 {
			t.Errorf("alone it has %v of 12", got)
		}
		second := w.start()
		if got := second.crew.share(12); got != 6 {
			t.Errorf("the second begins with %v of 12, want 6", got)
		}
		w.pass(beatEvery)
		if got := first.crew.share(12); got != 6 {
			t.Errorf("the first has %v of 12 beside the second, want 6", got)
		}
		w.stop(second)
		w.pass(beatEvery)
		if got := first.crew.share(12); got != 12 {
			t.Errorf("alone again it has %v of 12", got)
		}
	})
}

func TestAProcessThatDiesIsMissedSoon(t *testing.T) {
	inWorld(t, []Provider{provider("phones", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		dead := newCrew(w.store) // beats once and never again
		if _, err := dead.beat(t.Context(), time.Now(), nil, nil); err != nil {
			t.Fatal(err)
		}
		alive := w.start()
		if got := alive.crew.share(12); got != 6 {
			t.Errorf("beside the other it has %v of 12, want 6", got)
		}
		w.pass(beatSilent + beatEvery)
		if got := alive.crew.share(12); got != 12 {
			t.Errorf("alone it has %v of 12", got)
		}
	})
}
