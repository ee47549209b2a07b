package store_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// noon is an instant of the tests, with microseconds to lose.
func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 123456789, time.UTC) }

func TestAnUnknownUserIsNotFound(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.User(t.Context(), "u_1")
		wantError(t, err, store.ErrNotFound)
		_, err = s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		wantError(t, err, store.ErrNotFound)
		_, _, err = s.Preferences(t.Context(), "u_1")
		wantError(t, err, store.ErrNotFound)
		_, err = s.ExportUser(t.Context(), "u_1")
		wantError(t, err, store.ErrNotFound)
		wantError(t, s.EraseUser(t.Context(), "u_1", noon()), store.ErrNotFound)
		wantError(t, s.RetireAddress(t.Context(), "u_1", tidings.NewAddressID(noon()), noon()), store.ErrNotFound)
	})
}

func TestAUserIsReadAsPut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		put, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Locale: "de", Timezone: "Europe/Berlin",
			Email: "ann@example.test", Phone: "+15550100001", Attributes: json.RawMessage(`{"plan":9007199254740993}`)}, noon())
		fatal(t, err)
		got, err := s.User(t.Context(), "u_1")
		fatal(t, err)
		if !equalJSON(t, got, put) {
			t.Errorf("read %+v, put %+v", got, put)
		}
		if string(got.Attributes) != `{"plan":9007199254740993}` {
			t.Errorf("attributes = %s", got.Attributes)
		}
		want(t, "addresses", addressLines(t, s, "u_1"), []string{"email ann@example.test active", "sms +15550100001 active"})
	})
}

func TestPuttingAUserAgainKeepsTheCreationAndReplacesTheRest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		first, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Locale: "de", Phone: "+15550100001"}, noon())
		fatal(t, err)
		second, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Timezone: "UTC"}, noon().Add(time.Hour))
		fatal(t, err)
		if second.Locale != "" || second.Phone != "" || second.Timezone != "UTC" || string(second.Attributes) != "{}" {
			t.Errorf("the second put left something of the first: %+v", second)
		}
		if !second.CreatedAt.Equal(first.CreatedAt) || !second.UpdatedAt.After(first.UpdatedAt) {
			t.Errorf("created %v then %v, updated %v then %v", first.CreatedAt, second.CreatedAt, first.UpdatedAt, second.UpdatedAt)
		}
	})
}

func TestAFieldThatChangesRetiresItsAddressAndRegistersTheNewOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for i, email := range []string{"ann@example.test", "ann@new.example.test", "", "ann@example.test"} {
			_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: email}, noon().Add(time.Duration(i)*time.Hour))
			fatal(t, err)
		}
		want(t, "addresses", addressLines(t, s, "u_1"), []string{
			"email ann@example.test active", // it came back under its first id
			"email ann@new.example.test retired address_retired",
		})
	})
}

func TestAnUnchangedFieldDoesNotReviveItsAddress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "ann@example.test"}, noon())
		fatal(t, err)
		before, err := s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		fatal(t, err)
		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "ann@example.test", Locale: "de"}, noon().Add(time.Hour))
		fatal(t, err)
		after, err := s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		fatal(t, err)
		if !equalJSON(t, before, after) {
			t.Errorf("addresses were %+v, are %+v", before, after)
		}
	})
}

func TestAnExportHoldsThePersonAndTheStops(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "Ann@Example.test"}, noon())
		fatal(t, err)
		fatal(t, s.Suppress(t.Context(), tidings.Email, "ann@example.test", tidings.ReasonSuppressedBounce, "smtp", noon()))
		fatal(t, s.Suppress(t.Context(), tidings.Email, "bob@example.test", tidings.ReasonSuppressedBounce, "smtp", noon()))
		e, err := s.ExportUser(t.Context(), "u_1")
		fatal(t, err)
		if e.User.Email != "Ann@Example.test" || len(e.Addresses) != 1 || len(e.Suppressions) != 1 || e.Suppressions[0].Reason != tidings.ReasonSuppressedBounce {
			t.Errorf("export = %+v", e)
		}
	})
}

func TestAnErasedUserIsGoneButTheStopStays(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "ann@example.test"}, noon())
		fatal(t, err)
		fatal(t, s.Suppress(t.Context(), tidings.Email, "ann@example.test", tidings.ReasonSuppressedComplaint, "smtp", noon()))
		fatal(t, s.EraseUser(t.Context(), "u_1", noon()))
		_, err = s.User(t.Context(), "u_1")
		wantError(t, err, store.ErrNotFound)

		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_2", Email: "ann@example.test"}, noon())
		fatal(t, err)
		e, err := s.ExportUser(t.Context(), "u_2")
		fatal(t, err)
		if len(e.Suppressions) != 1 {
			t.Errorf("the stop was erased with the user: %+v", e)
		}
	})
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !equalJSON(t, got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	fatal(t, err)
	y, err := json.Marshal(b)
	fatal(t, err)
	return string(x) == string(y)
}
