package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/preferences"
)

func refuse(category string) func(*preferences.Preferences, *tidings.User) ([]preferences.Entry, error) {
	return func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		if p.Categories == nil {
			p.Categories = map[string]preferences.Choice{}
		}
		off := false
		p.Categories[category] = preferences.Choice{All: &off}
		return nil, nil
	}
}

func TestAUserWithoutPreferencesRefusesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Locale: "de"}, noon())
		fatal(t, err)
		p, u, err := s.Preferences(t.Context(), "u_1")
		fatal(t, err)
		if p.Version != 0 || p.All != nil || p.Categories != nil || u.Locale != "de" {
			t.Errorf("preferences = %+v of %+v", p, u)
		}
	})
}

func TestAChangeOfPreferencesIsReadBackWithTheNextVersion(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		changed, _, err := s.ChangePreferences(t.Context(), "u_1", 0, noon(), func(p *preferences.Preferences, u *tidings.User) ([]preferences.Entry, error) {
			u.Locale, u.Email = "fr", "other@example.test"
			return refuse("offers")(p, u)
		})
		fatal(t, err)
		got, u, err := s.Preferences(t.Context(), "u_1")
		fatal(t, err)
		if !equalJSON(t, got, changed) || got.Version != 1 {
			t.Errorf("read %+v, stored %+v", got, changed)
		}
		if u.Locale != "fr" || u.Email != "" {
			t.Errorf("user = %+v, want the locale alone to change", u)
		}
	})
}

func TestAChangeOfAnotherVersionIsAConflict(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, _, err := s.ChangePreferences(t.Context(), "u_1", -1, noon(), refuse("offers"))
		fatal(t, err)
		_, _, err = s.ChangePreferences(t.Context(), "u_1", 0, noon(), refuse("orders"))
		wantError(t, err, store.ErrConflict)
		_, _, err = s.ChangePreferences(t.Context(), "u_1", 1, noon(), refuse("orders"))
		fatal(t, err)
	})
}

func TestARefusedChangeStoresNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		refusal := errors.New("no such category")
		_, _, err := s.ChangePreferences(t.Context(), "u_1", -1, noon(), func(*preferences.Preferences, *tidings.User) ([]preferences.Entry, error) {
			return nil, refusal
		})
		if err != refusal {
			t.Errorf("error = %v, want the very one", err)
		}
		_, err = s.User(t.Context(), "u_1")
		wantError(t, err, store.ErrNotFound)
	})
}

func TestParallelChangesLoseNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				if _, _, err := s.ChangePreferences(t.Context(), "u_1", -1, noon(), refuse(fmt.Sprintf("c%d", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		p, _, err := s.Preferences(t.Context(), "u_1")
		fatal(t, err)
		if len(p.Categories) != 50 || p.Version != 50 {
			t.Errorf("%d categories at version %d, want 50 at 50", len(p.Categories), p.Version)
		}
	})
}

func TestTheStrongerStopWins(t *testing.T) {
	for _, c := range []struct {
		why  string
		in   []tidings.Reason
		want tidings.Reason
	}{
		{"a complaint stops marketing only, a bounce everything", []tidings.Reason{tidings.ReasonSuppressedComplaint, tidings.ReasonSuppressedBounce}, tidings.ReasonSuppressedBounce},
		{"a later complaint takes nothing back", []tidings.Reason{tidings.ReasonSuppressedBounce, tidings.ReasonSuppressedComplaint}, tidings.ReasonSuppressedBounce},
		{"what the person said stays", []tidings.Reason{tidings.ReasonOptedOutChannel, tidings.ReasonSuppressedBounce}, tidings.ReasonOptedOutChannel},
	} {
		t.Run(c.why, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, s *store.Store) {
				_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1", Email: "ann@example.test"}, noon())
				fatal(t, err)
				for _, reason := range c.in {
					fatal(t, s.Suppress(t.Context(), tidings.Email, " ANN@example.TEST", reason, "test", noon()))
				}
				e, err := s.ExportUser(t.Context(), "u_1")
				fatal(t, err)
				if len(e.Suppressions) != 1 || e.Suppressions[0].Reason != c.want {
					t.Errorf("suppressions = %+v, want %s", e.Suppressions, c.want)
				}
				fatal(t, s.Unsuppress(t.Context(), tidings.Email, "ann@example.test"))
				fatal(t, s.Unsuppress(t.Context(), tidings.Email, "ann@example.test")) // none is no error
				e, err = s.ExportUser(t.Context(), "u_1")
				fatal(t, err)
				if len(e.Suppressions) != 0 {
					t.Errorf("lifted, but %+v", e.Suppressions)
				}
			})
		})
	}
}
