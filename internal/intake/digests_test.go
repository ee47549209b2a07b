package intake_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
	"tidings/internal/store"
	"tidings/preferences"
)

// gathering is a catalogue with a digest of small size.
var gathering = map[string]string{
	"catalog.yaml": `
categories:
  social: {kind: transactional, caps: {per_user: 2/24h}}
events:
  comment.created: {category: social, channels: [push, email], thread: post, digest: {key: post, window: 10m, max: 40, channels: [email]}}
`,
	"templates/comment.created/push.en.yaml":  "title: A comment\nbody: \"{{.data.text}}\"\n",
	"templates/comment.created/email.en.yaml": "subject: \"{{.digest.count}} comments\"\n",
	"templates/comment.created/email.en.txt":  "{{range .digest.items}}{{.data.text}};{{end}}",
}

func eachGathering(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	each(t, func(t *testing.T, r *rig) {
		r.files = gathering
		r.Intake, r.metrics = r.another(t)
		test(t, r)
	})
}

func comment(user, post string, n int) intake.Event {
	e := shipped(user, fmt.Sprintf("%s-%s-%d", user, post, n))
	e.Type, e.Data = "comment.created", json.RawMessage(fmt.Sprintf(`{"post":%q,"text":"t%d"}`, post, n))
	return hashed(e)
}

// flush flushes what is due by then, with several processes at once.
func (r *rig) flush(t *testing.T, now time.Time, processes ...*intake.Intake) {
	t.Helper()
	var wg sync.WaitGroup
	for _, in := range append(processes, r.Intake) {
		wg.Go(func() {
			for more := true; more; {
				var err error
				if more, err = in.FlushDigests(t.Context(), now); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// digests are the notifications of the log that tell of others.
func (r *rig) digests(t *testing.T) (found []*store.Trail) {
	t.Helper()
	list, _, err := r.store.List(t.Context(), store.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var ids []tidings.NotificationID
	for _, l := range list {
		ids = append(ids, l.Notification.ID)
	}
	together, err := r.store.Trails(t.Context(), "", ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		trail := r.trail(t, id)
		if !reflect.DeepEqual(trail, together[i]) {
			t.Errorf("read with others the trail is\n%+v\nalone\n%+v", together[i], trail)
		}
		if len(trail.Parts) > 0 {
			found = append(found, trail)
		}
	}
	return found
}

func TestEachItemOfManyPostedAtOnceIsInOneDigest(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		second, _ := r.another(t)
		const posts = 150
		ids := make([]tidings.NotificationID, posts)
		stop := make(chan struct{})
		var flushers, callers sync.WaitGroup
		for _, in := range []*intake.Intake{r.Intake, second} {
			flushers.Go(func() { // what is full is flushed while others come in
				for {
					if _, err := in.FlushDigests(t.Context(), time.Now()); err != nil {
						t.Error(err)
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		for range 2 { // two processes close digests and are killed before they flush them
			flushers.Go(func() {
				for range 20 {
					if _, err := r.store.CloseDigests(t.Context(), time.Now(), 5); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for i := range posts {
			callers.Go(func() {
				res, err := []*intake.Intake{r.Intake, second}[i%2].Post(t.Context(), comment("u_1", fmt.Sprint("post-", i%3), i))
				if err != nil || res.Refusal != nil || res.Decisions[1].Reason != tidings.ReasonDigested || res.Status != tidings.NotificationHeld {
					t.Errorf("post %d: %+v, %v, %v", i, res, res.Refusal, err)
				}
				ids[i] = res.ID
			})
		}
		callers.Wait()
		close(stop)
		flushers.Wait()
		r.flush(t, time.Now().Add(time.Hour), second)
		in := map[tidings.NotificationID]int{}
		for _, d := range r.digests(t) {
			items, err := tidings.ItemsOf(d.Notification.Data)
			if err != nil || len(items) != len(d.Parts) || len(items) > 40 {
				t.Errorf("%d items, %d parts, %v", len(items), len(d.Parts), err)
			}
			for i, item := range items {
				in[item.ID]++
				if item.ID != d.Parts[i] {
					t.Errorf("part %d is %s, the data has %s", i, d.Parts[i], item.ID)
				}
			}
		}
		for i, id := range ids {
			trail := r.trail(t, id)
			if in[id] != 1 || trail.Digest().IsZero() || trail.Holds[0].State != tidings.HoldReleased {
				t.Errorf("item %d is in %d digests; its trail says %v, holds %+v", i, in[id], trail.Digest(), trail.Holds)
			}
		}
	})
}

func TestADigestIsOneNotificationOfWhatStillWaits(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		var ids []tidings.NotificationID
		var until time.Time
		for i := range 4 {
			res := r.accept(t, comment("u_1", "bread", i))
			if until.IsZero() {
				until = res.Decisions[1].Until
			}
			if !res.Decisions[1].Until.Equal(until) {
				t.Errorf("item %d waits until %v, the digest closes at %v", i, res.Decisions[1].Until, until)
			}
			ids = append(ids, res.ID)
		}
		if _, err := r.store.Cancel(t.Context(), "shop", ids[1], time.Now()); err != nil {
			t.Fatal(err)
		}
		r.flush(t, until.Add(-time.Second))
		if d := r.digests(t); len(d) != 0 {
			t.Fatalf("%d digests before they close", len(d))
		}
		r.flush(t, until)
		found := r.digests(t)
		if len(found) != 1 || !slices.Equal(found[0].Parts, []tidings.NotificationID{ids[0], ids[2], ids[3]}) || len(found[0].Deliveries) != 1 {
			t.Fatalf("digests %+v", found)
		}
		standings, err := r.store.Standings(t.Context(), ids, time.Now())
		if err != nil || standings[ids[0]].Status != tidings.NotificationAccepted || standings[ids[1]].Status != tidings.NotificationCancelled {
			t.Errorf("the items stand as %+v, %v", standings, err)
		}
		if trail := r.trail(t, ids[1]); !trail.Digest().IsZero() {
			t.Error("what was called off is part of a digest")
		}
		list, _, err := r.store.List(t.Context(), store.Filter{Limit: 10, Status: tidings.NotificationAccepted})
		if err != nil || len(list) != 4 { // the digest and its three items
			t.Errorf("%d are on their way, %v", len(list), err)
		}
	})
}

func TestADigestIsDecidedByTheFactsOfItsClose(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(t *testing.T, r *rig)
		digest tidings.Decision
		parts  int
	}{
		{"the user has opted out", func(t *testing.T, r *rig) { r.optOut(t, "u_1", tidings.Email) },
			tidings.Decision{Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutChannel}, 3},
		{"the user has muted the thread", func(t *testing.T, r *rig) {
			r.wish(t, func(p *preferences.Preferences) {
				p.Threads = map[string]map[string]bool{"social": {"bread": false}}
			})
		}, tidings.Decision{Action: tidings.ActionSuppress, Reason: tidings.ReasonOptedOutCategory}, 3},
	} {
		t.Run(c.why, func(t *testing.T) {
			eachGathering(t, func(t *testing.T, r *rig) {
				var ids []tidings.NotificationID
				for i := range 3 {
					ids = append(ids, r.accept(t, comment("u_1", "bread", i)).ID)
				}
				c.change(t, r)
				r.flush(t, time.Now().Add(time.Hour))
				trail := r.trail(t, ids[0])
				digest := r.trail(t, trail.Digest())
				d := digest.Notification.Decisions[0]
				if d.Action != c.digest.Action || d.Reason != c.digest.Reason || len(digest.Parts) != c.parts {
					t.Errorf("the digest of %d: %s", len(digest.Parts), describe(digest.Notification.Decisions))
				}
				for _, id := range ids {
					item := r.trail(t, id).Notification.Decisions[1]
					if c.digest.Action == tidings.ActionSuppress && (item.Action != tidings.ActionSuppress || item.Reason != c.digest.Reason) {
						t.Errorf("an item: %+v, want it to say why", item)
					}
				}
			})
		})
	}
}

func TestDigestsCountUnderLimitsAsOneEach(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		for i := range 12 {
			r.accept(t, comment("u_1", fmt.Sprint("post-", i%4), i))
		}
		r.flush(t, time.Now().Add(time.Hour))
		sent, dropped := 0, 0
		for _, d := range r.digests(t) {
			switch last := d.Notification.Decisions[0]; {
			case last.Action == tidings.ActionSend:
				sent++
			case last.Reason == tidings.ReasonRateLimitedCategory && len(d.Deliveries) == 0:
				dropped++
				if item := r.trail(t, d.Parts[0]).Notification.Decisions[1]; item.Reason != tidings.ReasonRateLimitedCategory {
					t.Errorf("an item of a digest over the limit: %+v", item)
				}
			}
		}
		if sent != 2 || dropped != 2 {
			t.Errorf("%d digests were sent and %d dropped, want 2 and 2", sent, dropped)
		}
	})
}

func TestWhatIsScheduledJoinsADigestWhenItsTimeComes(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		e := comment("u_1", "bread", 1)
		e.SendAt = time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		id := r.accept(t, hashed(e)).ID
		holds, of, err := r.store.DueHolds(t.Context(), e.SendAt, 10)
		if err == nil {
			err = r.Release(t.Context(), holds, of, e.SendAt)
		}
		if err != nil {
			t.Fatal(err)
		}
		trail := r.trail(t, id)
		if d := trail.Notification.Decisions[1]; d.Reason != tidings.ReasonDigested || !d.Until.Equal(e.SendAt.Add(10*time.Minute)) {
			t.Errorf("decided %+v", d)
		}
		r.flush(t, e.SendAt.Add(10*time.Minute))
		if trail = r.trail(t, id); trail.Digest().IsZero() {
			t.Errorf("it is in no digest: %+v", trail.Holds)
		}
	})
}

// wish changes what u_1 wants.
func (r *rig) wish(t *testing.T, change func(p *preferences.Preferences)) {
	t.Helper()
	_, _, err := r.store.ChangePreferences(t.Context(), "u_1", -1, time.Now(), func(p *preferences.Preferences, _ *tidings.User) ([]preferences.Entry, error) {
		change(p)
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Nobody was there to close it in time.
func TestADigestExpiresWithTheLastOfItsEvents(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		var ids []tidings.NotificationID
		now := time.Now()
		for i, in := range []time.Duration{20 * time.Minute, 30 * time.Minute} {
			e := comment("u_1", "bread", i)
			e.ExpiresIn = in
			ids = append(ids, r.accept(t, hashed(e)).ID)
			e = comment("u_1", "cake", i)
			e.ExpiresIn = in + time.Hour*time.Duration(i)
			ids = append(ids, r.accept(t, hashed(e)).ID)
		}
		r.flush(t, now.Add(time.Hour))
		found := map[bool]*store.Trail{}
		for _, d := range r.digests(t) {
			found[len(d.Deliveries) > 0] = d
		}
		late, sent := found[false], found[true]
		if len(found) != 2 || len(late.Parts) != 2 || late.Notification.Decisions[0].Reason != tidings.ReasonExpired {
			t.Fatalf("digests %+v", found)
		}
		if item := r.trail(t, ids[0]).Notification.Decisions[1]; item.Reason != tidings.ReasonExpired {
			t.Errorf("a late event: %+v", item)
		}
		if last := r.trail(t, ids[3]).Notification.ExpiresAt; len(sent.Parts) != 1 || !sent.Notification.ExpiresAt.Equal(last) {
			t.Errorf("the digest expires at %v, its one event at %v", sent.Notification.ExpiresAt, last)
		}
	})
}

func TestAnEventJoinsADigestThatClosesBeforeItExpires(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		first := r.accept(t, comment("u_1", "bread", 0))
		closes := first.Decisions[1].Until
		e := comment("u_1", "bread", 1) // of use until a moment after that, though not for a whole window
		e.ExpiresIn = closes.Sub(r.trail(t, first.ID).Notification.AcceptedAt) - time.Microsecond
		if d := r.accept(t, hashed(e)).Decisions[1]; d.Action != tidings.ActionHold || !d.Until.Equal(closes) {
			t.Fatalf("an event that lives until the digest closes: %+v", d)
		}
		r.flush(t, closes)
		if found := r.digests(t); len(found) != 1 || len(found[0].Parts) != 2 || len(found[0].Deliveries) == 0 {
			t.Errorf("digests %+v", found)
		}
	})
}
