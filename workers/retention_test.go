package workers

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
	"tidings/internal/testkit"
	"tidings/templates"
)

// onEachLog runs f on SQLite and on PostgreSQL in a world without a broker, where a month costs nothing.
func onEachLog(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	for name, log := range map[string]store.Settings{"sqlite": storetest.SQLite(t), "postgres": storetest.Postgres(t)} {
		catalogue := sample(t)
		t.Run(name, func(t *testing.T) {
			testkit.Bubble(t, func(t *testing.T) {
				f(t, &world{t: t, log: log, catalogue: catalogue, store: storetest.Open(t, log)})
			})
		})
	}
}

// keeping is a keeper on a log, with two categories of which one is kept for two days.
func keeping(s *store.Store) *keeper {
	brief := &templates.Catalogue{Categories: map[string]tidings.Category{"news": {Retention: 48 * time.Hour}, "orders": {}}}
	return newKeeper(&Workers{Settings: Settings{Store: s, Log: slog.New(slog.DiscardHandler), Config: Config{Retention: 30 * 24 * time.Hour},
		Current: func() (*templates.Catalogue, int64) { return brief, 1 }}})
}

// ended accepts n notifications of a category and calls them off, but for what holds keep.
func (w *world) ended(n int, category string, holds ...tidings.Hold) (ids []tidings.NotificationID) {
	w.t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	var group []store.Acceptance
	for range n {
		a := w.acceptance(orderPush, tidings.Lane("push.bulk"), now)
		a.Notification.Category = category
		for _, h := range holds {
			h.ID, h.Notification, h.Channel, h.Reason = tidings.NewHoldID(now), a.Notification.ID, tidings.Push, tidings.ReasonScheduled
			a.Deliveries, a.Holds = nil, append(a.Holds, h)
		}
		group = append(group, a)
	}
	accepted, err := w.store.Accept(w.t.Context(), store.Normal, group)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range accepted {
		ids = append(ids, a.ID)
		if len(holds) == 0 {
			w.cancel(a.ID)
		}
	}
	return ids
}

func (w *world) cancel(id tidings.NotificationID) {
	w.t.Helper()
	if _, err := w.store.Cancel(w.t.Context(), "", id, time.Now()); err != nil {
		w.t.Fatal(err)
	}
}

// there reports whether the detail of a notification is there.
func (w *world) there(id tidings.NotificationID) bool {
	w.t.Helper()
	_, err := w.store.Trail(w.t.Context(), "", id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.t.Fatal(err)
	}
	return err == nil
}

func TestACategoryIsKeptForItsOwnTimeAndTheRestForTheirs(t *testing.T) {
	onEachLog(t, func(t *testing.T, w *world) {
		k, began := keeping(w.store), time.Now()
		news, rest := w.ended(1, "news")[0], w.ended(1, "orders")[0]
		unknown := w.ended(1, "of_an_old_catalogue")[0]
		for _, c := range []struct {
			after                time.Duration
			news, orders, others bool
		}{
			{47 * time.Hour, true, true, true},
			{49 * time.Hour, false, true, true},
			{30*24*time.Hour - time.Hour, false, true, true},
			{30*24*time.Hour + time.Hour, false, false, false}, // a category that the catalogue no longer has is the rest
		} {
			time.Sleep(c.after - time.Since(began))
			k.round(t.Context(), time.Now())
			if got := []bool{w.there(news), w.there(rest), w.there(unknown)}; !slices.Equal(got, []bool{c.news, c.orders, c.others}) {
				t.Errorf("after %v there are %v, want %+v", c.after, got, c)
			}
		}
	})
}

// What was passed over in its category is found again, a day after it was passed over at the latest.
func TestWhatWasHeldOverItsTimeGoesWhenItIsOver(t *testing.T) {
	onEachLog(t, func(t *testing.T, w *world) {
		k := keeping(w.store)
		held := w.ended(1, "news", tidings.Hold{Until: time.Now().Add(60 * time.Hour)})[0]
		time.Sleep(50 * time.Hour)
		k.round(t.Context(), time.Now())
		if !w.there(held) {
			t.Fatal("what is held is gone")
		}
		w.cancel(held)
		time.Sleep(lookAgain)
		k.round(t.Context(), time.Now())
		if w.there(held) {
			t.Error("it is over and still there")
		}
	})
}

func TestTwoProcessesDeleteTheSameDetailAndCountItOnce(t *testing.T) {
	const total = 200
	onEachLog(t, func(t *testing.T, w *world) {
		other := storetest.Open(t, w.log)
		day := time.Now().Unix() / (24 * 60 * 60)
		w.ended(total, "orders")
		late := w.ended(1, "orders", tidings.Hold{Until: time.Now().Add(40 * 24 * time.Hour)})[0]
		time.Sleep(31 * 24 * time.Hour)
		var wg sync.WaitGroup
		for _, s := range []*store.Store{w.store, other} {
			wg.Go(func() { keeping(s).round(t.Context(), time.Now()) })
		}
		wg.Wait()
		keeping(w.store).round(t.Context(), time.Now()) // what one skipped that the other gave up
		left, err := other.Old(t.Context(), store.OldPage{Before: time.Now(), Now: time.Now(), Limit: total})
		if err != nil || len(left) != 1 || left[0].ID != late {
			t.Errorf("%d are left, want the one that is held: %v", len(left), err)
		}
		sums, err := other.Statistics(t.Context(), store.StatisticsFilter{Since: day, Until: day + 1}, time.Now())
		if err != nil || len(sums) != 1 || sums[0].Deliveries != total {
			t.Errorf("counted %+v, want %d: %v", sums, total, err)
		}
	})
}
