package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// collapsing is an acceptance with a collapse key, for the user's first n devices.
func (w *world) collapsing(now time.Time, n int) store.Acceptance {
	a := w.acceptance(now, n)
	a.Notification.CollapseKey = "order-4711"
	return a
}

// holding adds a hold to an acceptance.
func holding(a store.Acceptance, c tidings.Channel, why tidings.Reason) store.Acceptance {
	until := a.Notification.AcceptedAt.Add(time.Hour)
	a.Holds = append(a.Holds, tidings.Hold{ID: tidings.NewHoldID(a.Notification.AcceptedAt), Notification: a.Notification.ID, Channel: c, Reason: why, Until: until})
	a.Notification.Decisions = append(a.Notification.Decisions, tidings.Decision{Channel: c, Action: tidings.ActionHold, Reason: why, Until: until})
	return a
}

func TestANewerEventTakesThePlaceOfWhatWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		older := w.accept(w.collapsing(start(), 2))[0]
		newer := w.accept(w.collapsing(start().Add(time.Second), 1))[0]
		for _, id := range older.Deliveries {
			if d := w.expect(id, tidings.Cancelled, tidings.ReasonSuperseded); !d.FinishedAt.Equal(start().Add(time.Second)) {
				t.Errorf("finished at %v", d.FinishedAt)
			}
		}
		w.expect(newer.Deliveries[0], tidings.Queued, "")
		trail, err := s.Trail(t.Context(), "", older.ID)
		w.must(err)
		if len(trail.Timeline) != 2 || trail.Timeline[0].Kind != "cancelled" || trail.Timeline[0].Delivery != older.Deliveries[0] ||
			trail.Timeline[0].Text != "superseded by "+newer.ID.String()+", a newer event with the same collapse_key" {
			t.Errorf("timeline %+v", trail.Timeline)
		}
		if got := w.claim(start(), older.Deliveries...); len(got) != 0 {
			t.Errorf("%d of them were claimed", len(got))
		}
	})
}

func TestWhatANewerEventLeavesAlone(t *testing.T) {
	cases := []struct {
		why    string
		change func(newer *store.Acceptance)
	}{
		{"another key", func(a *store.Acceptance) { a.Notification.CollapseKey = "order-4712" }},
		{"no key", func(a *store.Acceptance) { a.Notification.CollapseKey = "" }},
		{"another app's", func(a *store.Acceptance) { a.Notification.App = "bank" }},
		{"a test of it", func(a *store.Acceptance) { a.Notification.Test = true }},
		{"another user's", func(a *store.Acceptance) { a.Notification.UserID = "u_other" }},
		{"another channel", func(a *store.Acceptance) { a.Deliveries[0].Lane = "email.bulk" }},
		{"nothing to send", func(a *store.Acceptance) { a.Deliveries = nil }},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				older := w.accept(w.collapsing(start(), 1))[0]
				newer := w.collapsing(start().Add(time.Second), 1)
				c.change(&newer)
				w.accept(newer)
				w.expect(older.Deliveries[0], tidings.Queued, "")
			})
		}
	})
}

func TestWhatIsBeingSentGoesOnButIsNotSentAgain(t *testing.T) {
	now := start()
	cases := []struct {
		why    string
		after  func(w *world, c store.Claimed)
		status tidings.Status
		reason tidings.Reason
	}{
		{"it is accepted", func(w *world, c store.Claimed) { w.record(result(c, tidings.OK, tidings.Sent, now)) }, tidings.Sent, ""},
		{"it must be tried again", func(w *world, c store.Claimed) { w.record(result(c, tidings.Transient, tidings.Parked, now)) }, tidings.Cancelled, tidings.ReasonSuperseded},
		{"the claim is given back", func(w *world, c store.Claimed) {
			w.must(w.s.GiveBack(w.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, ClaimNo: 1, DueAt: now}}))
		}, tidings.Cancelled, tidings.ReasonSuperseded},
		{"nobody knows, and after the wait it would be tried again", func(w *world, c store.Claimed) {
			w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now))
			w.must(w.s.Resolve(w.Context(), []store.Resolution{{ID: c.Delivery.ID, ClaimNo: 1, Status: tidings.Parked, DueAt: now}}))
		}, tidings.Cancelled, tidings.ReasonSuperseded},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				older := w.accept(w.collapsing(now, 1))[0]
				claimed := w.claim(now, older.Deliveries...)[0]
				w.accept(w.collapsing(now.Add(time.Second), 1))
				w.expect(older.Deliveries[0], tidings.Sending, tidings.ReasonSuperseded)
				c.after(w, claimed)
				w.expect(older.Deliveries[0], c.status, c.reason)
			})
		}
	})
}

func TestTheTrailOfWhatIsSupersededWhileItIsSentSaysSo(t *testing.T) {
	now := start()
	transient := func(c store.Claimed) store.Result {
		r := result(c, tidings.Transient, tidings.Parked, now.Add(2*time.Second))
		r.Attempt.RetryAt = r.DueAt
		return r
	}
	cases := []struct {
		why           string
		before, after func(w *world, c store.Claimed)
	}{
		{"it is being sent", nil, func(w *world, c store.Claimed) { w.record(transient(c)) }},
		{"word is awaited", func(w *world, c store.Claimed) { w.record(result(c, tidings.OutcomeUnknown, tidings.Unknown, now)) },
			func(w *world, c store.Claimed) { w.record(transient(c)) }},
		{"news comes after the end", nil, func(w *world, c store.Claimed) {
			w.must(w.s.GiveBack(w.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, ClaimNo: 1, DueAt: now}}))
			w.record(transient(c))
		}},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				older := w.accept(w.collapsing(now, 1))[0]
				claimed := w.claim(now, older.Deliveries...)[0]
				if c.before != nil {
					c.before(w, claimed)
				}
				newer := w.accept(w.collapsing(now.Add(time.Second), 1))[0]
				w.accept(w.collapsing(now.Add(2*time.Second), 1)) // takes the place of the newer one, not of the older
				c.after(w, claimed)
				for _, a := range w.expect(older.Deliveries[0], tidings.Cancelled, tidings.ReasonSuperseded).Attempts {
					if !a.RetryAt.IsZero() {
						t.Errorf("an attempt is to be tried again at %v", a.RetryAt)
					}
				}
				trail, err := s.Trail(t.Context(), "", older.ID)
				w.must(err)
				want := []store.Moment{{At: now.Add(time.Second), Kind: "cancelled", Delivery: older.Deliveries[0],
					Text: "superseded by " + newer.ID.String() + ", a newer event with the same collapse_key: what is under way goes on, but is not tried again"}}
				if !slices.Equal(trail.Timeline, want) {
					t.Errorf("timeline %+v, want %+v", trail.Timeline, want)
				}
			})
		}
	})
}

func TestOfOneGroupOnlyTheLastWithAKeyWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		group := make([]store.Acceptance, 10)
		for i := range group {
			group[i] = w.collapsing(start().Add(time.Duration(i)*time.Microsecond), 1)
		}
		got := w.accept(group...)
		for _, a := range got[:9] {
			w.expect(a.Deliveries[0], tidings.Cancelled, tidings.ReasonSuperseded)
		}
		w.expect(got[9].Deliveries[0], tidings.Queued, "")
	})
}

func TestOfFiftyPostsAtOnceWithOneKeyOneIsLeftWaiting(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		all := make([]store.Acceptance, 50)
		for i := range all {
			all[i] = w.collapsing(start().Add(time.Duration(i)*time.Millisecond), 2)
		}
		waiting := map[string]int{}
		for _, a := range acceptAtOnce(w, all) {
			for _, id := range a.Deliveries {
				waiting[fmt.Sprint(w.trail(id).Status)]++
			}
		}
		if waiting["queued"] != 2 || waiting["cancelled"] != 98 {
			t.Errorf("deliveries %v, want the two of one notification queued", waiting)
		}
	})
}

func TestSensitiveDataOfWhatIsSupersededGoes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.collapsing(start(), 1)
		a.Notification.Sensitive = true
		w.accept(a)
		w.accept(w.collapsing(start().Add(time.Second), 1))
		if got := w.data(a.Notification.ID); got != "" {
			t.Errorf("kept %q", got)
		}
	})
}
