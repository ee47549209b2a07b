package store_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// waiting puts deliveries of an app into the log, parked and due a second after the other.
func waiting(t *testing.T, set store.Settings, app string, n int) {
	t.Helper()
	storetest.Backlog{Lane: bulk, App: app, Event: "order.shipped", N: n, Due: start(), Step: time.Second, Expires: start().Add(24 * time.Hour)}.Put(t, set)
}

// feed moves at most limit deliveries into their lane and counts them by app.
func feed(t *testing.T, s *store.Store, now time.Time, limit int) map[string]int {
	t.Helper()
	ids, err := s.Due(t.Context(), bulk, now, limit)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, id := range ids {
		trail, err := s.Trail(t.Context(), "", tidings.NotificationOf(id))
		if err != nil {
			t.Fatal(err)
		}
		got[trail.Notification.App]++
	}
	return got
}

func TestALaneIsFedAppByApp(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		waiting(t, set, "blast", 100)
		waiting(t, set, "bank", 3)
		waiting(t, set, "shop", 30)
		now := start().Add(time.Hour)
		for _, step := range []struct {
			why               string
			room              int
			blast, bank, shop int
		}{
			{"equal shares", 6, 2, 2, 2},
			{"what one does not need goes to the others", 21, 10, 1, 10},
			{"the rest of a share goes to somebody", 3, 2, 0, 1},
			{"one that is done takes no part", 40, 23, 0, 17},
			{"one that is alone takes all", 1000, 63, 0, 0},
			{"nothing is left", 10, 0, 0, 0},
		} {
			got := feed(t, s, now, step.room)
			if got["blast"] != step.blast || got["bank"] != step.bank || got["shop"] != step.shop {
				t.Errorf("%s: fed %v, want %d, %d, %d", step.why, got, step.blast, step.bank, step.shop)
			}
		}
	})
}

func TestMoreAppsThanRoomTakeTurnsByWhoWaitsLongest(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		apps := []string{"one", "two", "three"}
		for i, app := range apps {
			storetest.Backlog{Lane: bulk, App: app, Event: "order.shipped", N: 2, Due: start().Add(time.Duration(i) * time.Second), Step: time.Minute,
				Expires: start().Add(24 * time.Hour)}.Put(t, set)
		}
		var order []string
		for range 6 {
			for app := range feed(t, s, start().Add(time.Hour), 1) {
				order = append(order, app)
			}
		}
		if want := slices.Concat(apps, apps); !slices.Equal(order, want) {
			t.Errorf("fed %v, want %v", order, want)
		}
	})
}

// each runs a test on both engines, for tests that need the settings of the log too.
func each(t *testing.T, test func(t *testing.T, s *store.Store, set store.Settings)) {
	t.Helper()
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			set := settings(t)
			test(t, storetest.Open(t, set), set)
		})
	}
}

// The whole backlog of one app would be read again at every turn of another, were these served
// by the index over all of them.
func TestNoAppPaysForTheBacklogOfAnother(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		waiting(t, set, "blast", 20_000)
		waiting(t, set, "bank", 10)
		now := start().Add(time.Hour).UnixMicro()
		for _, c := range []struct {
			name string
			args []any
		}{
			{"due_apps", []any{string(bulk), now, int64(500)}},
			{"due_count", []any{string(bulk), "bank", now, int64(500)}},
			{"due_take", []any{string(bulk), "bank", now, int64(500)}},
		} {
			plan, err := s.Explain(t.Context(), c.name, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(plan, "deliveries_parked") || strings.Contains(plan, "deliveries_live") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s is run as\n%s", c.name, plan)
			}
		}
	})
}

// Were what is in its lane due again, a lane that drains slowly would fill with copies.
func TestWhatIsInItsLaneIsNotFedAgain(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		waiting(t, set, "shop", 10)
		if got := feed(t, s, start().Add(time.Minute), 100); got["shop"] != 10 {
			t.Fatalf("fed %v", got)
		}
		if got := feed(t, s, start().Add(2*time.Hour), 100); len(got) != 0 {
			t.Errorf("fed again: %v", got)
		}
	})
}

// Were the time of what waits renewed, or only what is in the lane looked at, a backlog would look young.
func TestTheOldestThatWaitsTellsTheAgeOfABacklog(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		waiting(t, set, "shop", 100)
		now := start().Add(10 * time.Minute)
		feed(t, s, now, 30)
		for _, count := range []func(context.Context, time.Time) (map[tidings.Lane]store.LaneStats, error){s.LaneStats, s.LaneHeads} {
			stats, err := count(t.Context(), now.Add(time.Hour))
			if want := start().Add(30 * time.Second); err != nil || !stats[bulk].Oldest.Equal(want) {
				t.Errorf("the oldest is of %v, want %v, %v", stats[bulk].Oldest, want, err)
			}
		}
	})
}

// Were all lanes fed by one scan, what waits for a lane that stands still would be in the way of the others.
func TestALaneThatStandsStillIsInNoOthersWay(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, set store.Settings) {
		waiting(t, set, "blast", 2000)
		storetest.Backlog{Lane: "sms.priority", App: "bank", Event: "login.code", N: 1, Due: start().Add(time.Hour), Expires: start().Add(2 * time.Hour)}.Put(t, set)
		if ids, err := s.Due(t.Context(), "sms.priority", start().Add(time.Hour), 1); err != nil || len(ids) != 1 {
			t.Errorf("fed %d, %v", len(ids), err)
		}
	})
}
