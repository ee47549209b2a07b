package workers

import (
	"sync"

	"tidings"
	"tidings/internal/store"
)

// Live are the claims of this process that are not recorded yet. The dispatcher leaves them
// alone when their lease looks over: a clock that jumped, or a slow commit, is not a crash.
type live struct {
	mu     sync.Mutex
	claims map[tidings.DeliveryID]int // claim number; guarded by mu
}

func (l *live) add(claimed []store.Claimed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range claimed {
		l.claims[claimed[i].Delivery.ID] = claimed[i].Delivery.ClaimNo
	}
}

func (l *live) remove(id tidings.DeliveryID, claim int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.claims[id] == claim {
		delete(l.claims, id)
	}
}

func (l *live) has(id tidings.DeliveryID, claim int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.claims[id] == claim
}
