package intake_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// limited is a catalogue with every kind of limit.
var limited = map[string]string{
	"catalog.yaml": `
caps: {per_user: 8/24h}
categories:
  security: {kind: critical}
  news: {kind: transactional, caps: {per_user: 5/24h}}
  later: {kind: transactional, caps: {per_user: 2/1h, over: hold}}
  rest: {kind: transactional}
events:
  login.code: {category: security, channels: [email]}
  news.item: {category: news, channels: [push, email]}
  later.item: {category: later, channels: [email]}
  rest.item: {category: rest, channels: [email]}
  rest.rare: {category: rest, channels: [email], cooldown: 1h}
`,
	"templates/login.code/email.en.yaml": "subject: Code\n", "templates/login.code/email.en.txt": "Code",
	"templates/news.item/email.en.yaml": "subject: News\n", "templates/news.item/email.en.txt": "News",
	"templates/news.item/push.en.yaml":   "title: News\nbody: News\n",
	"templates/later.item/email.en.yaml": "subject: Later\n", "templates/later.item/email.en.txt": "Later",
	"templates/rest.item/email.en.yaml": "subject: Rest\n", "templates/rest.item/email.en.txt": "Rest",
	"templates/rest.rare/email.en.yaml": "subject: Rare\n", "templates/rest.rare/email.en.txt": "Rare",
}

// eachLimited runs test with a rig of the limited catalogue on every engine.
func eachLimited(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		r := newRig(t, s)
		r.files = limited
		r.Intake, r.metrics = r.another(t)
		test(t, r)
	})
}

func typed(user, event string) intake.Event {
	e := shipped(user, "")
	e.Type, e.Data = event, json.RawMessage(`{}`)
	return hashed(e)
}

// sends reports whether a result says that something goes out now.
func sends(decisions []tidings.Decision) bool {
	return slices.ContainsFunc(decisions, func(d tidings.Decision) bool { return d.Action == tidings.ActionSend })
}

// agree fails when the trail is not as the result says.
func (r *rig) agree(t *testing.T, res intake.Result) {
	t.Helper()
	trail := r.trail(t, res.ID)
	if told, kept := describe(res.Decisions), describe(trail.Notification.Decisions); told != kept {
		t.Errorf("%s was answered, %s is in the log", told, kept)
	}
	if sends(res.Decisions) != (len(trail.Deliveries) > 0) {
		t.Errorf("decisions %s gave deliveries %+v", describe(res.Decisions), trail.Deliveries)
	}
}

func TestHoweverManyPostAtOnceNobodyIsToldMoreThanTheLimit(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		const posts = 120
		var mu sync.Mutex
		var results []intake.Result // guarded by mu
		var callers sync.WaitGroup
		for i := range posts {
			callers.Go(func() {
				in := []*intake.Intake{r.Intake, second}[i%2]
				events := []intake.Event{typed(fmt.Sprintf("u_%d", i%3), "news.item")}
				if i%5 == 0 { // a batch for all of them
					events = append(events, typed("u_0", "news.item"), typed("u_1", "news.item"), typed("u_1", "rest.item"))
				}
				got, err := make([]intake.Result, 1), error(nil)
				if len(events) == 1 {
					got[0], err = in.Post(t.Context(), events[0])
				} else {
					got, err = in.PostBatch(t.Context(), events)
				}
				if err != nil {
					t.Errorf("post %d: %v", i, err)
				}
				mu.Lock()
				results = append(results, got...)
				mu.Unlock()
			})
		}
		callers.Wait()
		told := map[string]int{}
		for _, res := range results {
			r.agree(t, res)
			if n := r.trail(t, res.ID).Notification; sends(n.Decisions) {
				told[n.UserID+" "+n.Category]++
				told[n.UserID]++
			} else if last := n.Decisions[len(n.Decisions)-1]; last.Reason != tidings.ReasonRateLimitedCategory && last.Reason != tidings.ReasonRateLimitedUser {
				t.Errorf("not told of %s: %s", n.Type, describe(n.Decisions))
			}
		}
		for _, user := range []string{"u_0", "u_1", "u_2"} {
			if told[user+" news"] > 5 || told[user] > 8 || told[user] < 5 {
				t.Errorf("%s was told %v", user, told)
			}
		}
		if told["u_0 news"] != 5 || told["u_2 news"] != 5 || told["u_1"] != 8 && told["u_1 news"] != 5 {
			t.Errorf("told %v, want as much as the limits let through", told)
		}
	})
}

func TestEventsOfOneRoundAreCountedInTheirOrder(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		var events []intake.Event
		for i := range 10 {
			events = append(events, typed("u_1", "news.item"), typed("u_1", []string{"rest.rare", "login.code"}[i%2]))
		}
		results, err := r.PostBatch(t.Context(), events)
		if err != nil {
			t.Fatal(err)
		}
		var told []int
		for i, res := range results {
			r.agree(t, res)
			if sends(res.Decisions) {
				told = append(told, i)
			}
		}
		// Five of the news, one of what is rare, and all that is critical.
		if want := []int{0, 1, 2, 3, 4, 6, 7, 8, 11, 15, 19}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

func TestWhatIsOverALimitThatHoldsGoesWhenThereIsRoom(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		var until time.Time
		for i := range 5 {
			res := r.accept(t, typed("u_1", "later.item"))
			r.agree(t, res)
			switch d := res.Decisions[0]; {
			case i < 2 && d.Action != tidings.ActionSend:
				t.Errorf("post %d: %s", i, describe(res.Decisions))
			case i >= 2 && (d.Action != tidings.ActionHold || d.Reason != tidings.ReasonRateLimitedCategory || d.Until.Before(d.At.Add(time.Hour-time.Minute))):
				t.Errorf("post %d: %+v", i, d)
			}
			until = res.Decisions[0].Until
		}
		second, _ := r.another(t)
		holds, of, err := r.store.DueHolds(t.Context(), until, 10)
		if err != nil || len(holds) != 3 {
			t.Fatalf("%d holds are due, %v", len(holds), err)
		}
		now := until.Add(time.Minute) // both of the first hour are forgotten
		var releasers sync.WaitGroup
		for i := range 6 {
			releasers.Go(func() {
				if err := []*intake.Intake{r.Intake, second}[i%2].Release(t.Context(), holds[i/2:i/2+1], of[i/2:i/2+1], now); err != nil {
					t.Error(err)
				}
			})
		}
		releasers.Wait()
		sent := 0
		for _, n := range of {
			trail := r.trail(t, n.ID)
			sent += len(trail.Deliveries)
			if waits := slices.ContainsFunc(trail.Holds, func(h tidings.Hold) bool { return h.State == tidings.HoldWaiting }); waits == (len(trail.Deliveries) > 0) {
				t.Errorf("deliveries %+v, holds %+v", trail.Deliveries, trail.Holds)
			}
		}
		if sent != 2 {
			t.Errorf("%d were sent, want 2", sent)
		}
	})
}

func TestLimitsCountWhatPeopleWereToldOnce(t *testing.T) {
	for _, c := range []struct {
		why    string
		before func(t *testing.T, r *rig, i int) // five times
		sent   bool                              // then one more is
	}{
		{"each of them", func(t *testing.T, r *rig, _ int) { r.accept(t, typed("u_1", "news.item")) }, false},
		{"not what a test key posts", func(t *testing.T, r *rig, _ int) {
			e := typed("u_1", "news.item")
			e.Test = true
			r.accept(t, e)
		}, true},
		{"not what is critical", func(t *testing.T, r *rig, _ int) { r.accept(t, typed("u_1", "login.code")) }, true},
		{"not a dry run", func(t *testing.T, r *rig, _ int) {
			e := typed("u_1", "news.item")
			e.DryRun = true
			r.post(t, e)
		}, true},
		{"not what others are told", func(t *testing.T, r *rig, _ int) { r.accept(t, typed("u_2", "news.item")) }, true},
		{"not what is scheduled", func(t *testing.T, r *rig, _ int) {
			e := typed("u_1", "news.item")
			e.SendAt = time.Now().Add(time.Hour)
			r.accept(t, e)
		}, true},
		{"not what was called off in time", func(t *testing.T, r *rig, _ int) {
			if _, err := r.store.Cancel(t.Context(), "shop", r.accept(t, typed("u_1", "news.item")).ID, time.Now()); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"not what ended before it was sent", func(t *testing.T, r *rig, _ int) {
			e := typed("u_1", "news.item")
			e.ExpiresIn = time.Second
			r.accept(t, e)
			if _, err := r.store.Expire(t.Context(), time.Now().Add(time.Minute), 100); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"not what the user refused at the last moment", func(t *testing.T, r *rig, _ int) {
			id := tidings.DeliveryOf(r.accept(t, typed("u_1", "news.item")).ID, 0)
			_, err := r.store.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "email.bulk", IDs: []tidings.DeliveryID{id}, Now: time.Now(), Lease: time.Minute,
				Check: func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
					return tidings.Suppressed, tidings.ReasonOptedOutAll, time.Time{}
				}})
			if err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			eachLimited(t, func(t *testing.T, r *rig) {
				for i := range 5 {
					c.before(t, r, i)
				}
				dry := typed("u_1", "news.item")
				dry.DryRun = true
				for _, e := range []intake.Event{dry, typed("u_1", "news.item")} {
					if res := r.post(t, e); res.Refusal != nil || sends(res.Decisions) != c.sent {
						t.Errorf("dry run %v: %s, refusal %v", e.DryRun, describe(res.Decisions), res.Refusal)
					}
				}
			})
		})
	}
}

func TestASecondChannelThatIsReleasedLaterCountsNothing(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		e := typed("u_1", "news.item")
		e.SendAt = time.Now().Add(time.Hour).UTC()
		_, _, err := r.store.RegisterAddress(t.Context(), tidings.Address{UserID: "u_1", Channel: tidings.Push, Provider: "apns", Value: "token"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		id := r.accept(t, e).ID
		holds, of, err := r.store.DueHolds(t.Context(), e.SendAt, 10)
		if err != nil || len(holds) != 2 {
			t.Fatalf("holds %+v, %v", holds, err)
		}
		if err := r.Release(t.Context(), holds, of, e.SendAt); err != nil {
			t.Fatal(err)
		}
		if trail := r.trail(t, id); len(trail.Deliveries) != 2 {
			t.Errorf("deliveries %+v, want one of each channel", trail.Deliveries)
		}
		told, err := r.store.Told(t.Context(), []store.CounterKey{{User: "u_1", Scope: "category:news"}})
		if n := len(slices.Concat(slices.Collect(maps.Values(told))...)); err != nil || n != 1 {
			t.Errorf("counted %d times, %v", n, err)
		}
	})
}

func TestIdleCountersAreForgotten(t *testing.T) {
	eachLimited(t, func(t *testing.T, r *rig) {
		r.accept(t, typed("u_1", "news.item"))
		key := store.CounterKey{User: "u_1", Scope: "user"}
		if told := r.toldAfter(t, key, time.Hour); len(told) != 1 {
			t.Errorf("%d are counted after an hour, want 1", len(told))
		}
		if told := r.toldAfter(t, key, 25*time.Hour); len(told) != 0 {
			t.Errorf("%d are counted after a day", len(told))
		}
	})
}

// toldAfter sweeps at a later time and reads a counter.
func (r *rig) toldAfter(t *testing.T, key store.CounterKey, after time.Duration) []time.Time {
	t.Helper()
	if _, err := r.store.Expire(t.Context(), time.Now().Add(after), 100); err != nil {
		t.Fatal(err)
	}
	told, err := r.store.Told(t.Context(), []store.CounterKey{key})
	if err != nil {
		t.Fatal(err)
	}
	return told[key]
}
