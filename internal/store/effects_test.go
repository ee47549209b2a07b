package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestWhatResultsDoToTheAddress(t *testing.T) {
	registered := start().Add(-time.Hour)
	type step struct {
		after  time.Duration
		effect store.AddressEffect
	}
	retire := store.AddressEffect{Kind: store.EffectRetire}
	strike := store.AddressEffect{Kind: store.EffectStrike}
	strikeOut := store.AddressEffect{Kind: store.EffectStrikeOut}
	ok := store.AddressEffect{Kind: store.EffectOK}
	cases := []struct {
		why     string
		steps   []step
		status  tidings.AddressStatus
		retired bool   // said by the last result
		told    string // in its timeline
	}{
		{"proof retires", []step{{0, retire}}, tidings.AddressRetired, true, "address_retired: the provider says that the address is gone, so it is not used any more"},
		{"it is retired once", []step{{0, retire}, {time.Minute, retire}}, tidings.AddressRetired, false, ""},
		{"proof from before the registration does not count", []step{{0, store.AddressEffect{Kind: store.EffectRetire, DeadSince: registered.Add(-time.Second)}}}, tidings.AddressActive, false, ""},
		{"proof from after the registration counts", []step{{0, store.AddressEffect{Kind: store.EffectRetire, DeadSince: registered.Add(time.Second)}}}, tidings.AddressRetired, true, "address_retired: the provider says that the address is gone, so it is not used any more"},
		{"one strike is nothing", []step{{0, strike}}, tidings.AddressActive, false, ""},
		{"two strikes in a day quarantine", []step{{0, strike}, {23 * time.Hour, strike}}, tidings.AddressQuarantined, false, "decided: the address is set aside, since it was refused again"},
		{"so does the third, which came too late to know", []step{{0, strike}, {time.Minute, strike}, {2 * time.Minute, strike}}, tidings.AddressQuarantined, false, "decided: the address is set aside, since it was refused again"},
		{"two strikes in two days do not", []step{{0, strike}, {25 * time.Hour, strike}}, tidings.AddressActive, false, ""},
		{"what worked in between forgives", []step{{0, strike}, {time.Hour, ok}, {2 * time.Hour, strike}}, tidings.AddressActive, false, ""},
		{"two refusals of a number retire it", []step{{0, strikeOut}, {time.Hour, strikeOut}}, tidings.AddressRetired, true, "address_retired: the address was refused for the second time within a day, so it is not used any more"},
		{"it worked", []step{{0, ok}}, tidings.AddressActive, false, ""},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				var last store.Recorded
				var id tidings.DeliveryID
				for _, step := range c.steps {
					at := start().Add(step.after)
					claimed := w.sending(at)
					r := result(claimed, tidings.RecipientDead, tidings.Failed, at)
					r.Effect = step.effect
					last, id = w.record(r)[0], claimed.Delivery.ID
				}
				if a := w.address(w.devices[0].ID); a.Status != c.status || (a.Status == tidings.AddressRetired) == a.RetiredAt.IsZero() {
					t.Fatalf("the address is %+v", a)
				}
				if last.Retired != c.retired {
					t.Fatalf("retired %v", last.Retired)
				}
				trail, err := s.Trail(t.Context(), "", tidings.NotificationOf(id))
				if err != nil {
					t.Fatal(err)
				}
				told := ""
				for _, m := range trail.Timeline {
					told += m.Kind + ": " + m.Text
				}
				if told != c.told {
					t.Fatalf("told %q, want %q", told, c.told)
				}
			})
		}
	})
}

func TestAPersonWhoSaysStopIsSuppressed(t *testing.T) {
	cases := []struct {
		why    string
		say    func(w *world, c store.Claimed)
		reason tidings.Reason
	}{
		{"at the call", func(w *world, c store.Claimed) {
			r := result(c, tidings.RecipientOptout, tidings.Suppressed, start())
			r.Effect.Kind = store.EffectSuppress
			w.record(r)
		}, tidings.ReasonOptedOutChannel},
		{"by a receipt", func(w *world, c store.Claimed) {
			r := receipt(c, tidings.ReceiptFailed, start())
			r.Outcome = tidings.RecipientOptout
			w.receipts(r)
		}, tidings.ReasonOptedOutChannel},
		{"by a complaint", func(w *world, c store.Claimed) {
			w.receipts(receipt(c, tidings.ReceiptComplained, start()))
		}, tidings.ReasonSuppressedComplaint},
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for _, c := range cases {
			t.Run(c.why, func(t *testing.T) {
				w := newWorld(t, s)
				claimed := w.sending(start())
				c.say(w, claimed)
				facts, _, err := s.Facts(t.Context(), []string{w.user})
				if err != nil {
					t.Fatal(err)
				}
				if got := facts[w.user].Suppressed[claimed.Address.ID]; got.Reason != c.reason {
					t.Fatalf("suppressed %+v", got)
				}
			})
		}
	})
}

func TestARefusalByReceiptRetiresTheAddress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		c := w.sending(start())
		w.record(result(c, tidings.OK, tidings.Sent, start()))
		r := receipt(c, tidings.ReceiptBounced, start().Add(time.Minute))
		r.Outcome = tidings.RecipientDead
		w.receipts(r)
		if a := w.address(c.Address.ID); a.Status != tidings.AddressRetired || a.Reason != tidings.ReasonRecipientDead {
			t.Fatalf("the address is %+v", a)
		}
	})
}
