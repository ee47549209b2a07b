package store_test

import (
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func keyed(a store.Acceptance, key string, hash byte) store.Acceptance {
	a.Notification.DedupeKey = key
	a.Dedupe = &store.Dedupe{Hash: [32]byte{hash}, ExpiresAt: a.Notification.AcceptedAt.Add(24 * time.Hour)}
	return a
}

// acceptAtOnce runs Accept for each acceptance at the same time.
func acceptAtOnce(w *world, all []store.Acceptance) []store.Accepted {
	out := make([]store.Accepted, len(all))
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			got, err := w.s.Accept(w.Context(), store.Class(i%3), all[i:i+1])
			if err != nil {
				w.Error(err)
				return
			}
			out[i] = got[0]
		})
	}
	wg.Wait()
	return out
}

func TestAHundredEqualPostsAtOnceGiveOneNotification(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		all := make([]store.Acceptance, 100)
		for i := range all {
			all[i] = keyed(w.acceptance(start(), 1), "k", 1)
		}
		winners := map[tidings.NotificationID]int{}
		first := 0
		for _, a := range acceptAtOnce(w, all) {
			winners[a.ID]++
			if !a.Duplicate {
				first++
			}
		}
		if len(winners) != 1 || first != 1 {
			t.Fatalf("%d ids, %d of them new", len(winners), first)
		}
		list, _, err := s.List(t.Context(), store.Filter{App: "shop"})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d notifications, %v", len(list), err)
		}
	})
}

func TestDedupeKeys(t *testing.T) {
	now := start()
	cases := []struct {
		why                 string
		change              func(a *store.Acceptance)
		duplicate, conflict bool
	}{
		{"the same request again is answered with the first id", func(*store.Acceptance) {}, true, false},
		{"another request under the same key is a conflict", func(a *store.Acceptance) { a.Dedupe.Hash = [32]byte{9} }, false, true},
		{"a test key has keys of its own", func(a *store.Acceptance) { a.Notification.Test = true }, false, false},
		{"another app has keys of its own", func(a *store.Acceptance) { a.Notification.App = "bank" }, false, false},
		{"a key whose time is over may be used again", func(a *store.Acceptance) {
			a.Notification.AcceptedAt = now.Add(25 * time.Hour)
			a.Dedupe.ExpiresAt = now.Add(48 * time.Hour)
		}, false, false},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				first, again := keyed(w.acceptance(now, 1), c.why, 1), keyed(w.acceptance(now, 1), c.why, 1)
				c.change(&again)
				id := w.accept(first)[0].ID
				got := w.accept(again)[0]
				if got.Duplicate != c.duplicate || got.Conflict != c.conflict {
					t.Fatalf("got %+v", got)
				}
				if (got.ID == id) != (c.duplicate || c.conflict) {
					t.Fatal("the wrong id")
				}
			})
		}
	})
}

func TestOfEqualKeysInOneGroupTheFirstCounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		got := w.accept(keyed(w.acceptance(start(), 1), "k", 1), keyed(w.acceptance(start(), 1), "k", 1), keyed(w.acceptance(start(), 1), "k", 2))
		if got[0].Duplicate || !got[1].Duplicate || !got[2].Conflict || got[1].ID != got[0].ID || got[2].ID != got[0].ID {
			t.Fatalf("got %+v", got)
		}
		got = w.accept(keyed(w.acceptance(start(), 1), "k", 2), keyed(w.acceptance(start(), 1), "k", 1))
		if !got[0].Conflict || !got[1].Duplicate {
			t.Fatalf("behind a conflict the stored request still counts: %+v", got)
		}
		memory, err := s.Remembered(t.Context(), "shop", false, []string{"k", "other"}, start())
		if err != nil || len(memory) != 1 || memory["k"].Hash != [32]byte{1} {
			t.Fatalf("remembered %v, %v", memory, err)
		}
	})
}

func TestAnExpiredKeyHasOneNewOwner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.accept(keyed(w.acceptance(start(), 1), "k", 1))
		all := make([]store.Acceptance, 30)
		for i := range all {
			all[i] = keyed(w.acceptance(start().Add(24*time.Hour), 1), "k", 1)
		}
		first := 0
		for _, a := range acceptAtOnce(w, all) {
			if !a.Duplicate {
				first++
			}
		}
		if first != 1 {
			t.Fatalf("%d owners", first)
		}
	})
}

func TestOneBadAcceptanceDoesNotFailTheGroup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		good, bad, fine := w.acceptance(start(), 1), w.acceptance(start(), 1), w.acceptance(start(), 2)
		bad.Deliveries[0].Status = "nonsense"
		got, err := s.Accept(t.Context(), store.Background, []store.Acceptance{good, bad, fine})
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Err != nil || got[1].Err == nil || got[2].Err != nil {
			t.Fatalf("got %+v", got)
		}
		w.expect(got[2].Deliveries[1], tidings.Queued, "")
		if _, err := s.Trail(t.Context(), "", bad.Notification.ID); err == nil {
			t.Fatal("half of the bad one stayed")
		}
	})
}

func TestAcceptMakesUsersAndTheirAddresses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		w.user = "u_new"
		mail := func(value string) store.Acceptance {
			a := w.acceptance(start(), 0)
			address := tidings.Address{ID: tidings.NewAddressID(start()), UserID: w.user, Channel: tidings.Email, Value: value}
			a.User = &tidings.User{ID: w.user, Locale: "de", Email: value, Attributes: []byte(`{"plan":"pro"}`)}
			a.NewAddresses = []tidings.Address{address}
			a.Deliveries = []store.NewDelivery{{Lane: "email.bulk", Address: address.ID, Status: tidings.Queued, DueAt: start()}}
			return a
		}
		all := make([]store.Acceptance, 20)
		for i := range all {
			all[i] = mail("ann@example.test")
		}
		got := acceptAtOnce(w, all)
		facts, _, err := s.Facts(t.Context(), []string{w.user, "u_unknown"})
		if err != nil {
			t.Fatal(err)
		}
		f := facts[w.user]
		if len(f.Addresses) != 1 || f.User.Locale != "de" || f.User.Email != "ann@example.test" || string(f.User.Attributes) != `{"plan":"pro"}` {
			t.Fatalf("facts %+v", f)
		}
		if !facts["u_unknown"].User.CreatedAt.IsZero() {
			t.Fatal("an unknown user is known")
		}
		for _, a := range got {
			if d := w.trail(a.Deliveries[0]); d.AddressID != f.Addresses[0].ID {
				t.Fatal("a delivery does not follow the address that won")
			}
		}
		next := mail("ann.lee@example.test")
		next.OldAddresses, next.Seen = []tidings.AddressID{f.Addresses[0].ID}, f.User
		w.accept(next)
		if old := w.address(f.Addresses[0].ID); old.Status != tidings.AddressRetired || old.RetiredAt.IsZero() {
			t.Fatalf("the old address is %+v", old)
		}
	})
}

func TestOnlyWhatWasDecidedForAUserAsSeenIsAccepted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		seen, err := s.User(t.Context(), w.user)
		w.must(err)
		named := func(id, locale string, seen tidings.User) store.Acceptance {
			a := keyed(w.acceptance(start(), 1), rand.Text(), 1)
			a.Notification.UserID, a.Seen, a.User = id, seen, &tidings.User{ID: id, Locale: locale, Attributes: []byte("{}")}
			return a
		}
		gone, unknown, known := "u_"+rand.Text(), "u_"+rand.Text(), w.user
		got, err := s.Accept(t.Context(), store.Background, []store.Acceptance{
			named(gone, "de", seen), named(known, "de", seen), named(unknown, "de", tidings.User{}),
			named(known, "fr", seen), named(unknown, "fr", tidings.User{}), named(known, "de", seen)})
		w.must(err)
		for i, want := range []error{store.ErrChanged, nil, nil, store.ErrChanged, store.ErrChanged, nil} {
			if !errors.Is(got[i].Err, want) {
				t.Errorf("%d is accepted with error %v, want %v", i, got[i].Err, want)
			}
		}
		for _, id := range []string{known, unknown} {
			if u, err := s.User(t.Context(), id); err != nil || u.Locale != "de" {
				t.Errorf("user %+v, %v", u, err)
			}
		}
		if _, err := s.User(t.Context(), gone); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a user who was erased meanwhile is back: %v", err)
		}
	})
}

func TestAHoldIsReleasedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		a := w.acceptance(start(), 1)
		hold := tidings.Hold{ID: tidings.NewHoldID(start()), Notification: a.Notification.ID, Channel: tidings.Email, Reason: tidings.ReasonQuietHours, Until: start().Add(time.Hour)}
		a.Holds = []tidings.Hold{hold}
		a.Notification.Decisions = append(a.Notification.Decisions, tidings.Decision{Channel: tidings.Email, Action: tidings.ActionHold, Until: hold.Until})
		w.accept(a)
		if next, err := s.NextHold(t.Context()); err != nil || !next.Equal(hold.Until) {
			t.Fatalf("next hold %v, %v", next, err)
		}
		now := start().Add(2 * time.Hour)
		holds, of, err := s.DueHolds(t.Context(), now, 10)
		if err != nil || len(holds) != 1 || holds[0].ID != hold.ID || of[0].ID != a.Notification.ID || len(of[0].Decisions) != 2 {
			t.Fatalf("due holds %v %v %v", holds, of, err)
		}
		all := make([]store.Acceptance, 10)
		for i := range all {
			all[i] = w.acceptance(now, 2)
			all[i].Notification.ID, all[i].Release = a.Notification.ID, &hold
			all[i].Notification.Decisions = []tidings.Decision{{Channel: tidings.Email, Action: tidings.ActionSend, Addresses: 2, At: now}}
		}
		won := 0
		for _, got := range acceptAtOnce(w, all) {
			if got.Consumed {
				continue
			}
			won++
			if len(got.Deliveries) != 2 || tidings.OrdinalOf(got.Deliveries[0]) != 1 || tidings.OrdinalOf(got.Deliveries[1]) != 2 {
				t.Fatalf("numbered %v", got.Deliveries)
			}
		}
		trail, err := s.Trail(t.Context(), "", a.Notification.ID)
		if err != nil || won != 1 || len(trail.Deliveries) != 3 || len(trail.Notification.Decisions) != 2 ||
			trail.Notification.Decisions[1].Action != tidings.ActionSend || trail.Holds[0].State != tidings.HoldReleased {
			t.Fatalf("%d released, trail %+v, %v", won, trail, err)
		}
	})
}
