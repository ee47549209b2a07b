package store_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// quiet is an acceptance that others may supersede, sent to n devices and held for channels.
func (w *world) quiet(now time.Time, n int, channels ...tidings.Channel) store.Acceptance {
	a := w.collapsing(now, n)
	for _, c := range channels {
		a = holding(a, c, tidings.ReasonQuietHours)
	}
	return a
}

func TestARepeatedCancelAnswersTheSame(t *testing.T) {
	at := func(seconds int) time.Time { return start().Add(time.Duration(seconds) * time.Second) }
	cases := map[string]struct {
		devices       int
		channels      []tidings.Channel
		before, after func(w *world) // the first cancel
		cancelled     int
		holds         int
	}{
		"a newer event had ended a hold": {channels: []tidings.Channel{tidings.Push, tidings.Email}, holds: 1,
			before: func(w *world) { w.accept(w.quiet(at(1), 0, tidings.Push)) }},
		"a newer event had ended a delivery": {devices: 2, channels: []tidings.Channel{tidings.Email}, holds: 1,
			before: func(w *world) { w.accept(w.quiet(at(2), 1)) }},
		"the user is erased since": {devices: 1, channels: []tidings.Channel{tidings.Email}, cancelled: 1, holds: 1,
			after: func(w *world) { w.must(w.s.EraseUser(w.Context(), w.user, at(3))) }},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for why, c := range cases {
			w := newWorld(t, s)
			a := w.accept(w.quiet(at(0), c.devices, c.channels...))[0]
			if c.before != nil {
				c.before(w)
			}
			first, err := s.Cancel(t.Context(), "", a.ID, at(2))
			if err != nil || len(first.Cancelled) != c.cancelled || first.Holds != c.holds {
				t.Errorf("%s: cancelled %+v, %v", why, first, err)
			}
			if c.after != nil {
				c.after(w)
			}
			if again, err := s.Cancel(t.Context(), "", a.ID, at(4)); err != nil || !reflect.DeepEqual(again, first) {
				t.Errorf("%s: repeated %+v, %v, want %+v", why, again, err, first)
			}
		}
	})
}

func TestWhatOthersCalledOffLeavesNothingToCancel(t *testing.T) {
	now := start().Add(time.Minute)
	newer := func(w *world, _ tidings.NotificationID) { w.accept(w.quiet(now, 1, tidings.Email)) }
	erase := func(w *world, _ tidings.NotificationID) { w.must(w.s.EraseUser(w.Context(), w.user, now)) }
	sent := func(w *world, id tidings.NotificationID) {
		w.claim(start(), tidings.DeliveryOf(id, 0))
		erase(w, id)
	}
	cases := map[string]struct {
		devices  int
		channels []tidings.Channel
		off      func(w *world, id tidings.NotificationID)
	}{
		"all that was held":            {0, []tidings.Channel{tidings.Push, tidings.Email}, newer},
		"all that was queued":          {2, nil, newer},
		"what was held and queued":     {1, []tidings.Channel{tidings.Email}, newer},
		"the user's that was held":     {0, []tidings.Channel{tidings.Push, tidings.Email}, erase},
		"the user's that was queued":   {1, nil, erase},
		"the user's that is under way": {1, []tidings.Channel{tidings.Email}, sent},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for why, c := range cases {
			w := newWorld(t, s)
			a := w.accept(w.quiet(start(), c.devices, c.channels...))[0]
			c.off(w, a.ID)
			for range 2 {
				got, err := s.Cancel(t.Context(), "", a.ID, now.Add(time.Second))
				if !errors.Is(err, store.ErrNothing) || len(got.Kept) != c.devices || got.Holds != 0 {
					t.Errorf("%s: cancelled %+v, %v", why, got, err)
				}
			}
		}
	})
}

// whyOff gives why the holds of notifications were called off, by channel.
func (w *world) whyOff(ids ...tidings.NotificationID) map[tidings.Channel]tidings.Reason {
	w.Helper()
	all := map[tidings.Channel]tidings.Reason{}
	for _, id := range ids {
		trail, err := w.s.Trail(w.Context(), "", id)
		w.must(err)
		for _, h := range trail.Holds {
			if h.State != tidings.HoldCancelled {
				w.Errorf("%s is %s", h.Channel, h.State)
			}
			all[h.Channel] = h.CalledOff
		}
	}
	return all
}

// What was called off before a hold could say why is told by the timeline.
func TestAHoldSaysWhyItWasCalledOff(t *testing.T) {
	want := map[tidings.Channel]tidings.Reason{tidings.Push: tidings.ReasonCancelled, tidings.SMS: tidings.ReasonSuperseded,
		tidings.Email: tidings.ReasonCancelled, tidings.Inbox: tidings.ReasonErased}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.accept(w.quiet(start(), 0, tidings.Push, tidings.SMS, tidings.Email))[0]
		b := w.accept(w.quiet(start().Add(time.Second), 0, tidings.SMS, tidings.Inbox))[0]
		w.accept(w.quiet(start().Add(2*time.Second), 0, tidings.SMS))
		_, err := s.Cancel(t.Context(), "", a.ID, start().Add(time.Minute))
		w.must(err)
		w.must(s.EraseUser(t.Context(), w.user, start().Add(2*time.Minute)))
		if got := w.whyOff(a.ID, b.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("called off for %v, want %v", got, want)
		}
		w.must(s.UpgradeHolds(t.Context()))
		if got := w.whyOff(a.ID, b.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("an upgrade takes it to be for %v, want %v", got, want)
		}
	})
}
