package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// deadCollapsing is a dead delivery with the collapse key of others.
func (w *world) deadCollapsing(at time.Time) tidings.DeliveryID {
	w.Helper()
	id := w.accept(w.collapsing(at, 1))[0].Deliveries[0]
	w.record(result(w.claim(at, id)[0], tidings.Transient, tidings.Dead, at))
	return id
}

func TestARedriveEndsWhatANewerEventTookThePlaceOf(t *testing.T) {
	cases := []struct {
		why        string
		change     func(newer *store.Acceptance)
		superseded bool
	}{
		{"a delivery", func(*store.Acceptance) {}, true},
		{"in the channel's other lane", func(a *store.Acceptance) { a.Deliveries[0].Lane = "push.priority" }, true},
		{"a hold", func(a *store.Acceptance) {
			a.Deliveries = nil
			*a = holding(*a, tidings.Push, tidings.ReasonQuietHours)
		}, true},
		{"a scheduled send, whose time has not come", func(a *store.Acceptance) {
			a.Deliveries = nil
			*a = holding(*a, tidings.Push, tidings.ReasonScheduled)
		}, false},
		{"another key", func(a *store.Acceptance) { a.Notification.CollapseKey = "order-4712" }, false},
		{"no key", func(a *store.Acceptance) { a.Notification.CollapseKey = "" }, false},
		{"another app's", func(a *store.Acceptance) { a.Notification.App = "bank" }, false},
		{"a test of it", func(a *store.Acceptance) { a.Notification.Test = true }, false},
		{"another user's", func(a *store.Acceptance) { a.Notification.UserID = "u_other" }, false},
		{"another channel", func(a *store.Acceptance) { a.Deliveries[0].Lane = "email.bulk" }, false},
		{"nothing to send", func(a *store.Acceptance) { a.Deliveries = nil }, false},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				id := w.deadCollapsing(start())
				newer := w.collapsing(start().Add(time.Second), 1)
				c.change(&newer)
				w.accept(newer)
				now := start().Add(time.Minute)
				got := w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id}, Now: now})
				if !c.superseded {
					w.expect(id, tidings.Parked, tidings.ReasonRedriven)
					return
				}
				if d := w.expect(id, tidings.Cancelled, tidings.ReasonSuperseded); got != (store.Redriven{Cancelled: 1}) || !d.FinishedAt.Equal(now) {
					t.Errorf("redriven %+v, ended at %v", got, d.FinishedAt)
				}
				trail, err := s.Trail(t.Context(), "", tidings.NotificationOf(id))
				w.must(err)
				if m := trail.Timeline; len(m) != 2 || m[1].Kind != "cancelled" || m[1].Delivery != id || !m[1].At.Equal(now) ||
					m[1].Text != "superseded by "+newer.Notification.ID.String()+", a newer event with the same collapse_key" {
					t.Errorf("the timeline is %+v", m)
				}
			})
		}
	})
}

func TestOfDeadOnesWithOneKeyTheNewestIsTriedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		older := w.deadCollapsing(start())
		newer := w.deadCollapsing(start().Add(time.Second))
		got := w.redrive(store.Redrive{IDs: []tidings.DeliveryID{newer, older}, Now: start().Add(time.Minute)})
		if got.Parked != 1 || got.Cancelled != 1 {
			t.Errorf("redriven %+v", got)
		}
		w.expect(older, tidings.Cancelled, tidings.ReasonSuperseded)
		w.expect(newer, tidings.Parked, tidings.ReasonRedriven)
	})
}
