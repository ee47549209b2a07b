package workers

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/observe"
	"tidings/internal/store/storetest"
)

// A clock that jumps makes every lease look over, while the calls are under way.
func TestAProcessClosesNoClaimThatItHolds(t *testing.T) {
	log := storetest.Open(t, storetest.Hasty(t))
	h := newHistory(t, log, 1, 0)
	h.now, h.lane.calm = time.Now().Add(-time.Hour), true
	for len(h.lane.entries) == 0 {
		h.accept()
	}
	f := h.processes[0]
	f.fetch()
	f.d.w.Store, f.d.w.Metrics, f.d.next = log, observe.NewMetrics("test", nil, nil), map[tidings.Lane]*dues{}
	claim := f.calls[0].Delivery
	f.d.closeLeases(t.Context())
	status := func() tidings.Status {
		trail, err := log.Trail(t.Context(), "", tidings.NotificationOf(claim.ID))
		h.must(err)
		return trail.Deliveries[tidings.OrdinalOf(claim.ID)].Status
	}
	if got := status(); got != tidings.Sending {
		t.Fatalf("while this process holds the claim it became %s", got)
	}
	f.d.w.live.remove(claim.ID, claim.ClaimNo)
	f.d.closeLeases(t.Context())
	if got := status(); got == tidings.Sending {
		t.Fatal("a claim that nobody holds was not closed")
	}
}
