package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tidings"
	"tidings/internal/faults"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// Neither transaction sees what the other one writes, so neither may say how the whole stands. This
// is about PostgreSQL; SQLite has one writer.
func TestANotificationWhoseDeliveriesEndAtTheSameInstantHasEnded(t *testing.T) {
	now := start()
	settings, meet := storetest.Postgres(t), meeting{of: 2, all: make(chan struct{})}
	settings.Connector = faults.NewLife(func(c faults.Call) faults.Fate {
		if strings.HasPrefix(c.What, "commit: ") && strings.Contains(c.What, "insert attempts") {
			meet.wait()
		}
		return faults.Fate{}
	}, nil).Connector
	s := storetest.Open(t, settings)
	w := newWorld(t, s)
	deliveries := w.accept(w.acceptance(now, 2))[0].Deliveries
	var both sync.WaitGroup
	for _, c := range w.claim(now, deliveries...) {
		both.Go(func() {
			r := result(c, tidings.ContentRejected, tidings.Failed, now)
			r.Reason = tidings.ReasonProviderRejected
			if _, err := s.Record(t.Context(), store.Normal, []store.Result{r}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	listed, _, err := s.List(t.Context(), store.Filter{UserID: w.user})
	w.must(err)
	if len(listed) != 1 || listed[0].Status != tidings.NotificationFailed { // it is accepted while one of them is under way
		t.Errorf("a notification whose deliveries have both failed is %+v", listed)
	}
	if n := meet.came.Load(); n != 2 {
		t.Errorf("%d transactions met", n)
	}
}

// A meeting lets those who come wait until all are there, or until somebody must be held up.
type meeting struct {
	of   int32
	came atomic.Int32
	all  chan struct{} // closed when all are there
}

func (m *meeting) wait() {
	if m.came.Add(1) == m.of {
		close(m.all)
	}
	select {
	case <-m.all:
	case <-time.After(time.Second):
	}
}
