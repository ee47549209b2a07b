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

// damaging gives a world and a way to make what users want unreadable.
func damaging(t *testing.T, test func(t *testing.T, w *world, damage func(users ...string))) {
	t.Helper()
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			set := settings(t)
			w := newWorld(t, storetest.Open(t, set))
			test(t, w, func(users ...string) { storetest.Damage(t, set, users...) })
		})
	}
}

// A change of what cannot be read begins with what the ledger tells, and stores it: who had opted
// out stays out, and the ledger says that something was lost.
func TestAChangeMendsPreferencesThatCannotBeRead(t *testing.T) {
	damaging(t, func(t *testing.T, w *world, damage func(...string)) {
		by := preferences.Origin{Source: preferences.SourceUnsubscribe}
		w.must(w.s.OptOut(t.Context(), w.user, tidings.Category{Name: "offers"}, tidings.Email, by, start()))
		damage(w.user)
		if _, damaged, err := w.s.Facts(t.Context(), []string{w.user}); err != nil || len(damaged) != 1 {
			t.Fatalf("damaged %v, %v", damaged, err)
		}
		p, _, err := w.s.ChangePreferences(t.Context(), w.user, -1, start().Add(time.Hour), refuse("orders"))
		w.must(err)
		for _, name := range []string{"orders", "offers"} {
			if choice := p.Categories[name]; choice.All == nil || *choice.All {
				t.Errorf("%s is not off: %+v", name, p)
			}
		}
		w.wantLines(w.user, "/ given repair", "offers/ withdrawn unsubscribe")
		facts, damaged, err := w.s.Facts(t.Context(), []string{w.user})
		if err != nil || len(damaged) != 0 || len(facts[w.user].Preferences.Categories) != 2 {
			t.Errorf("facts %+v, damaged %v, %v", facts[w.user], damaged, err)
		}
	})
}

// What cannot be read of one user keeps no news of others back.
func TestAComplaintOfSomebodyWhoseWishesCannotBeReadIsTakenWithThoseOfOthers(t *testing.T) {
	damaging(t, func(t *testing.T, w *world, damage func(...string)) {
		other := newWorld(t, w.s)
		mine, theirs := w.sending(start()), other.sending(start())
		w.record(result(mine, tidings.OK, tidings.Sent, start()), result(theirs, tidings.OK, tidings.Sent, start()))
		damage(w.user)
		if strays := w.receipts(receipt(mine, tidings.ReceiptComplained, start().Add(time.Minute)), receipt(theirs, tidings.ReceiptComplained, start().Add(time.Minute))); strays != 0 {
			t.Errorf("%d strays", strays)
		}
		other.wantLines(other.user, "orders/ withdrawn complaint")
		if got := w.lines(w.user); len(got) != 2 || !slices.Contains(got, "orders/ withdrawn complaint") || !slices.Contains(got, "/ given repair") {
			t.Errorf("the ledger is %q", got) // lines of one instant have no order
		}
	})
}
