package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/preferences"
)

const number = "+15550142"

// lines are the newest first, as "category/channel action source".
func (w *world) lines(user string) (all []string) {
	w.Helper()
	for _, e := range ledger(w.T, w.s, user) {
		all = append(all, e.Category+"/"+string(e.Channel)+" "+string(e.Action)+" "+string(e.Source))
	}
	return all
}

func (w *world) suppressed(user string) []preferences.Suppression {
	w.Helper()
	e, err := w.s.ExportUser(w.Context(), user)
	w.must(err)
	return e.Suppressions
}

func (w *world) wantLines(user string, want ...string) {
	w.Helper()
	got := w.lines(user)
	if len(got) != len(want) {
		w.Fatalf("ledger of %s is %q, want %q", user, got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			w.Fatalf("ledger of %s is %q, want %q", user, got, want)
		}
	}
}

func TestAStopStopsTheNumberOfEverybodyWhoHasIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		for _, user := range []string{"u_a", "u_b"} {
			_, err := s.PutUser(t.Context(), store.UserChange{ID: user, Phone: number}, start())
			w.must(err)
		}
		stop, restart := preferences.Origin{Source: preferences.SourceStop}, preferences.Origin{Source: preferences.SourceStart}
		for range 2 { // the second says nothing new
			people, err := s.Stop(t.Context(), tidings.SMS, number, stop, start())
			w.must(err)
			if people != 2 {
				t.Errorf("%d people", people)
			}
		}
		for _, user := range []string{"u_a", "u_b"} {
			if got := w.suppressed(user); len(got) != 1 || got[0].Reason != tidings.ReasonOptedOutChannel {
				t.Errorf("%s: %+v", user, got)
			}
			w.wantLines(user, "/sms withdrawn stop")
		}
		for range 2 {
			_, err := s.Restart(t.Context(), tidings.SMS, number, restart, start().Add(time.Minute))
			w.must(err)
		}
		if got := w.suppressed("u_a"); len(got) != 0 {
			t.Errorf("lifted, but %+v", got)
		}
		w.wantLines("u_b", "/sms given start", "/sms withdrawn stop")
	})
}

func TestAStartLiftsNoOtherSuppression(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		_, err := s.PutUser(t.Context(), store.UserChange{ID: "u_a", Phone: number}, start())
		w.must(err)
		w.must(s.Suppress(t.Context(), tidings.SMS, number, tidings.ReasonOptedOutChannel, "support", start()))
		_, err = s.Restart(t.Context(), tidings.SMS, number, preferences.Origin{Source: preferences.SourceStart}, start())
		w.must(err)
		if got := w.suppressed("u_a"); len(got) != 1 {
			t.Errorf("suppressions are %+v", got)
		}
		w.wantLines("u_a")
	})
}

func TestANumberOfNobodyCanBeStopped(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		people, err := s.Stop(t.Context(), tidings.SMS, number, preferences.Origin{Source: preferences.SourceStop}, start())
		w.must(err)
		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_a", Phone: number}, start())
		w.must(err)
		if got := w.suppressed("u_a"); people != 0 || len(got) != 1 {
			t.Errorf("%d people; suppressions of who came later are %+v", people, got)
		}
	})
}

func TestWhatTheCarrierWasToldIsInTheLedger(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		_, err := s.PutUser(t.Context(), store.UserChange{ID: w.user, Phone: number}, start())
		w.must(err)
		_, err = s.PutUser(t.Context(), store.UserChange{ID: "u_b", Phone: number}, start())
		w.must(err)
		facts, _, err := s.Facts(t.Context(), []string{w.user})
		w.must(err)
		phone := facts[w.user].Addresses[len(facts[w.user].Addresses)-1]
		w.devices[0] = phone
		a := w.acceptance(start(), 1)
		a.Deliveries[0].Lane = "sms.bulk"
		id := w.accept(a)[0].Deliveries[0]
		got, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "sms.bulk", IDs: []tidings.DeliveryID{id}, Now: start(), Lease: time.Minute})
		w.must(err)
		r := result(got[0], tidings.RecipientOptout, tidings.Suppressed, start())
		r.Effect.Kind = store.EffectSuppress
		w.record(r)
		w.wantLines(w.user, "/sms withdrawn stop")
		w.wantLines("u_b", "/sms withdrawn stop")
		w.receipts(tidings.Receipt{Provider: "apns", Delivery: id, Attempt: 1, Status: tidings.ReceiptFailed, Outcome: tidings.RecipientOptout, At: start(), ReceivedAt: start()})
		w.wantLines(w.user, "/sms withdrawn stop") // the same again
		_, err = s.Restart(t.Context(), tidings.SMS, number, preferences.Origin{Source: preferences.SourceStart}, start().Add(time.Minute))
		w.must(err)
		if got := w.suppressed(w.user); len(got) != 0 {
			t.Errorf("lifted, but %+v", got)
		}
	})
}

func TestAComplaintSwitchesOffWhatTheOptOutCovers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OK, tidings.Sent, start()))
		for range 2 {
			w.receipts(receipt(c, tidings.ReceiptComplained, start().Add(time.Minute)))
		}
		w.wantLines(w.user, "orders/ withdrawn complaint")
		p, _, err := s.Preferences(t.Context(), w.user)
		w.must(err)
		if choice := p.Categories["orders"]; choice.All == nil || *choice.All || p.Version != 1 {
			t.Errorf("preferences are %+v", p)
		}
		w.must(s.EraseUser(t.Context(), w.user, start()))
		w.receipts(receipt(c, tidings.ReceiptComplained, start().Add(2*time.Minute))) // of nobody any more
	})
}

// An address in another spelling is the same address, shown as it was registered last.
func TestSpellingsOfOneAddressAreOneAddress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		put := func(user, email string) {
			t.Helper()
			_, err := s.PutUser(t.Context(), store.UserChange{ID: user, Email: email}, noon())
			fatal(t, err)
		}
		put("u_1", "Ann@example.test")
		first, err := s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		fatal(t, err)
		put("u_1", "ann@example.test")
		_, created, err := s.RegisterAddress(t.Context(), tidings.Address{UserID: "u_1", Channel: tidings.Email, Value: "ANN@example.test"}, noon())
		fatal(t, err)
		all, err := s.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
		fatal(t, err)
		if created || len(all) != 1 || all[0].ID != first[0].ID || all[0].Value != "ANN@example.test" || all[0].Status != tidings.AddressActive {
			t.Errorf("created %v, addresses %+v", created, all)
		}
		fatal(t, s.Suppress(t.Context(), tidings.Email, "aNN@Example.TEST.", tidings.ReasonSuppressedBounce, "test", noon()))
		facts, _, err := s.Facts(t.Context(), []string{"u_1"})
		fatal(t, err)
		if len(facts["u_1"].Suppressed) != 1 {
			t.Error("a spelling went around the suppression")
		}
		fatal(t, s.RetireAddress(t.Context(), "u_1", first[0].ID, noon()))
		u, err := s.User(t.Context(), "u_1")
		fatal(t, err)
		if u.Email != "" {
			t.Errorf("retired in one spelling, the user still has %s", u.Email)
		}
	})
}
