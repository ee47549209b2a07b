package workers

import (
	"log/slog"
	"testing"
	"time"

	"tidings"
	"tidings/internal/lanes"
)

// A worker that hangs would hide its entry for ever if its process went on to say that it is worked on.
func TestAnEntryIsKeptForALeaseAndNoLonger(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	h := hands{log: slog.New(slog.DiscardHandler), held: map[*held]struct{}{}}
	old := h.take([]*lanes.Entry{{IDs: make([]tidings.DeliveryID, 2)}}, now)
	young := h.take([]*lanes.Entry{{IDs: make([]tidings.DeliveryID, 1)}}, now.Add(time.Second))
	if got := h.alive(now.Add(time.Minute-time.Nanosecond), time.Minute); len(got) != 2 {
		t.Fatalf("%d entries are kept within their lease, want both", len(got))
	}
	got := h.alive(now.Add(time.Minute), time.Minute)
	if len(got) != 1 || h.holds(old[0].from) || !h.holds(young[0].from) {
		t.Fatalf("%d entries are kept when the lease of one is over", len(got))
	}
	h.settle(old[0].from, 2) // what comes of it later does no harm
}
