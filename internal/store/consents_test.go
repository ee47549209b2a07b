package store_test

import (
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/preferences"
)

func offers() tidings.Category {
	return tidings.Category{Name: "offers", Kind: tidings.Marketing, Consent: tidings.OptOut}
}

func unsubscribed() preferences.Origin {
	return preferences.Origin{Source: preferences.SourceUnsubscribe, Wording: "Unsubscribe", Version: "1"}
}

func ledger(t *testing.T, s *store.Store, user string) []preferences.Entry {
	t.Helper()
	list, err := s.Consents(t.Context(), user, tidings.ConsentID{}, 100)
	fatal(t, err)
	return list
}

func TestAnOptOutIsOneWithItsLineInTheLedger(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_1"}, noon())
		fatal(t, err)
		for range 2 { // the second changes nothing
			fatal(t, s.OptOut(t.Context(), "u_1", offers(), tidings.Email, unsubscribed(), noon()))
		}
		p, _, err := s.Preferences(t.Context(), "u_1")
		fatal(t, err)
		if c := p.Categories["offers"]; c.All == nil || *c.All || p.Version != 1 {
			t.Errorf("preferences = %+v", p)
		}
		lines := ledger(t, s, "u_1")
		if len(lines) != 1 || lines[0].ID.IsZero() {
			t.Fatalf("ledger = %+v, want one line", lines)
		}
		want := unsubscribed().Entry("offers", "", preferences.ConsentWithdrawn, noon().Truncate(time.Microsecond))
		want.ID = lines[0].ID
		if lines[0] != want {
			t.Errorf("line = %+v, want %+v", lines[0], want)
		}
	})
}

func TestAnOptOutOfNobodyMakesNobody(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		wantError(t, s.OptOut(t.Context(), "u_1", offers(), tidings.Email, unsubscribed(), noon()), store.ErrNotFound)
		_, err := s.ConfirmConsent(t.Context(), "u_1", "offers", tidings.NewConsentID(noon()), unsubscribed(), noon())
		wantError(t, err, store.ErrNotFound)
		_, err = s.Consents(t.Context(), "u_1", tidings.ConsentID{}, 10)
		wantError(t, err, store.ErrNotFound)
	})
}

// asked leaves a user with a consent that is to be confirmed.
func asked(t *testing.T, s *store.Store) tidings.ConsentID {
	t.Helper()
	_, _, err := s.ChangePreferences(t.Context(), "u_1", -1, noon(), func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		p.Agree("news", true)
		by := preferences.Origin{Source: preferences.SourceAPI, App: "shop", Wording: "Tell me of trips", Version: "3"}
		line := by.Entry("news", "", preferences.ConsentAsked, noon())
		p.Consents = map[string]preferences.Consent{"news": {State: preferences.ConsentAsked, At: noon(), Line: line.ID}}
		return []preferences.Entry{line}, nil
	})
	fatal(t, err)
	return ledger(t, s, "u_1")[0].ID
}

func TestAConsentIsConfirmedOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		line := asked(t, s)
		page := preferences.Origin{Source: preferences.SourcePage}
		for range 2 {
			given, err := s.ConfirmConsent(t.Context(), "u_1", "news", line, page, noon().Add(time.Hour))
			fatal(t, err)
			if !given {
				t.Error("not given")
			}
		}
		lines := ledger(t, s, "u_1")
		if len(lines) != 2 || lines[0].Action != preferences.ConsentGiven || lines[0].Wording != "Tell me of trips" || lines[1].Action != preferences.ConsentAsked {
			t.Errorf("ledger = %+v, want asked and then given", lines)
		}
		news := offers()
		news.Name = "news"
		fatal(t, s.OptOut(t.Context(), "u_1", news, tidings.Email, unsubscribed(), noon().Add(2*time.Hour)))
		given, err := s.ConfirmConsent(t.Context(), "u_1", "news", line, page, noon().Add(3*time.Hour))
		fatal(t, err)
		if given || len(ledger(t, s, "u_1")) != 3 {
			t.Error("an old link took an opt-out back")
		}
	})
}

func TestARefusedChangeLeavesNoLine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		asked(t, s)
		_, _, err := s.ChangePreferences(t.Context(), "u_1", 0, noon(), refuse("offers"))
		wantError(t, err, store.ErrConflict)
		if n := len(ledger(t, s, "u_1")); n != 1 {
			t.Errorf("%d lines, want 1", n)
		}
	})
}

func TestTheLedgerPagesNewestFirst(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var want []string
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			_, _, err := s.ChangePreferences(t.Context(), "u_1", -1, noon(), func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
				at := noon().Add(time.Duration(i) * time.Second)
				return []preferences.Entry{preferences.Origin{Source: preferences.SourceAPI}.Entry(name, "", preferences.ConsentGiven, at)}, nil
			})
			fatal(t, err)
			want = append(want, name)
		}
		slices.Reverse(want)
		var got []string
		var before tidings.ConsentID
		for {
			page, err := s.Consents(t.Context(), "u_1", before, 2)
			fatal(t, err)
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				got = append(got, e.Category)
			}
			before = page[len(page)-1].ID
		}
		if !slices.Equal(got, want) {
			t.Errorf("paged %v, want %v", got, want)
		}
	})
}

func TestTheLedgerIsExportedAndErasedWithItsUser(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		asked(t, s)
		e, err := s.ExportUser(t.Context(), "u_1")
		fatal(t, err)
		if len(e.Consents) != 1 || e.Consents[0].Wording != "Tell me of trips" {
			t.Errorf("exported %+v", e.Consents)
		}
		fatal(t, s.EraseUser(t.Context(), "u_1", noon()))
		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_1"}, noon())
		fatal(t, err)
		if n := len(ledger(t, s, "u_1")); n != 0 {
			t.Errorf("%d lines were left", n)
		}
	})
}
