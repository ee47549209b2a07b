package intake_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"tidings"
	"tidings/internal/admission"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// eachBound runs test with a rig whose lanes take so many, on every engine.
func eachBound(t *testing.T, limits map[tidings.Lane]int, test func(t *testing.T, r *rig)) {
	t.Helper()
	bounds := map[tidings.Lane]admission.Bound{}
	for lane, limit := range limits {
		bounds[lane] = admission.Bound{Limit: limit, MaxWait: time.Minute, Short: 1000}
	}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newBoundRig(t, s, bounds)
		r.Door.Close() // a count takes what is committed beside it for more than it is, until the next
		test(t, r)
	})
}

// withDevice gives a user a device, so that order.shipped goes to two lanes.
func (r *rig) withDevice(t *testing.T, user string) {
	t.Helper()
	_, _, err := r.store.RegisterAddress(t.Context(), tidings.Address{UserID: user, Channel: tidings.Push, Provider: "apns", Value: "a" + user}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
}

// refused posts an event that must be refused with a code.
func (r *rig) refused(t *testing.T, e intake.Event, code string) *intake.Refusal {
	t.Helper()
	res := r.post(t, e)
	if res.Refusal == nil || res.Refusal.Code != code {
		t.Fatalf("Post = %+v, refusal %v; want %s", res, res.Refusal, code)
	}
	return res.Refusal
}

func TestAFullLaneRefusesBeforeAnythingIsWritten(t *testing.T) {
	eachBound(t, map[tidings.Lane]int{"email.bulk": 3}, func(t *testing.T, r *rig) {
		first := r.accept(t, shipped("u_1", "k"))
		r.accept(t, shipped("u_2", ""))
		r.accept(t, shipped("u_3", ""))
		refusal := r.refused(t, shipped("u_4", "k4"), "lane_full")
		if refusal.After < time.Second || refusal.After%time.Second != 0 {
			t.Errorf("to be tried again after %v", refusal.After)
		}
		if n := r.notifications(t); n != 3 {
			t.Errorf("%d notifications, want 3", n)
		}
		if facts, _, err := r.store.Facts(t.Context(), []string{"u_4"}); err != nil || !facts["u_4"].User.CreatedAt.IsZero() {
			t.Errorf("the user of the refused event was made: %+v, %v", facts["u_4"], err)
		}
		if again := r.post(t, shipped("u_1", "k")); !again.Duplicate || again.ID != first.ID {
			t.Errorf("a repeat = %+v, want the first", again)
		}
		dry := shipped("u_5", "")
		dry.DryRun = true
		if res := r.post(t, dry); res.Refusal != nil || len(res.Decisions) == 0 {
			t.Errorf("a dry run = %+v", res)
		}
		later := shipped("u_6", "")
		later.SendAt = time.Now().Add(time.Hour)
		r.accept(t, later) // it wants nothing of the lane now
		if n := r.counted(t, "tidings_events_total", "refused"); n != 1 {
			t.Errorf("%v events counted as refused, want 1", n)
		}
	})
}

func TestAFullBulkLaneRefusesNoOtherLane(t *testing.T) {
	eachBound(t, map[tidings.Lane]int{"email.bulk": 1, "push.bulk": 10, "sms.priority": 10}, func(t *testing.T, r *rig) {
		r.withDevice(t, "u_2")
		r.accept(t, shipped("u_1", ""))
		r.refused(t, shipped("u_2", ""), "lane_full") // push has room, but a yes would promise the mail as well
		r.accept(t, loginCode("u_3"))
		pushOnly := shipped("u_2", "")
		pushOnly.Channels = []tidings.Channel{tidings.Push}
		r.accept(t, pushOnly)
		r.optOut(t, "u_2", tidings.Email)
		r.accept(t, shipped("u_2", "")) // nothing of it goes to the full lane
	})
}

func TestInABatchEachEventStandsForItself(t *testing.T) {
	eachBound(t, map[tidings.Lane]int{"email.bulk": 2}, func(t *testing.T, r *rig) {
		events := []intake.Event{shipped("u_1", ""), loginCode("u_2"), shipped("u_3", "k"), shipped("u_4", "late"), loginCode("u_5"), shipped("u_3", "k"), shipped("u_4", "late")}
		results, err := r.PostBatch(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"", "", "", "lane_full", "", "", "lane_full"} {
			code := ""
			if refusal := results[i].Refusal; refusal != nil {
				code = refusal.Code
			}
			if code != want || want == "" && results[i].ID.IsZero() {
				t.Errorf("event %d = %+v, refusal %q, want %q", i, results[i], code, want)
			}
		}
		if !results[5].Duplicate {
			t.Error("the repeat within the batch is not a duplicate")
		}
	})
}

func TestMarketingIsRefusedFirstAndCriticalWorkLast(t *testing.T) {
	offer := func(user string) intake.Event {
		email := user + "@example.test"
		return hashed(intake.Event{App: "shop", Type: "offer.weekly", User: intake.UserPatch{ID: user, Email: &email}, Data: json.RawMessage(`{}`)})
	}
	eachBound(t, map[tidings.Lane]int{"email.bulk": 10, "sms.priority": 10}, func(t *testing.T, r *rig) {
		for i := range 8 {
			r.accept(t, offer(fmt.Sprint("u_", i)))
		}
		r.refused(t, offer("u_8"), "lane_full")
		r.accept(t, shipped("u_8", ""))
		r.accept(t, shipped("u_9", ""))
		r.refused(t, shipped("u_10", ""), "lane_full")
		for i := range 11 {
			r.accept(t, loginCode(fmt.Sprint("u_", i)))
		}
		r.refused(t, loginCode("u_11"), "lane_full")
	})
}

func TestAnAppThatFloodsALaneHarmsNobodyElse(t *testing.T) {
	of := func(app, user string) intake.Event {
		e := shipped(user, "")
		e.App = app
		return e
	}
	eachBound(t, map[tidings.Lane]int{"email.bulk": 20}, func(t *testing.T, r *rig) {
		r.accept(t, of("bank", "u_0"))
		for i := range 10 {
			r.accept(t, of("shop", fmt.Sprint("u_", i)))
		}
		r.refused(t, of("shop", "u_10"), "quota_exceeded")
		for i := range 9 {
			r.accept(t, of("bank", fmt.Sprint("u_", i)))
		}
		r.refused(t, of("bank", "u_10"), "quota_exceeded")
		r.accept(t, of("post", "u_0")) // the lane is full, but not by this one
	})
}

func TestAnAppWithItsShareOfTheLaneWaitsInTheLog(t *testing.T) {
	bounds := map[tidings.Lane]admission.Bound{"email.bulk": {Limit: 1000, Short: 10}}
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newBoundRig(t, s, bounds)
		statuses := func(app string, n int) map[tidings.Status]int {
			count := map[tidings.Status]int{}
			for i := range n {
				e := shipped(fmt.Sprint("u_", i), "")
				e.App = app
				count[r.trail(t, r.accept(t, e).ID).Deliveries[0].Status]++
			}
			return count
		}
		if got := statuses("bank", 1); got[tidings.Queued] != 1 {
			t.Errorf("the first: %v", got)
		}
		if got := statuses("shop", 8); got[tidings.Queued] != 5 || got[tidings.Parked] != 3 {
			t.Errorf("a flood: %v, want five queued and three parked", got)
		}
		if got := statuses("bank", 2); got[tidings.Queued] != 2 {
			t.Errorf("beside the flood: %v, want all queued", got)
		}
	})
}

// A quota is on posts; only a full lane is nothing to an event that does not go there yet.
func TestAHeldEventPassesAFullLaneAndTakesOfTheQuota(t *testing.T) {
	eachBound(t, map[tidings.Lane]int{"email.bulk": 1}, func(t *testing.T, r *rig) {
		left := 2
		r.quota = func(string, time.Time) time.Duration {
			if left == 0 {
				return time.Second
			}
			left--
			return 0
		}
		r.Intake, _ = r.another(t)
		later := func(user, key string) intake.Event {
			e := shipped(user, key)
			e.SendAt = time.Now().Add(time.Hour)
			return e
		}
		r.accept(t, shipped("u_1", "")) // fills the lane
		res := r.accept(t, later("u_2", "k"))
		if res.Status != tidings.NotificationHeld {
			t.Errorf("held beside a full lane: %+v", res)
		}
		if refusal := r.refused(t, later("u_3", ""), "quota_exceeded"); refusal.After != time.Second {
			t.Errorf("a held event above the quota waits %v", refusal.After)
		}
		if again := r.post(t, later("u_2", "k")); !again.Duplicate && again.Refusal != nil {
			t.Errorf("a repeat took of the quota: %+v", again.Refusal)
		}
	})
}
