package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func token(user string) tidings.Address {
	return tidings.Address{UserID: user, Channel: tidings.Push, Provider: "apns", Value: "a1b2c3"}
}

func TestTheSameAddressAgainIsRefreshedUnderItsID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		first, created, err := s.RegisterAddress(t.Context(), token("u_1"), noon())
		fatal(t, err)
		if !created || first.Status != tidings.AddressActive || first.ID.IsZero() {
			t.Fatalf("created %t, %+v", created, first)
		}
		fatal(t, s.RetireAddress(t.Context(), "u_1", first.ID, noon().Add(time.Minute)))
		second, created, err := s.RegisterAddress(t.Context(), token("u_1"), noon().Add(time.Hour))
		fatal(t, err)
		if created || second.ID != first.ID {
			t.Errorf("created %t with id %s, want the first one's %s", created, second.ID, first.ID)
		}
		if second.Status != tidings.AddressActive || second.Reason != "" || !second.RetiredAt.IsZero() {
			t.Errorf("it is not active again: %+v", second)
		}
		if !second.RegisteredAt.Equal(first.RegisteredAt.Add(time.Hour)) {
			t.Errorf("registered at %v, want now", second.RegisteredAt)
		}
	})
}

func TestATokenMovesToWhoRegistersItLast(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, _, err := s.RegisterAddress(t.Context(), token("u_1"), noon())
		fatal(t, err)
		_, created, err := s.RegisterAddress(t.Context(), token("u_2"), noon().Add(time.Minute))
		fatal(t, err)
		if !created {
			t.Error("it was there already for a user who never had it")
		}
		want(t, "first user", addressLines(t, s, "u_1"), []string{"push a1b2c3 retired address_moved"})
		want(t, "second user", addressLines(t, s, "u_2"), []string{"push a1b2c3 active"})

		_, created, err = s.RegisterAddress(t.Context(), token("u_1"), noon().Add(time.Hour))
		fatal(t, err)
		if created {
			t.Error("coming back made a second address")
		}
		want(t, "first user", addressLines(t, s, "u_1"), []string{"push a1b2c3 active"})
		want(t, "second user", addressLines(t, s, "u_2"), []string{"push a1b2c3 retired address_moved"})
	})
}

func TestTheSameTokenAtAnotherProviderIsAnotherAddress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, _, err := s.RegisterAddress(t.Context(), token("u_1"), noon())
		fatal(t, err)
		other := token("u_2")
		other.Provider = "fcm"
		_, _, err = s.RegisterAddress(t.Context(), other, noon())
		fatal(t, err)
		want(t, "first user", addressLines(t, s, "u_1"), []string{"push a1b2c3 active"})
	})
}

func TestAPhoneMayBelongToSeveralUsers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, user := range []string{"u_1", "u_2"} {
			_, created, err := s.RegisterAddress(t.Context(), tidings.Address{UserID: user, Channel: tidings.SMS, Value: "+15550100001"}, noon())
			fatal(t, err)
			if !created {
				t.Errorf("%s has it already", user)
			}
			want(t, user, addressLines(t, s, user), []string{"sms +15550100001 active"})
		}
	})
}

func TestParallelRegistrationsOfOneTokenLeaveOneOwner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				user := []string{"u_1", "u_2"}[i%2]
				if _, _, err := s.RegisterAddress(t.Context(), token(user), noon()); err != nil {
					t.Errorf("register for %s: %v", user, err)
				}
			})
		}
		wg.Wait()
		both := strings.Join(append(addressLines(t, s, "u_1"), addressLines(t, s, "u_2")...), "\n")
		if strings.Count(both, " active") != 1 || strings.Count(both, "address_moved") != 1 {
			t.Errorf("want one owner and one who lost it:\n%s", both)
		}
	})
}

func TestRetiringOnesOwnEmailClearsTheField(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "ann@example.test", Phone: "+15550100001"}, noon())
		fatal(t, err)
		list, err := s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		fatal(t, err)
		email := slices.IndexFunc(list, func(a tidings.Address) bool { return a.Channel == tidings.Email })
		fatal(t, s.RetireAddress(t.Context(), "u_1", list[email].ID, noon()))
		u, err := s.User(t.Context(), "u_1")
		fatal(t, err)
		if u.Email != "" || u.Phone == "" {
			t.Errorf("user = %+v, want the phone alone", u)
		}
	})
}

func TestAnAddressOfSomebodyElseIsNotFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		mine, _, err := s.RegisterAddress(t.Context(), token("u_1"), noon())
		fatal(t, err)
		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_2"}, noon())
		fatal(t, err)
		wantError(t, s.RetireAddress(t.Context(), "u_2", mine.ID, noon()), store.ErrNotFound)
		fatal(t, s.RetireAddress(t.Context(), "u_1", mine.ID, noon()))
		fatal(t, s.RetireAddress(t.Context(), "u_1", mine.ID, noon())) // again changes nothing
	})
}

// addressLines are a user's addresses, sorted, as "push a1b2c3 retired address_moved".
func addressLines(t *testing.T, s *store.Store, user string) []string {
	t.Helper()
	list, err := s.Addresses(t.Context(), user, tidings.AddressID{}, 100)
	fatal(t, err)
	var lines []string
	for _, a := range list {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{string(a.Channel), a.Value, string(a.Status), string(a.Reason)}, " ")))
	}
	slices.Sort(lines)
	return lines
}
