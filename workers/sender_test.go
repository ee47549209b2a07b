package workers

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/preferences"
)

var (
	orderPush = order{event: "order.shipped", channel: tidings.Push, token: "phones"}
	codeSMS   = order{event: "login.code", channel: tidings.SMS}
	paySMS    = order{event: "payment.failed", channel: tidings.SMS}
)

func TestADeliveryIsSentAtOnce(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		workers := w.start()
		begin := time.Now()
		id := w.accept(1, orderPush)[0]
		w.pass(50 * time.Millisecond)
		w.ends(tidings.Sent, "", id)
		if got := s.perDelivery(); len(got) != 1 || got[id] != 1 {
			t.Errorf("calls %v", got)
		}
		if waited := s.at[0].Sub(begin); waited > 20*time.Millisecond {
			t.Errorf("sent after %v", waited)
		}
		m := s.calls[0]
		if m.Attempt != 1 || m.CollapseID != id.String() || m.Event != "order.shipped" || m.Urgent || m.Content.Title == "" {
			t.Errorf("message %+v", m)
		}
		if n := workers.senders["push.bulk"].open.Load(); n != 0 {
			t.Errorf("%d in flight", n)
		}
		if d, err := w.lanes.Depth(t.Context(), "push.bulk"); err != nil || d.Entries != 0 {
			t.Errorf("depth %+v, %v", d, err)
		}
	})
}

func TestATransientFaultIsRetriedAfterAPause(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n < 2 {
			return fault(tidings.Transient)
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(10 * time.Second)
		w.ends(tidings.Sent, "", id)
		if got := w.outcomes(id); !slices.Equal(got, []string{"phones:transient", "phones:transient", "phones:ok"}) {
			t.Errorf("attempts %v", got)
		}
	})
}

func TestTheNextProviderIsAskedAtOnce(t *testing.T) {
	one, two := &script{answer: func(int, *channels.Message) error { return fault(tidings.Transient) }}, &script{}
	inWorld(t, []Provider{provider("one", tidings.SMS, one), provider("two", tidings.SMS, two)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, codeSMS)[0]
		w.pass(100 * time.Millisecond)
		w.ends(tidings.Sent, "", id)
		if got := w.outcomes(id); !slices.Equal(got, []string{"one:transient", "two:ok"}) {
			t.Fatalf("attempts %v", got)
		}
		if waited := two.at[0].Sub(one.at[0]); waited > 20*time.Millisecond {
			t.Errorf("the second was asked %v after the first", waited)
		}
	})
}

func TestAfterAllProvidersComesAPauseAndTheFirstAgain(t *testing.T) {
	failing := func(int, *channels.Message) error { return fault(tidings.Transient) }
	one, two := &script{answer: failing}, &script{answer: failing}
	inWorld(t, []Provider{provider("one", tidings.SMS, one), provider("two", tidings.SMS, two)}, func(t *testing.T, w *world) {
		w.config.Delivery.MaxAttempts = 4
		w.start()
		id := w.accept(1, codeSMS)[0]
		w.pass(time.Minute)
		w.ends(tidings.Dead, tidings.ReasonRetriesSpent, id)
		if got := w.outcomes(id); !slices.Equal(got, []string{"one:transient", "two:transient", "one:transient", "two:transient"}) {
			t.Errorf("attempts %v", got)
		}
	})
}

func TestAnOpenBreakerSpendsNoAttempts(t *testing.T) {
	var works atomic.Bool
	s := &script{answer: func(int, *channels.Message) error {
		if !works.Load() {
			return fault(tidings.Transient)
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		ids := w.accept(200, orderPush)
		w.pass(time.Hour)
		if calls, most := s.count(), 64+360; calls > most {
			t.Errorf("%d calls in an hour of trouble, want at most those under way at first and the probes: %d", calls, most)
		}
		for _, id := range ids {
			if d := w.delivery(id); d.Tries > 24 || d.Status == tidings.Dead {
				t.Errorf("delivery is %s after %d tries", d.Status, d.Tries)
			}
		}
		works.Store(true)
		w.pass(20 * time.Minute)
		w.ends(tidings.Sent, "", ids...)
	})
}

func TestAFaultOfTheRecipientOpensNoBreaker(t *testing.T) {
	s := &script{answer: func(int, *channels.Message) error {
		return &channels.Error{Fault: tidings.RecipientDead, HTTPStatus: 410, Code: "Unregistered"}
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		ids := w.accept(doubtMost, orderPush)
		w.pass(time.Second)
		w.ends(tidings.Failed, tidings.ReasonRecipientDead, ids...)
		facts, _, err := w.store.Facts(t.Context(), []string{"u_1"})
		if err != nil || facts["u_1"].Addresses[0].Status != tidings.AddressRetired {
			t.Errorf("address %+v, %v", facts["u_1"].Addresses, err)
		}
	})
}

func TestTwoWorkersOfOneLaneCallOnceForEachDelivery(t *testing.T) {
	var s *script
	providers := func() []Provider {
		s = &script{takes: 20 * time.Millisecond}
		return []Provider{provider("phones", tidings.Push, s)}
	}
	inEachWorld(t, providers, func(t *testing.T, w *world) {
		w.start()
		w.start()
		ids := w.accept(1000, orderPush)
		w.pass(time.Minute)
		if got := s.perDelivery(); len(got) != 1000 || s.count() != 1000 {
			t.Errorf("%d calls for %d deliveries", s.count(), len(got))
		}
		w.ends(tidings.Sent, "", ids...)
	})
}

func TestWhatTheUserRefusesBeforeTheClaimIsNotSent(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		id := w.accept(1, orderPush)[0]
		_, _, err := w.store.ChangePreferences(t.Context(), "u_1", -1, time.Now(), func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
			p.Channels = map[tidings.Channel]bool{tidings.Push: false}
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.start()
		w.pass(time.Second)
		w.ends(tidings.Suppressed, tidings.ReasonOptedOutChannel, id)
		if s.count() != 0 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestACancelWhileRetryingEndsIt(t *testing.T) {
	s := &script{answer: func(int, *channels.Message) error {
		return &channels.Error{Fault: tidings.Transient, After: time.Minute}
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(10 * time.Second)
		got, err := w.store.Cancel(t.Context(), "", tidings.NotificationOf(id), time.Now())
		if err != nil || !slices.Equal(got.Cancelled, []tidings.DeliveryID{id}) {
			t.Fatalf("%+v, %v", got, err)
		}
		w.pass(10 * time.Minute)
		w.ends(tidings.Cancelled, tidings.ReasonCancelled, id)
		if s.count() != 1 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestACancelWhileSendingLetsTheCallEndAndNoRetryFollow(t *testing.T) {
	s := &script{takes: 5 * time.Second, answer: func(int, *channels.Message) error { return fault(tidings.Transient) }}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(time.Second)
		got, err := w.store.Cancel(t.Context(), "", tidings.NotificationOf(id), time.Now())
		if err != nil || !slices.Equal(got.Cancelling, []tidings.DeliveryID{id}) {
			t.Fatalf("%+v, %v", got, err)
		}
		w.pass(10 * time.Minute)
		w.ends(tidings.Cancelled, tidings.ReasonCancelled, id)
		if s.count() != 1 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestATestNotificationGoesTheWholePathWithoutACall(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		o := orderPush
		o.test = true
		id := w.accept(1, o)[0]
		w.pass(time.Second)
		w.ends(tidings.Sent, tidings.ReasonSimulated, id)
		if s.count() != 0 {
			t.Errorf("%d calls", s.count())
		}
		if got := w.delivery(id).Attempts; len(got) != 1 || got[0].Provider != "phones" {
			t.Errorf("attempts %+v", got)
		}
		w.countedWithoutCall(tidings.Sent)
	})
}

// countedWithoutCall checks that the one delivery that ended is not counted as the provider's.
func (w *world) countedWithoutCall(status tidings.Status) {
	w.t.Helper()
	const name = "tidings_deliveries_total"
	if none, phones := counted(w.t, w.metrics, name, "push", "", string(status)), counted(w.t, w.metrics, name, "push", "phones", string(status)); none != 1 || phones != 0 {
		w.t.Errorf("%v are counted as %s without a provider and %v with it", none, status, phones)
	}
}

func TestContentThatCannotBeMadeEndsTheDelivery(t *testing.T) {
	s := &script{}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		o := orderPush
		o.data = `{"order":"4711"}`
		id := w.accept(1, o)[0]
		w.pass(time.Second)
		w.ends(tidings.Failed, tidings.ReasonTemplateError, id)
		if got := w.delivery(id).Attempts; len(got) != 1 || got[0].Code != "missing_data" {
			t.Errorf("attempts %+v", got)
		}
		w.countedWithoutCall(tidings.Failed)
		if s.count() != 0 {
			t.Errorf("%d calls", s.count())
		}
	})
}

func TestATokenOfAProviderThatIsGoneNeedsAPerson(t *testing.T) {
	inWorld(t, []Provider{provider("phones", tidings.Push, &script{})}, func(t *testing.T, w *world) {
		w.start()
		o := orderPush
		o.token = "old"
		id := w.accept(1, o)[0]
		w.pass(time.Second)
		w.ends(tidings.Dead, tidings.ReasonNoProvider, id)
		trail, err := w.store.Trail(t.Context(), "", tidings.NotificationOf(id))
		if err != nil {
			t.Fatal(err)
		}
		last := trail.Timeline[len(trail.Timeline)-1]
		if cause, told := last.Cause(); !told || cause != tidings.CauseRoute {
			t.Errorf("the log tells %+v, want that others are configured", last)
		}
	})
}

func TestAPanicOfAProviderIsAnUnknownOutcome(t *testing.T) {
	s := &script{answer: func(n int, _ *channels.Message) error {
		if n == 0 {
			panic("made up")
		}
		return nil
	}}
	inWorld(t, []Provider{provider("phones", tidings.Push, s)}, func(t *testing.T, w *world) {
		w.start()
		id := w.accept(1, orderPush)[0]
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", id) // push repeats what is unknown
		if got := w.outcomes(id); !slices.Equal(got, []string{"phones:unknown", "phones:ok"}) {
			t.Errorf("attempts %v", got)
		}
	})
}
