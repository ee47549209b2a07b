package intake_test

import (
	"sync"
	"testing"
	"time"

	"tidings"
)

// held accepts an event that is sent later and gives its holds, due at the time given.
func held(t *testing.T, r *rig, user string, until time.Time) (tidings.NotificationID, []tidings.Hold, []tidings.Notification) {
	t.Helper()
	e := shipped(user, "")
	e.SendAt = until
	res := r.accept(t, e)
	if res.Status != tidings.NotificationHeld || describe(res.Decisions) != "push:suppress:0:no_address email:hold:0:scheduled " {
		t.Fatalf("Post = %+v, want it held", res)
	}
	holds, of, err := r.store.DueHolds(t.Context(), until, 10)
	if err != nil || len(holds) != 1 || len(of) != 1 || holds[0].Notification != res.ID || of[0].ID != res.ID {
		t.Fatalf("due holds = %+v of %+v, %v; want the one of %s", holds, of, err, res.ID)
	}
	return res.ID, holds, of
}

func TestAHoldIsReleasedOnceByManyReleasers(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		until := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		id, holds, of := held(t, r, "u_1", until)
		second, _ := r.another(t)
		var releasers sync.WaitGroup
		for i := range 8 {
			releasers.Go(func() {
				in := r.Intake
				if i%2 == 1 {
					in = second
				}
				if err := in.Release(t.Context(), holds, of, until); err != nil {
					t.Errorf("Release = %v", err)
				}
			})
		}
		releasers.Wait()
		trail := r.trail(t, id)
		if len(trail.Deliveries) != 1 || trail.Deliveries[0].Status != tidings.Queued {
			t.Errorf("deliveries = %+v, want one queued", trail.Deliveries)
		}
		if len(trail.Holds) != 1 || trail.Holds[0].State != tidings.HoldReleased {
			t.Errorf("holds = %+v, want one released", trail.Holds)
		}
		var before []tidings.Decision // that the trail still tells of
		for _, m := range trail.Timeline {
			if d, ok := m.Decision(); ok {
				before = append(before, d)
			}
		}
		if len(before) != 1 || before[0].Channel != tidings.Email || before[0].Reason != tidings.ReasonScheduled || !before[0].Until.Equal(until) {
			t.Errorf("decided before: %+v, want the hold", before)
		}
		r.published(t, "email.bulk", 1)
	})
}

func TestAHoldIsDecidedByTheFactsOfItsRelease(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(t *testing.T, r *rig)
		at     time.Duration // after the hold's end
		want   tidings.Reason
	}{
		{"the user has opted out meanwhile", func(t *testing.T, r *rig) { r.optOut(t, "u_1", tidings.Email) }, 0, tidings.ReasonOptedOutChannel},
		{"it is too late, whatever the user wants", func(t *testing.T, r *rig) { r.optOut(t, "u_1", tidings.Email) }, 24 * time.Hour, tidings.ReasonExpired},
		{"the address is gone", func(t *testing.T, r *rig) {
			addresses, err := r.store.Addresses(t.Context(), "u_1", tidings.AddressID{}, 100)
			if err == nil {
				err = r.store.RetireAddress(t.Context(), "u_1", addresses[0].ID, time.Now())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 0, tidings.ReasonAddressRetired},
	} {
		t.Run(c.why, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				until := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
				id, holds, of := held(t, r, "u_1", until)
				c.change(t, r)
				if err := r.Release(t.Context(), holds, of, until.Add(c.at)); err != nil {
					t.Fatal(err)
				}
				trail := r.trail(t, id)
				if len(trail.Deliveries) != 0 || trail.Holds[0].State == tidings.HoldWaiting {
					t.Errorf("deliveries %+v, holds %+v; want none and the hold consumed", trail.Deliveries, trail.Holds)
				}
				decisions := trail.Notification.Decisions
				if last := decisions[len(decisions)-1]; last.Action != tidings.ActionSuppress || last.Reason != c.want || last.Channel != tidings.Email {
					t.Errorf("decisions = %q, want the e-mail suppressed: %s", describe(decisions), c.want)
				}
			})
		})
	}
}

func TestACancelledHoldIsNotReleased(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		until := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
		id, holds, of := held(t, r, "u_1", until)
		if _, err := r.store.Cancel(t.Context(), "shop", id, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := r.Release(t.Context(), holds, of, until); err != nil {
			t.Fatal(err)
		}
		trail := r.trail(t, id)
		if len(trail.Deliveries) != 0 || trail.Holds[0].State != tidings.HoldCancelled {
			t.Errorf("deliveries %+v, holds %+v; want none and the hold cancelled", trail.Deliveries, trail.Holds)
		}
	})
}

func TestWhatWouldOutliveItsNotificationIsRefused(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		for ahead, refused := range map[time.Duration]bool{29*24*time.Hour - time.Minute: false, 29*24*time.Hour + time.Minute: true} {
			e := shipped("u_1", "")
			e.SendAt, e.ExpiresIn = time.Now().Add(ahead), 24*time.Hour
			res := r.post(t, hashed(e))
			if (res.Refusal != nil) != refused || refused && res.Refusal.Pointer != "/send_at" {
				t.Errorf("sent in %v and of use for a day: %+v", ahead, res.Refusal)
			}
		}
	})
}
