package store_test

import (
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// dead accepts a notification whose delivery is tried once and dies.
func (w *world) dead(at time.Time, provider string, reason tidings.Reason) store.Claimed {
	w.Helper()
	c := w.sending(at)
	r := result(c, tidings.Transient, tidings.Dead, at)
	r.Attempt.Provider, r.Reason, r.Attempt.HTTPStatus, r.Attempt.Code, r.Tried = provider, reason, 503, "Shutdown", []string{provider}
	w.record(r)
	w.expect(c.Delivery.ID, tidings.Dead, reason)
	return c
}

func (w *world) redrive(r store.Redrive) store.Redriven {
	w.Helper()
	if r.From == "" {
		r.From = tidings.Dead
	}
	out, err := w.s.Redrive(w.Context(), r)
	w.must(err)
	return out
}

func ids(claims ...store.Claimed) (all []tidings.DeliveryID) {
	for _, c := range claims {
		all = append(all, c.Delivery.ID)
	}
	return all
}

func TestDeadLettersAreListedNewestFirstByEachOfTheirMembers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w, other := newWorld(t, s), newWorld(t, s)
		first := w.dead(start(), "apns", tidings.ReasonRetriesSpent)
		second := other.dead(start().Add(time.Hour), "fcm", tidings.ReasonRetriesSpent)
		third := w.dead(start().Add(2*time.Hour), "apns", tidings.ReasonProviderBroken)
		w.record(result(w.sending(start()), tidings.OK, tidings.Sent, start()))
		w.queued(start())
		all := ids(first, second, third)
		for _, c := range []struct {
			why    string
			filter store.DeadFilter
			want   []int
		}{
			{"no filter", store.DeadFilter{}, []int{2, 1, 0}},
			{"channel", store.DeadFilter{Channel: tidings.Push}, []int{2, 1, 0}},
			{"another channel", store.DeadFilter{Channel: tidings.SMS}, nil},
			{"lane", store.DeadFilter{Lane: bulk}, []int{2, 1, 0}},
			{"another lane", store.DeadFilter{Lane: "push.priority"}, nil},
			{"reason", store.DeadFilter{Reason: tidings.ReasonProviderBroken}, []int{2}},
			{"app", store.DeadFilter{App: "shop"}, []int{2, 1, 0}},
			{"another app", store.DeadFilter{App: "bank"}, nil},
			{"type", store.DeadFilter{Type: "order.shipped"}, []int{2, 1, 0}},
			{"another type", store.DeadFilter{Type: "login.code"}, nil},
			{"user", store.DeadFilter{UserID: w.user}, []int{2, 0}},
			{"provider", store.DeadFilter{Provider: "fcm"}, []int{1}},
			{"since is included", store.DeadFilter{Since: start().Add(time.Hour + time.Second)}, []int{2, 1}},
			{"until is not", store.DeadFilter{Until: start().Add(time.Hour + time.Second)}, []int{0}},
			{"several at once", store.DeadFilter{UserID: w.user, Reason: tidings.ReasonRetriesSpent, Provider: "apns"}, []int{0}},
		} {
			t.Run(c.why, func(t *testing.T) {
				w.selects(c.filter, all, c.want)
			})
		}
		got, err := s.DeadLetters(t.Context(), store.DeadFilter{}, second.Delivery.ID, 10)
		w.must(err)
		if len(got) != 1 || got[0].ID != first.Delivery.ID || got[0].Address != w.devices[0].Value || got[0].Notification.UserID != w.user ||
			got[0].Last.Number != 1 || got[0].Last.Provider != "apns" || got[0].Last.HTTPStatus != 503 || got[0].Last.Outcome != tidings.Transient {
			t.Errorf("the page after the second is %+v", got)
		}
	})
}

// selects checks what the three statements with a filter find of all: places in it, newest first.
func (w *world) selects(f store.DeadFilter, all []tidings.DeliveryID, want []int) {
	w.Helper()
	letters, err := w.s.DeadLetters(w.Context(), f, tidings.DeliveryID{}, 10)
	w.must(err)
	oldest, err := w.s.OldestDead(w.Context(), f, tidings.DeliveryID{}, 10)
	w.must(err)
	of, err := w.s.DeadOf(w.Context(), f, append(slices.Clone(all), all...))
	w.must(err)
	var listed, picked, named []int
	for i := range letters {
		listed = append(listed, slices.Index(all, letters[i].ID))
	}
	for i := range oldest {
		picked = append(picked, slices.Index(all, oldest[len(oldest)-1-i].ID))
	}
	for i := range of {
		named = append(named, slices.Index(all, of[len(of)-1-i].ID))
	}
	if !slices.Equal(listed, want) || !slices.Equal(picked, want) || !slices.Equal(named, want) {
		w.Errorf("listed %v, picked %v, named %v; want %v", listed, picked, named, want)
	}
}

func TestARedriveGivesBackAllTriesAndKeepsTheClaims(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		one, two := w.dead(start(), "apns", tidings.ReasonRetriesSpent), w.dead(start().Add(time.Second), "apns", tidings.ReasonPoison)
		alive := w.queued(start())
		now := start().Add(time.Hour)
		got := w.redrive(store.Redrive{IDs: append(ids(two, one, one), alive), Now: now, Rate: 2, Ahead: 10})
		if got != (store.Redriven{Parked: 2, Last: now.Add(5500 * time.Millisecond)}) {
			t.Errorf("redriven %+v", got)
		}
		for i, id := range ids(one, two) {
			d := w.expect(id, tidings.Parked, tidings.ReasonRedriven)
			if d.Tries != 0 || d.ClaimNo != 1 || !d.DueAt.Equal(now.Add(5*time.Second+time.Duration(i)*time.Second/2)) {
				t.Errorf("it is %+v", d.Delivery)
			}
		}
		w.expect(alive, tidings.Queued, "")
		_, err := s.Due(t.Context(), bulk, now.Add(time.Minute), 10)
		w.must(err)
		claimed := w.claim(now.Add(time.Minute), ids(one, two)...)
		if len(claimed) != 2 || len(claimed[0].Delivery.Tried) > 0 || claimed[0].Delivery.ClaimNo != 2 || claimed[0].Delivery.Tries != 1 {
			t.Fatalf("claimed %+v", claimed)
		}
		trail, err := s.Trail(t.Context(), "", one.Notification.ID)
		w.must(err)
		if m := trail.Timeline; len(m) != 2 || m[1].Kind != "redriven" || m[1].Delivery != one.Delivery.ID || !m[1].At.Equal(now) {
			t.Errorf("the timeline is %+v", m)
		}
	})
}

func TestARedriveLeavesWhatItsRateWouldReachTooLate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, rate := range []float64{1e-300, 1e-9, 1e-5} { // the first is more than a time can hold
			w := newWorld(t, s)
			one, two := w.dead(start(), "apns", tidings.ReasonRetriesSpent), w.dead(start().Add(time.Second), "apns", tidings.ReasonRetriesSpent)
			now := start().Add(time.Minute)
			if got := w.redrive(store.Redrive{IDs: ids(one, two), Now: now, Rate: rate}); got != (store.Redriven{Parked: 1, Last: now}) {
				t.Errorf("at %g a second: redriven %+v", rate, got)
			}
			w.expect(ids(one)[0], tidings.Parked, tidings.ReasonRedriven)
			w.expect(ids(two)[0], tidings.Dead, tidings.ReasonRetriesSpent)
		}
	})
}

func TestTwoRedrivesAtOnceMoveEachOnceAndALaterOneMovesItAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var claims []store.Claimed
		for range 20 {
			claims = append(claims, w.dead(start(), "apns", tidings.ReasonRetriesSpent))
		}
		now := start().Add(time.Minute)
		for range 3 {
			var wg sync.WaitGroup
			moved := make([]int, 4)
			for i := range moved {
				wg.Go(func() { moved[i] = w.redrive(store.Redrive{IDs: ids(claims...), Now: now}).Parked })
			}
			wg.Wait()
			if moved[0]+moved[1]+moved[2]+moved[3] != len(claims) {
				t.Fatalf("moved %v of %d", moved, len(claims))
			}
			now = now.Add(time.Minute)
			_, err := s.Due(t.Context(), bulk, now, 100)
			w.must(err)
			claims = w.claim(now, ids(claims...)...)
			for _, c := range claims {
				w.record(result(c, tidings.Transient, tidings.Dead, now))
			}
		}
	})
}

func TestARedriveOfWhatIsOfNoMoreUseEndsIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		expired := w.dead(start(), "apns", tidings.ReasonProviderBroken)
		a := w.acceptance(start().Add(time.Hour), 2)
		w.accept(a)
		c := w.claim(start(), tidings.DeliveryOf(a.Notification.ID, 0))[0]
		w.record(result(c, tidings.Transient, tidings.Dead, start()))
		_, err := s.Cancel(t.Context(), "", a.Notification.ID, start())
		w.must(err)
		now := start().Add(24 * time.Hour)
		got := w.redrive(store.Redrive{IDs: ids(expired, c), Now: now})
		if got != (store.Redriven{Expired: 1}) {
			t.Errorf("redriven %+v", got)
		}
		if d := w.expect(expired.Delivery.ID, tidings.Expired, tidings.ReasonExpired); !d.FinishedAt.Equal(now) {
			t.Errorf("it ended at %v", d.FinishedAt)
		}
		if d := w.expect(c.Delivery.ID, tidings.Cancelled, tidings.ReasonCancelled); !d.FinishedAt.Equal(start()) {
			t.Errorf("it ended at %v", d.FinishedAt)
		}
	})
}

func TestARedriveOfWhatWasCalledOffSaysSoThoughItHasExpired(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 2)
		w.accept(a)
		c := w.claim(start(), tidings.DeliveryOf(a.Notification.ID, 0))[0]
		w.record(result(c, tidings.RecipientDead, tidings.Failed, start()))
		_, err := s.Cancel(t.Context(), "", a.Notification.ID, start())
		w.must(err)
		got := w.redrive(store.Redrive{IDs: ids(c), From: tidings.Failed, Now: start().Add(25 * time.Hour)})
		if got != (store.Redriven{Cancelled: 1}) {
			t.Errorf("redriven %+v", got)
		}
		w.expect(c.Delivery.ID, tidings.Cancelled, tidings.ReasonCancelled)
	})
}

func TestARedriveTakesOnlyWhatEndedAsItSays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		dead, failed := w.dead(start(), "apns", tidings.ReasonRetriesSpent), w.sending(start())
		w.record(result(failed, tidings.RecipientDead, tidings.Failed, start()))
		unknown, awaited := w.sending(start()), w.sending(start())
		w.record(result(unknown, tidings.OutcomeUnknown, tidings.Unknown, start()), result(awaited, tidings.OutcomeUnknown, tidings.Unknown, start()))
		w.must(s.Resolve(t.Context(), []store.Resolution{{ID: unknown.Delivery.ID, ClaimNo: 1, Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown}}))
		all := ids(dead, failed, unknown, awaited)
		for i, from := range []tidings.Status{tidings.Dead, tidings.Failed, tidings.Unknown} {
			if got := w.redrive(store.Redrive{IDs: all, From: from, Now: start().Add(time.Minute)}); got.Parked != 1 {
				t.Errorf("from %s: %+v", from, got)
			}
			w.expect(all[i], tidings.Parked, tidings.ReasonRedriven)
		}
		w.expect(awaited.Delivery.ID, tidings.Unknown, "")
	})
}

func TestNewsOfAClaimBeforeTheRedriveDoesNotEndIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OutcomeUnknown, tidings.Dead, start()))
		w.redrive(store.Redrive{IDs: ids(c), Now: start().Add(time.Minute)})
		w.receipts(receipt(c, tidings.ReceiptFailed, start().Add(2*time.Minute)))
		w.expect(c.Delivery.ID, tidings.Parked, tidings.ReasonRedriven)
		w.receipts(receipt(c, tidings.ReceiptDelivered, start().Add(3*time.Minute)))
		w.expect(c.Delivery.ID, tidings.Delivered, "")
	})
}

func TestSensitiveDataOutlivesADeathUntilItIsOfNoMoreUse(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		a.Notification.Sensitive = true
		id := w.accept(a)[0].Deliveries[0]
		w.record(result(w.claim(start(), id)[0], tidings.Transient, tidings.Dead, start()))
		w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id}, Now: start().Add(time.Hour)})
		_, err := s.Due(t.Context(), bulk, start().Add(time.Hour), 10)
		w.must(err)
		c := w.claim(start().Add(time.Hour), id)[0]
		if string(c.Notification.Data) != `{"order":"4711"}` {
			t.Errorf("the data is %s", c.Notification.Data)
		}
		w.record(result(c, tidings.Transient, tidings.Dead, start().Add(time.Hour)))
		w.redrive(store.Redrive{IDs: []tidings.DeliveryID{id}, Now: start().Add(25 * time.Hour)})
		if got := w.data(a.Notification.ID); got != "" {
			t.Errorf("left over: %q", got)
		}
	})
}

func TestAListOfManyDeadLettersMissesNone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		want := map[tidings.DeliveryID]bool{}
		for range 25 {
			want[w.dead(start(), rand.Text(), tidings.ReasonRetriesSpent).Delivery.ID] = true
		}
		var before tidings.DeliveryID
		for page := 0; page < 3; page++ {
			got, err := s.DeadLetters(t.Context(), store.DeadFilter{}, before, 10)
			w.must(err)
			for _, l := range got {
				delete(want, l.ID)
				before = l.ID
			}
		}
		if len(want) != 0 {
			t.Errorf("%d are missing", len(want))
		}
	})
}
