package intake_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// damaging gives a rig and a way to damage the stored preferences of a user.
func damaging(t *testing.T, test func(t *testing.T, r *rig, damage func(user string))) {
	t.Helper()
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			s := settings(t)
			r := newRig(t, storetest.Open(t, s))
			test(t, r, func(user string) { storetest.Damage(t, s, user) })
		})
	}
}

func TestDamagedPreferencesFailTheEventsOfTheirUserAlone(t *testing.T) {
	damaging(t, func(t *testing.T, r *rig, damage func(user string)) {
		r.accept(t, shipped("u_2", ""))
		damage("u_2")
		results, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_1", ""), shipped("u_2", ""), shipped("u_3", ""), shipped("u_2", "")})
		if err != nil {
			t.Fatal(err)
		}
		for i, res := range results {
			if i%2 == 0 && (res.Refusal != nil || res.ID.IsZero()) {
				t.Errorf("event %d: %+v, refusal %v; want it accepted", i, res, res.Refusal)
			}
			if i%2 == 1 && (res.Refusal == nil || res.Refusal.Code != "internal" || !strings.Contains(res.Refusal.Detail, "preferences") || strings.Contains(res.Refusal.Detail, "{")) {
				t.Errorf("event %d: %+v, refusal %+v; want it refused, and told why", i, res, res.Refusal)
			}
		}
	})
}

func TestDamagedPreferencesKeepTheHoldsOfTheirUserAlone(t *testing.T) {
	damaging(t, func(t *testing.T, r *rig, damage func(user string)) {
		until := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		var ids []tidings.NotificationID
		for _, user := range []string{"u_1", "u_2"} {
			e := shipped(user, "")
			e.SendAt = until
			ids = append(ids, r.accept(t, e).ID)
		}
		damage("u_1")
		holds, of, err := r.store.DueHolds(t.Context(), until, 10)
		if err != nil || len(holds) != 2 {
			t.Fatalf("due holds = %+v, %v", holds, err)
		}
		if err := r.Release(t.Context(), holds, of, until); err == nil || strings.Contains(err.Error(), "{") {
			t.Errorf("Release = %v, want an error without data", err)
		}
		for i, want := range []tidings.HoldState{tidings.HoldWaiting, tidings.HoldReleased} {
			if trail := r.trail(t, ids[i]); trail.Holds[0].State != want || len(trail.Deliveries) != i {
				t.Errorf("hold %d is %s with %d deliveries, want %s", i, trail.Holds[0].State, len(trail.Deliveries), want)
			}
		}
	})
}
