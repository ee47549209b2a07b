package intake_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"tidings"
	"tidings/internal/faults"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestWhatALaneDoesNotTakeWaitsInTheLog(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		if err := r.lanes.Close(); err != nil {
			t.Fatal(err)
		}
		r.accept(t, shipped("u_1", ""))
		r.accept(t, loginCode("u_2"))
		r.Close()
		for _, lane := range []tidings.Lane{"email.bulk", "sms.priority"} {
			if s := r.stats(t, lane); s.Queued != 0 || s.Due+s.Parked != 1 {
				t.Errorf("%s = %+v, want its delivery parked", lane, s)
			}
		}
	})
}

func TestALaneWithoutRoomIsFedByTheDispatcher(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.lanes.Gauge("email.bulk", 100_000, false) // full
		r.accept(t, shipped("u_1", ""))
		r.lanes.Gauge("email.bulk", 0, true) // paused
		r.accept(t, shipped("u_2", ""))
		r.lanes.Gauge("email.bulk", 99_999, false) // one place is left
		results, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_3", ""), shipped("u_4", "")})
		if err != nil || results[1].Status != tidings.NotificationAccepted {
			t.Fatalf("PostBatch = %+v, %v; want both accepted", results, err)
		}
		r.published(t, "email.bulk", 1)
		if s := r.stats(t, "email.bulk"); s.Queued != 1 || s.Due != 3 {
			t.Errorf("lane = %+v, want one queued and three due", s)
		}
	})
}

func TestAClosedIntakeIsNotReady(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.Close()
		if res, err := r.Post(t.Context(), shipped("u_1", "")); err != nil || res.Refusal == nil || res.Refusal.Code != "not_ready" || res.Refusal.After <= 0 {
			t.Errorf("Post = %+v, %v; want not_ready with a time to come again", res, err)
		}
		res, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_1", ""), shipped("u_2", "")})
		if err != nil || len(res) != 2 || res[1].Refusal == nil || res[1].Refusal.Code != "not_ready" {
			t.Errorf("PostBatch = %+v, %v; want not_ready for each", res, err)
		}
	})
}

// The caller goes away while its events are looked up: others may share their transaction.
func TestACallerWhoGoesAwayStillHasItsEventsTaken(t *testing.T) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			var gone atomic.Pointer[context.CancelFunc]
			life := faults.NewLife(func(c faults.Call) faults.Fate {
				if leave := gone.Load(); leave != nil && c.Seam == faults.Database {
					(*leave)()
				}
				return faults.Fate{}
			}, nil)
			s := settings(t)
			s.Connector = life.Connector
			r := newRig(t, storetest.Open(t, s))
			leaving := func() context.Context {
				ctx, leave := context.WithCancel(t.Context())
				gone.Store(&leave)
				return ctx
			}
			again := func(e intake.Event) {
				t.Helper()
				gone.Store(nil)
				if res, err := r.Post(t.Context(), e); err != nil || !res.Duplicate {
					t.Errorf("posting %q again gives %+v, %v; want the first one", e.DedupeKey, res, err)
				}
			}
			one, two, three := shipped("u_1", "a"), shipped("u_2", "b"), shipped("u_3", "c")
			if _, err := r.Post(leaving(), one); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Post = %v, want its context's end at most", err)
			}
			again(one)
			res, err := r.PostBatch(leaving(), []intake.Event{two, three})
			if err != nil || len(res) != 2 || res[0].Refusal != nil || res[1].Refusal != nil {
				t.Errorf("PostBatch = %+v, %v; want both taken", res, err)
			}
			again(two)
			again(three)
		})
	}
}

func TestAnEventThatCannotBeStoredIsAnError(t *testing.T) {
	for name, settings := range map[string]func(testing.TB) store.Settings{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) {
			var d storetest.Disk
			s := settings(t)
			s.Connector = d.Under
			r := newRig(t, storetest.Open(t, s))
			d.Break(true)
			if res, err := r.Post(t.Context(), shipped("u_1", "")); !errors.Is(err, storetest.ErrBroken) {
				t.Errorf("Post = %+v, %v; want %v", res, err, storetest.ErrBroken)
			}
			if res, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_1", "k")}); !errors.Is(err, storetest.ErrBroken) {
				t.Errorf("PostBatch = %+v, %v; want %v", res, err, storetest.ErrBroken)
			}
			if got := r.counted(t, "tidings_events_total", "failed"); got != 2 {
				t.Errorf("failed events counted %v, want 2", got)
			}
			d.Break(false)
			r.accept(t, shipped("u_1", "k")) // nothing was remembered
		})
	}
}
