package store_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// held is how the one hold of a notification stands, with the notification's status and timeline.
func (w *world) held(a store.Acceptance) (tidings.HoldState, tidings.NotificationStatus, []store.Moment) {
	w.Helper()
	trail, err := w.s.Trail(w.Context(), "", a.Notification.ID)
	w.must(err)
	standing, err := w.s.Standings(w.Context(), []tidings.NotificationID{a.Notification.ID}, start().Add(time.Minute))
	w.must(err)
	return trail.Holds[0].State, standing[a.Notification.ID].Status, trail.Timeline
}

func TestWhatIsSentNowTakesThePlaceOfWhatIsHeld(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, why := range []tidings.Reason{tidings.ReasonQuietHours, tidings.ReasonScheduled} {
			w := newWorld(t, s)
			older := holding(w.collapsing(start(), 0), tidings.Push, why)
			w.accept(older)
			newer := w.collapsing(start().Add(time.Second), 1)
			w.accept(newer)
			hold, status, moments := w.held(older)
			if hold != tidings.HoldCancelled || status != tidings.NotificationCancelled || len(moments) != 1 ||
				!strings.HasPrefix(moments[0].Text, "what was held for push is superseded by "+newer.Notification.ID.String()) {
				t.Errorf("%s: hold %s, notification %s, timeline %+v", why, hold, status, moments)
			}
		}
	})
}

func TestWhatIsHeldTakesThePlaceOfNothingButWhatIsHeldLikeIt(t *testing.T) {
	cases := []struct {
		older, newer tidings.Reason // empty: sent now
		ends         bool
	}{
		{"", tidings.ReasonScheduled, false}, // its time has not come
		{"", tidings.ReasonQuietHours, false},
		{tidings.ReasonQuietHours, tidings.ReasonScheduled, false},
		{tidings.ReasonScheduled, tidings.ReasonScheduled, false}, // each was asked for on its own
		{tidings.ReasonScheduled, tidings.ReasonQuietHours, false},
		{tidings.ReasonQuietHours, tidings.ReasonQuietHours, true}, // both wait for the same morning
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			w := newWorld(t, s)
			older, newer := w.collapsing(start(), 1), holding(w.collapsing(start().Add(time.Second), 0), tidings.Push, c.newer)
			if c.older != "" {
				older = holding(w.collapsing(start(), 0), tidings.Push, c.older)
			}
			w.accept(older)
			w.accept(newer)
			if c.older == "" {
				w.expect(tidings.DeliveryOf(older.Notification.ID, 0), tidings.Queued, "")
			} else if hold, _, _ := w.held(older); (hold == tidings.HoldCancelled) != c.ends {
				t.Errorf("%s after %s: the older hold is %s", c.newer, c.older, hold)
			}
			if hold, _, _ := w.held(newer); hold != tidings.HoldWaiting {
				t.Errorf("%s after %s: the newer hold is %s", c.newer, c.older, hold)
			}
		}
	})
}

func TestWhatIsHeldTakesThePlaceOfWhatQuietHoursPutOffInItsLane(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range []struct {
			why    tidings.Reason // the older one is parked
			newer  tidings.Reason // holds the newer one
			status tidings.Status
			reason tidings.Reason
		}{
			{tidings.ReasonQuietHours, tidings.ReasonQuietHours, tidings.Cancelled, tidings.ReasonSuperseded},
			{tidings.ReasonQuietHours, tidings.ReasonScheduled, tidings.Parked, tidings.ReasonQuietHours}, // its time has not come
			{"", tidings.ReasonQuietHours, tidings.Parked, ""},                                            // it is tried again, which quiet hours allow
		} {
			w := newWorld(t, s)
			older := w.accept(w.collapsing(start(), 1))[0].Deliveries[0]
			_, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: bulk, IDs: []tidings.DeliveryID{older}, Now: start(), Lease: time.Minute,
				Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
					return tidings.Parked, c.why, start().Add(time.Hour)
				}})
			w.must(err)
			w.accept(holding(w.collapsing(start().Add(time.Second), 0), tidings.Push, c.newer))
			w.expect(older, c.status, c.reason)
		}
	})
}

// releasing is the acceptance that releases a hold, sent to the user's first device.
func (w *world) releasing(a store.Acceptance, now time.Time) store.Acceptance {
	b := w.acceptance(now, 1)
	b.Notification.ID, b.Notification.CollapseKey, b.Release = a.Notification.ID, a.Notification.CollapseKey, &a.Holds[0]
	return b
}

func TestAReleasedHoldTakesThePlaceOfWhatIsOlder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		at := func(seconds int) time.Time { return start().Add(time.Duration(seconds) * time.Second) }
		waiting := w.accept(w.collapsing(at(0), 1))[0]
		older, newer, newest := holding(w.collapsing(at(1), 0), tidings.Push, tidings.ReasonScheduled),
			holding(w.collapsing(at(2), 0), tidings.Push, tidings.ReasonScheduled), holding(w.collapsing(at(3), 0), tidings.Push, tidings.ReasonScheduled)
		w.accept(older, newer, newest)
		w.expect(waiting.Deliveries[0], tidings.Queued, "")
		now := at(3600)
		got := w.accept(w.releasing(newer, now))[0]
		if d := w.expect(waiting.Deliveries[0], tidings.Cancelled, tidings.ReasonSuperseded); !d.FinishedAt.Equal(now) {
			t.Errorf("it ended at %v", d.FinishedAt)
		}
		w.expect(got.Deliveries[0], tidings.Queued, "")
		if hold, _, _ := w.held(older); hold != tidings.HoldCancelled {
			t.Errorf("the older hold is %s", hold)
		}
		if hold, _, _ := w.held(newest); hold != tidings.HoldWaiting {
			t.Errorf("the newest hold is %s", hold)
		}
		if out := w.accept(w.releasing(older, now))[0]; !out.Consumed {
			t.Error("a superseded hold was released")
		}
	})
}

func TestHoldsOfOneKeyThatAreReleasedAtOnceLeaveTheNewest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var held, all []store.Acceptance
		for i := range 8 {
			held = append(held, holding(w.collapsing(start().Add(time.Duration(i)*time.Second), 0), tidings.Push, tidings.ReasonScheduled))
			all = append(all, w.releasing(held[i], start().Add(time.Hour)))
		}
		w.accept(held...)
		acceptAtOnce(w, all)
		for i, a := range held {
			trail, err := s.Trail(t.Context(), "", a.Notification.ID)
			w.must(err)
			for _, d := range trail.Deliveries {
				if (d.Status == tidings.Queued) != (i == 7) {
					t.Errorf("of eight, number %d is %s", i, d.Status)
				}
			}
		}
	})
}
