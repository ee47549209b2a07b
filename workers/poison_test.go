package workers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/templates"
)

// phone is one provider that accepts everything.
func phone() []Provider { return []Provider{provider("phones", tidings.Push, &script{})} }

// dieAgain lets a parked or queued delivery of a paused lane be claimed by a worker that ends
// before it records, and waits until that is found out.
func (w *world) dieAgain(id tidings.DeliveryID) {
	w.t.Helper()
	w.queue("push.bulk")
	w.claimAndDie("push.bulk", id)
	w.pass(w.config.Delivery.Lease + 2*w.config.Delivery.Sweep)
}

// deadLetters is how many dead letters are counted.
func deadLetters(t *testing.T, w *Workers, channel, reason string) float64 {
	t.Helper()
	return counted(t, w.Metrics, "tidings_dead_letters_total", channel, reason)
}

// counted is what a counter of the metrics shows, with the values of its labels in the order of their names.
func counted(t testing.TB, m *observe.Metrics, name string, labels ...string) float64 {
	t.Helper()
	families, err := m.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if f.GetName() == name && slices.Equal(values, labels) {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("%s has nothing of %q", name, labels)
	return 0
}

// queue moves what is parked in a lane to queued, whenever it is due.
func (w *world) queue(lane tidings.Lane) {
	w.t.Helper()
	if _, err := w.store.Due(w.t.Context(), lane, time.Now().UTC().Add(time.Hour), 10); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pause(lane tidings.Lane, paused bool) {
	w.t.Helper()
	if err := w.store.SetLanePaused(w.t.Context(), lane, paused, time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

func TestADeliveryWhoseClaimsDieThreeTimesNeedsAPerson(t *testing.T) {
	inEachWorld(t, phone, func(t *testing.T, w *world) {
		w.pause("push.bulk", true)
		workers := w.start()
		id := w.accept(1, orderPush)[0]
		for round := range 2 { // a redrive counts anew
			for range maxDeaths - 1 {
				w.dieAgain(id)
				if d := w.delivery(id); d.Status != tidings.Parked {
					t.Fatalf("after a death it is %s", d.Status)
				}
			}
			w.dieAgain(id)
			w.ends(tidings.Dead, tidings.ReasonPoison, id)
			if n := deadLetters(t, workers, "push", "poison"); n != float64(round+1) {
				t.Errorf("%v dead letters are counted", n)
			}
			w.redrive(id)
		}
		w.pause("push.bulk", false)
		w.pass(time.Minute)
		w.ends(tidings.Sent, "", id)
	})
}

func (w *world) redrive(ids ...tidings.DeliveryID) {
	w.t.Helper()
	done, err := w.store.Redrive(w.t.Context(), store.Redrive{IDs: ids, From: tidings.Dead, Now: time.Now().UTC()})
	if err != nil || done.Parked != len(ids) {
		w.t.Fatalf("redriven %+v, %v", done, err)
	}
}

func TestDeathsThatAreNotInARowPoisonNothing(t *testing.T) {
	inWorld(t, phone(), func(t *testing.T, w *world) {
		w.pause("push.bulk", true)
		w.start()
		id := w.accept(1, orderPush)[0]
		for range 3 {
			w.dieAgain(id)
			w.dieAgain(id)
			w.queue("push.bulk")
			c, err := w.store.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "push.bulk", IDs: []tidings.DeliveryID{id}, Now: time.Now().UTC(), Lease: time.Minute})
			if err != nil || len(c) != 1 {
				t.Fatal(c, err)
			}
			now := time.Now().UTC()
			_, err = w.store.Record(t.Context(), store.Normal, []store.Result{{Attempt: tidings.Attempt{Delivery: id, Number: c[0].Delivery.ClaimNo, Outcome: tidings.Transient,
				StartedAt: now, EndedAt: now}, Lane: "push.bulk", Status: tidings.Parked, DueAt: now}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if d := w.delivery(id); d.Status != tidings.Parked {
			t.Errorf("it is %s %s", d.Status, d.Reason)
		}
	})
}

func TestARowThatCannotBeReadEndsAloneAndWhatIsBesideItGoesOut(t *testing.T) {
	inEachWorld(t, phone, func(t *testing.T, w *world) {
		ids := w.accept(120, orderPush)
		storetest.Damage(t, w.log, "u_7", "u_77", "u_120")
		workers := w.start()
		w.pass(5 * time.Second)
		for i, id := range ids {
			switch i + 1 {
			case 7, 77, 120:
				w.ends(tidings.Dead, tidings.ReasonPoison, id)
			default:
				w.ends(tidings.Sent, "", id)
			}
		}
		if n := deadLetters(t, workers, "push", "poison"); n != 3 {
			t.Errorf("%v dead letters are counted", n)
		}
	})
}

func TestWhenNothingCanBeClaimedTheFaultIsNotTheDeliveries(t *testing.T) {
	inWorld(t, phone(), func(t *testing.T, w *world) {
		ids := w.accept(maxConvictions+5, orderPush)
		for i := range ids {
			storetest.Damage(t, w.log, fmt.Sprintf("u_%d", i+1))
		}
		w.start()
		dead := func() (n int) {
			for _, id := range ids {
				if w.delivery(id).Status == tidings.Dead {
					n++
				}
			}
			return n
		}
		w.pass(30 * time.Second)
		if n := dead(); n != maxConvictions {
			t.Errorf("%d are dead", n)
		}
		for range 10 {
			id := w.accept(1, orderPush)[0]
			w.pass(20 * time.Second)
			w.ends(tidings.Sent, "", id) // claims work again, so the fault is theirs
		}
		if n := dead(); n != len(ids) {
			t.Errorf("%d are dead", n)
		}
	})
}

func TestALogThatIsAwayPoisonsNothing(t *testing.T) {
	log := storetest.SQLite(t)
	var disk storetest.Disk
	log.Connector = disk.Under
	inWorldOn(t, log, phone(), func(t *testing.T, w *world) {
		ids := w.accept(3, orderPush)
		disk.Break(true)
		w.pass(time.Millisecond)
		disk.Break(false)
		w.start()
		disk.Break(true)
		w.pass(time.Second) // the statements fail with what nobody knows: as many as condemn, were it the rows' fault
		disk.Break(false)
		w.pass(5 * time.Minute)
		w.ends(tidings.Sent, "", ids...)
	})
}

func TestWhatPanicsInItsCheckEndsAndWhatIsBehindItGoesOut(t *testing.T) {
	inEachWorld(t, phone, func(t *testing.T, w *world) {
		s := w.settings()
		s.Catalogue = func(version int64) (*templates.Catalogue, error) {
			if version == 13 {
				panic("made up")
			}
			return w.catalogue, nil
		}
		o := orderPush
		o.version = 13
		bad := w.accept(1, o)[0]
		good := w.accept(100, orderPush)
		w.startWith(s)
		w.pass(time.Second)
		w.ends(tidings.Dead, tidings.ReasonPoison, bad)
		w.ends(tidings.Sent, "", good...)
	})
}

// hoard fetches what a lane has, as workers do that die before they claim, times times.
func (w *world) hoard(lane tidings.Lane, entries, times int) {
	w.t.Helper()
	for range times {
		left := entries
		for range 10 * entries { // one fetch may bring a part of them
			got, err := w.lanes.Fetch(w.t.Context(), lane, left)
			if err != nil {
				w.t.Fatal(err)
			}
			if left -= len(got); left == 0 {
				break
			}
		}
		if left > 0 {
			w.t.Fatalf("%d of %d entries did not come", left, entries)
		}
		w.pass(w.config.Lane(lane).AckWait + time.Second)
	}
}

func TestAnEntryThatComesAgainAndAgainIsClaimedOneByOneUnderClaimsThatStandFirst(t *testing.T) {
	inEachWorld(t, phone, func(t *testing.T, w *world) {
		ids := w.accept(60, orderPush)
		w.hoard("push.bulk", 2, maxTimes)
		late := w.accept(60, orderPush)
		storetest.Damage(t, w.log, "u_7")
		w.start()
		w.pass(20 * time.Second)
		for i, id := range ids {
			if i == 6 {
				w.ends(tidings.Dead, tidings.ReasonPoison, id)
				continue
			}
			w.ends(tidings.Sent, "", id)
			if d := w.delivery(id); d.ClaimNo != 2 || d.Tries != 1 {
				t.Errorf("claimed as number %d, %d tries", d.ClaimNo, d.Tries)
			}
		}
		w.ends(tidings.Sent, "", late...)
		if d := w.delivery(late[0]); d.ClaimNo != 1 {
			t.Errorf("what came once is claimed as number %d", d.ClaimNo)
		}
	})
}

func TestAWorkerThatDiesOfADeliveryBeforeItsClaimIsStoppedByIt(t *testing.T) {
	inEachWorld(t, phone, func(t *testing.T, w *world) {
		w.pause("push.bulk", true)
		w.start()
		id := w.accept(1, orderPush)[0]
		for range maxDeaths { // each time it came too often, so the claim stands before anybody looks
			w.queue("push.bulk")
			claim, err := w.store.Seize(t.Context(), store.Normal, "push.bulk", id, time.Now().UTC().Add(w.config.Delivery.Lease))
			if err != nil || claim == 0 {
				t.Fatal(claim, err)
			}
			w.pass(w.config.Delivery.Lease + 2*w.config.Delivery.Sweep)
		}
		w.ends(tidings.Dead, tidings.ReasonPoison, id)
	})
}

func TestARestartEveryFiveSecondsPoisonsNothing(t *testing.T) {
	s := &script{takes: time.Second}
	slow := provider("phones", tidings.Push, s)
	slow.PerSecond = 8 // so that entries of fifty are held and returned over and over
	inWorld(t, []Provider{slow}, func(t *testing.T, w *world) {
		ids := w.accept(400, orderPush)
		for range 20 {
			workers := w.start()
			w.pass(5 * time.Second)
			w.stop(workers)
		}
		w.start()
		w.pass(2 * time.Minute)
		w.ends(tidings.Sent, "", ids...)
		if s.count() != len(ids) {
			t.Errorf("%d calls for %d deliveries", s.count(), len(ids))
		}
	})
}

// Templates that would take the process with them, were there no bounds.
func TestATemplateThatRunsWildEndsItsDeliveryAndNoOther(t *testing.T) {
	catalogue, err := templates.Parse(map[string]string{
		"catalog.yaml":                         "default_locale: en\ncategories: {orders: {kind: transactional}}\nevents:\n  order.shipped: {category: orders, channels: [push]}\n  wild.loop: {category: orders, channels: [push]}\n  wild.growth: {category: orders, channels: [push]}\n",
		"templates/order.shipped/push.en.yaml": "title: Hello\nbody: World\n",
		"templates/wild.loop/push.en.yaml":     "title: x\nbody: '{{ range .data.list }}{{ range $.data.list }}{{ range $.data.list }}{{ end }}{{ end }}{{ end }}'\n",
		"templates/wild.growth/push.en.yaml":   "title: x\nbody: '{{ range .data.list }}{{ range $.data.list }}{{ $.data.text }}{{ end }}{{ end }}'\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	data := `{"list":[` + strings.Repeat("1,", 10_000) + `1],"text":"` + strings.Repeat("x", 30_000) + `"}`
	inWorld(t, phone(), func(t *testing.T, w *world) {
		w.catalogue = catalogue
		loop := w.accept(1, order{event: "wild.loop", channel: tidings.Push, token: "phones", data: data})[0]
		growth := w.accept(1, order{event: "wild.growth", channel: tidings.Push, token: "phones", data: data})[0]
		good := w.accept(100, orderPush)
		w.start()
		w.pass(time.Second)
		w.ends(tidings.Failed, tidings.ReasonTemplateError, loop)
		w.ends(tidings.Failed, tidings.ReasonContentTooLarge, growth)
		w.ends(tidings.Sent, "", good...)
	})
}
