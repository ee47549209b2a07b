package store_test

import (
	"reflect"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestAnExportHasThePersonsDeliveriesAsTheirTrailsDo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w, other := newWorld(t, s), newWorld(t, s)
		for _, one := range []*world{w, other} {
			c := one.sending(start())
			one.record(result(c, tidings.OK, tidings.Sent, start()))
			one.receipts(receipt(c, tidings.ReceiptDelivered, start()), receipt(c, tidings.ReceiptOpened, start()), receipt(c, tidings.ReceiptClicked, start()))
			_, _, err := s.Unsubscribed(t.Context(), c.Delivery.ID, start())
			w.must(err)
			one.record(result(one.sending(start().Add(time.Second)), tidings.Transient, tidings.Parked, start()))
			one.accept(one.acceptance(start().Add(time.Minute), 2))
		}
		e, err := s.ExportUser(t.Context(), w.user)
		w.must(err)
		var want []store.TrailDelivery
		for i := range e.Notifications {
			trail, err := s.Trail(t.Context(), "", e.Notifications[i].ID)
			w.must(err)
			want = append(want, trail.Deliveries...)
		}
		if len(e.Notifications) != 3 || len(want) != 4 || !reflect.DeepEqual(e.Deliveries, want) {
			t.Fatalf("of %d notifications %d deliveries are exported: %+v, want %+v", len(e.Notifications), len(e.Deliveries), e.Deliveries, want)
		}
		first := e.Deliveries[3]
		if len(first.Attempts) != 1 || len(first.Receipts) != 3 || first.OpenedAt.IsZero() || first.ClickedAt.IsZero() || first.UnsubscribedAt.IsZero() {
			t.Errorf("the first delivery is %+v", first)
		}
	})
}
