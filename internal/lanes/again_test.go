package lanes

import (
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/testkit"
)

// A delivery that is rescued, or tried again, is published under the id that it always had: a
// broker that took it for a repetition would swallow it.
func TestWhatIsPublishedAgainComesAgain(t *testing.T) {
	l := open(t, Settings{})
	defer closeLanes(t, l)
	for _, lane := range []tidings.Lane{bulk, urgent} {
		stamp, all := time.Now(), ids(1)
		for range 2 {
			publish(t, l, lane, stamp, all)
			got := fetch(t, l, lane, 1)
			if len(got) != 1 || !slices.Equal(got[0].IDs, all) {
				t.Fatalf("%s: fetched %d entries", lane, len(got))
			}
			if err := got[0].Ack(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

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
