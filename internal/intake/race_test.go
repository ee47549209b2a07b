package intake_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"tidings"
	"tidings/internal/intake"
)

func TestOfManyEqualPostsAtOnceOneIsAccepted(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t) // half of the callers talk to another process
		const posts = 100
		results := make([]intake.Result, posts)
		errs := make([]error, posts)
		var callers sync.WaitGroup
		for i := range posts {
			callers.Go(func() {
				in := r.Intake
				if i%2 == 1 {
					in = second
				}
				results[i], errs[i] = in.Post(t.Context(), shipped("u_1", "order-4711"))
			})
		}
		callers.Wait()
		accepted := 0
		for i, res := range results {
			if errs[i] != nil || res.Refusal != nil || res.ID != results[0].ID || res.Status == "" || len(res.Decisions) != 2 {
				t.Fatalf("post %d = %+v, refusal %v, error %v; want %s and how it stands", i, res, res.Refusal, errs[i], results[0].ID)
			}
			if !res.Duplicate {
				accepted++
			}
		}
		if n := r.notifications(t); accepted != 1 || n != 1 {
			t.Errorf("%d accepted, %d notifications in the log; want one", accepted, n)
		}
		if d := r.trail(t, results[0].ID).Deliveries; len(d) != 1 {
			t.Errorf("%d deliveries, want 1", len(d))
		}
	})
}

func TestOfManyRequestsUnderOneKeyTheFirstWins(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		const posts = 60
		results := make([]intake.Result, posts)
		errs := make([]error, posts)
		var callers sync.WaitGroup
		for i := range posts {
			callers.Go(func() {
				in, user := r.Intake, "u_1"
				if i%2 == 1 {
					in = second
				}
				if i%3 == 0 {
					user = "u_2"
				}
				results[i], errs[i] = in.Post(t.Context(), shipped(user, "k"))
			})
		}
		callers.Wait()
		var winner intake.Result
		winners := 0
		for i, res := range results {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if res.Refusal == nil && !res.Duplicate {
				winner = res
				winners = winners + 1
				_ = i
			}
		}
		if winners != 1 {
			t.Fatalf("%d accepted, want 1", winners)
		}
		user := r.trail(t, winner.ID).Notification.UserID
		for i, res := range results {
			same := (user == "u_2") == (i%3 == 0)
			switch {
			case same && (res.Refusal != nil || res.ID != winner.ID):
				t.Errorf("post %d is the same request: %+v, refusal %v; want %s", i, res, res.Refusal, winner.ID)
			case !same && (res.Refusal == nil || res.Refusal.Code != "dedupe_conflict"):
				t.Errorf("post %d is another request: %+v, want dedupe_conflict", i, res)
			}
		}
	})
}

func TestOfManyEventsAtOnceEachLeavesItsMarkOnTheUser(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		const posts = 60
		var callers sync.WaitGroup
		for i := range posts {
			callers.Go(func() {
				in := r.Intake
				if i%2 == 1 {
					in = second
				}
				e := shipped("u_1", fmt.Sprintf("k-%d", i/2)) // half of them repeat another
				e.User.Attributes = json.RawMessage(fmt.Sprintf(`{"a%d": %d}`, i/2, i/2))
				if i%4 == 0 {
					e.User.Email = nil // and some only add
				}
				if res, err := in.Post(t.Context(), e); err != nil || res.Refusal != nil && res.Refusal.Code != "dedupe_conflict" {
					t.Errorf("post %d: %v, refusal %v", i, err, res.Refusal)
				}
			})
		}
		callers.Wait()
		u, err := r.store.User(t.Context(), "u_1")
		if err != nil {
			t.Fatal(err)
		}
		var attributes map[string]int
		if err := json.Unmarshal(u.Attributes, &attributes); err != nil || len(attributes) != posts/2 {
			t.Errorf("%d attributes are left of %d: %s, %v", len(attributes), posts/2, u.Attributes, err)
		}
	})
}

func TestTwoGroupsThatChangeAnEmailAtOnceLeaveOneAddress(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		r.accept(t, shipped("u_1", "first"))
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				in := []*intake.Intake{r.Intake, second}[i%2]
				email := fmt.Sprintf("u_1-%d@example.test", i)
				e := shipped("u_1", "")
				e.User.Email = &email
				if res, err := in.Post(t.Context(), e); err != nil || res.Refusal != nil {
					t.Errorf("post %d: %v, refusal %v", i, err, res.Refusal)
				}
			})
		}
		callers.Wait()
		facts, _, err := r.store.Facts(t.Context(), []string{"u_1"})
		if err != nil {
			t.Fatal(err)
		}
		var active []string
		for _, a := range facts["u_1"].Addresses {
			if a.Status == tidings.AddressActive {
				active = append(active, a.Value)
			}
		}
		if len(active) != 1 || active[0] != facts["u_1"].User.Email {
			t.Errorf("active are %v, the user's e-mail is %s", active, facts["u_1"].User.Email)
		}
	})
}

func TestKeysOfAppsAndModesDoNotMeet(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.accept(t, shipped("u_1", "k"))
		other := shipped("u_1", "k")
		other.App = "bank"
		r.accept(t, other)
		test := shipped("u_1", "k")
		test.Test = true
		if res := r.accept(t, test); !r.trail(t, res.ID).Notification.Test {
			t.Error("the notification of a test key does not say so")
		}
		again := r.post(t, shipped("u_1", "k"))
		if !again.Duplicate || again.Status != tidings.NotificationAccepted || describe(again.Decisions) != "push:suppress:0:no_address email:send:1: " {
			t.Errorf("the same again = %+v, want a duplicate that says how the first stands", again)
		}
	})
}

func TestAReplayIsAnsweredThoughTheRequestWouldBeRefusedToday(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := r.accept(t, shipped("u_1", "k"))
		gone := shipped("u_1", "k")
		gone.Type = "order.gone" // stands for a type that left the catalogue meanwhile: the hash is the same
		if res := r.post(t, gone); !res.Duplicate || res.ID != first.ID {
			t.Errorf("replay = %+v, want a duplicate of %s", res, first.ID)
		}
	})
}

func TestOfManyPostsAtOnceWithOneCollapseKeyOneIsLeftWaiting(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		r.accept(t, shipped("u_1", "")) // the user and the address
		const posts = 50
		results := make([]intake.Result, posts)
		errs := make([]error, posts)
		var callers sync.WaitGroup
		for i := range posts {
			callers.Go(func() {
				in := r.Intake
				if i%2 == 1 {
					in = second
				}
				e := shipped("u_1", "")
				e.CollapseKey = "order-4711"
				results[i], errs[i] = in.Post(t.Context(), e)
			})
		}
		callers.Wait()
		waiting := 0
		for i, res := range results {
			if errs[i] != nil || res.Refusal != nil {
				t.Fatalf("post %d = %+v, %v", i, res, errs[i])
			}
			if d := r.trail(t, res.ID).Deliveries[0]; d.Status == tidings.Queued {
				waiting++
			} else if d.Status != tidings.Cancelled || d.Reason != tidings.ReasonSuperseded {
				t.Errorf("post %d is %s %s", i, d.Status, d.Reason)
			}
		}
		if waiting != 1 {
			t.Errorf("%d wait, want 1", waiting)
		}
		if n := counted(t, r.ended, "tidings_deliveries_total", "email"); n != posts-1 {
			t.Errorf("%v deliveries counted as cancelled, want %d", n, posts-1)
		}
	})
}
