package testkit

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats-server/v2/server/ats"
)

// PrepareBubbles must be called once in TestMain of a package whose bubbles hold an embedded
// broker: its clock would otherwise belong to the first bubble.
func PrepareBubbles() { ats.Register() }

// Bubble runs a test in virtual time. What is opened in the bubble must be closed in it. Two
// collections come first, and two last: they empty the broker client's pools of timers, which
// belong to whoever made them; for the same reason bubbles of one package must not run in parallel.
func Bubble(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	emptyPools()
	defer emptyPools()
	synctest.Test(t, func(t *testing.T) {
		run(t)
		synctest.Wait()
	})
}

func emptyPools() {
	runtime.GC()
	runtime.GC()
}
