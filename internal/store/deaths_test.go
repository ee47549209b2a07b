package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// deaths are the moments of a delivery that say what it died of.
func (w *world) deaths(id tidings.DeliveryID) (all []store.Moment) {
	w.Helper()
	trail, err := w.s.Trail(w.Context(), "", tidings.NotificationOf(id))
	w.must(err)
	for _, m := range trail.Timeline {
		if _, died := m.Died(); died && m.Delivery == id {
			all = append(all, m)
		}
	}
	return all
}

func TestATrailKeepsWhatADeliveryDiedOf(t *testing.T) {
	now := start().Add(time.Hour)
	rising := map[string]func(w *world, c store.Claimed){
		"it is tried again": func(w *world, c store.Claimed) { w.redrive(store.Redrive{IDs: ids(c), Now: now}) },
		"it is called off": func(w *world, c store.Claimed) {
			_, err := w.s.Cancel(w.Context(), "", c.Notification.ID, now)
			w.must(err)
		},
		"its user is erased":     func(w *world, c store.Claimed) { w.must(w.s.EraseUser(w.Context(), w.user, now)) },
		"a receipt says it came": func(w *world, c store.Claimed) { w.receipts(receipt(c, tidings.ReceiptDelivered, now)) },
		"a late answer says it was taken": func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OK, tidings.Sent, now))
		},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for why, rise := range rising {
			w := newWorld(t, s)
			c := w.dead(start(), "apns", tidings.ReasonRetriesSpent)
			id, died := c.Delivery.ID, w.trail(c.Delivery.ID).FinishedAt
			if m := w.deaths(id); len(m) != 0 {
				t.Errorf("%s: told while it is dead: %+v", why, m)
			}
			rise(w, c)
			if d := w.trail(id); d.Status == tidings.Dead {
				t.Errorf("%s: it is still dead", why)
			}
			m := w.deaths(id)
			if len(m) != 1 || !m[0].At.Equal(died) || m[0].Text != string(tidings.ReasonRetriesSpent) {
				t.Errorf("%s: told %+v, want one at %v", why, m, died)
			}
		}
	})
}
