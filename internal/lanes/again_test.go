package lanes

import (
	"slices"
	"testing"
	"time"

	"tidings/internal/testkit"
)

// What was said to have failed is in the log again, and due: it must not come to its lane later.
func TestAPublishThatFailedWhileTheBrokerWasAwayNeverArrives(t *testing.T) {
	broker := testkit.NewTCPBroker(t)
	defer broker.Stop()
	l := open(t, Settings{URL: broker.URL()})
	defer closeLanes(t, l)
	broker.Stop()
	lost, kept := ids(3), ids(1)
	if failed, err := l.Publish(t.Context(), bulk, time.Now(), lost); err == nil || len(failed) != len(lost) {
		t.Fatalf("%d failed, %v", len(failed), err)
	}
	broker.Start()
	for {
		if failed, err := l.Publish(t.Context(), bulk, time.Now(), kept); err == nil && len(failed) == 0 {
			break
		}
	}
	for _, e := range fetch(t, l, bulk, 10) {
		if !slices.Equal(e.IDs, kept) {
			t.Errorf("%v came though its publish had failed", e.IDs)
		}
	}
}
