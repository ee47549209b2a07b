package intake_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// calm gives u_1 quiet hours from now on for so long.
func (r *rig) calm(t *testing.T, span time.Duration) {
	t.Helper()
	now := time.Now().UTC()
	clock := func(at time.Time) preferences.Clock { return preferences.Clock(60*at.Hour() + at.Minute()) }
	r.wish(t, func(p *preferences.Preferences) {
		p.QuietHours = &preferences.Hours{Start: clock(now.Add(-time.Minute)), End: clock(now.Add(span))}
	})
}

// gather posts comments that expire after those spans and closes their digest, whose id it gives.
func (r *rig) gather(t *testing.T, calm time.Duration, expire ...time.Duration) (ids []tidings.NotificationID, digest tidings.NotificationID) {
	t.Helper()
	for i, in := range expire {
		e := comment("u_1", "bread", i)
		e.ExpiresIn = in
		ids = append(ids, r.accept(t, hashed(e)).ID)
	}
	if calm > 0 {
		r.calm(t, calm)
	}
	r.flush(t, time.Now().Add(11*time.Minute))
	found := r.digests(t)
	if len(found) != 1 {
		t.Fatalf("%d digests", len(found))
	}
	return ids, found[0].Notification.ID
}

func (r *rig) releaseAt(t *testing.T, now time.Time) {
	t.Helper()
	holds, of, err := r.store.DueHolds(t.Context(), now, 10)
	if err == nil && len(holds) > 0 {
		err = r.Release(t.Context(), holds, of, now)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// toldOf are the events that a digest tells of, by their data.
func toldOf(t *testing.T, d *store.Trail) (texts []string) {
	t.Helper()
	items, err := tidings.ItemsOf(d.Notification.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		texts = append(texts, strings.Trim(strings.SplitN(string(item.Data), `"text":`, 2)[1], `"}`))
	}
	return texts
}

func TestADigestExpiresWithTheLastOfItsItems(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 0, 20*time.Minute, 30*time.Minute)
		d := r.trail(t, digest)
		if last := r.trail(t, ids[1]).Notification.ExpiresAt; !d.Notification.ExpiresAt.Equal(last) || len(d.Parts) != 2 {
			t.Errorf("the digest of %d expires at %v, its last item at %v", len(d.Parts), d.Notification.ExpiresAt, last)
		}
	})
}

func TestADigestThatWaitedTooLongForAllIsNotSent(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 3*time.Hour, 20*time.Minute)
		r.releaseAt(t, time.Now().Add(5*time.Hour))
		d, item := r.trail(t, digest), r.trail(t, ids[0])
		if len(d.Deliveries) > 0 || d.Notification.Decisions[0].Reason != tidings.ReasonExpired || item.Notification.Decisions[1].Reason != tidings.ReasonExpired {
			t.Errorf("the digest has %d deliveries: %s; its item: %s", len(d.Deliveries), describe(d.Notification.Decisions), describe(item.Notification.Decisions))
		}
	})
}

func TestAHeldDigestLeavesOutWhatHasExpiredAtItsRelease(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 3*time.Hour, 4*time.Hour, 24*time.Hour, 23*time.Hour)
		if d := r.trail(t, digest); len(d.Parts) != 3 || len(d.Deliveries) > 0 {
			t.Fatalf("the digest of %d has %d deliveries", len(d.Parts), len(d.Deliveries))
		}
		r.releaseAt(t, time.Now().Add(5*time.Hour))
		d := r.trail(t, digest)
		if fmt.Sprint(toldOf(t, d)) != "[t1 t2]" || !slices.Equal(d.Parts, ids[1:]) || len(d.Deliveries) != 1 {
			t.Errorf("it tells of %v, its parts are %d, its deliveries %d", toldOf(t, d), len(d.Parts), len(d.Deliveries))
		}
		late := r.trail(t, ids[0])
		if !late.Digest().IsZero() || late.Notification.Decisions[1].Reason != tidings.ReasonExpired || late.Notification.Decisions[1].Action != tidings.ActionSuppress {
			t.Errorf("what has expired is part of %v: %s", late.Digest(), describe(late.Notification.Decisions))
		}
	})
}

func TestAHeldDigestLeavesOutWhatTheUserHasMutedSince(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		r.files = map[string]string{}
		for name, text := range gathering {
			r.files[name] = strings.Replace(text, "key: post, ", "", 1)
		}
		r.Intake, r.metrics = r.another(t)
		var muted tidings.NotificationID
		for i, post := range []string{"cake", "bread"} {
			muted = r.accept(t, comment("u_1", post, i)).ID
		}
		r.calm(t, 3*time.Hour)
		r.flush(t, time.Now().Add(11*time.Minute))
		r.wish(t, func(p *preferences.Preferences) {
			p.Threads = map[string]map[string]bool{"social": {"bread": false}}
		})
		r.releaseAt(t, time.Now().Add(5*time.Hour))
		d := r.digests(t)[0]
		if fmt.Sprint(toldOf(t, d)) != "[t0]" || len(d.Deliveries) != 1 {
			t.Errorf("it tells of %v by %d deliveries", toldOf(t, d), len(d.Deliveries))
		}
		if why := r.trail(t, muted).Notification.Decisions[1]; why.Reason != tidings.ReasonOptedOutCategory || why.Cause != tidings.CauseThread {
			t.Errorf("what is muted was decided so: %+v", why)
		}
	})
}

func TestAPartOfADigestThatWaitsIsCancelled(t *testing.T) {
	for why, calm := range map[string]time.Duration{"held": 3 * time.Hour, "queued": 0} {
		t.Run(why, func(t *testing.T) {
			eachGathering(t, func(t *testing.T, r *rig) {
				const long = 24 * time.Hour
				ids, digest := r.gather(t, calm, long, long, long)
				first, err := r.store.Cancel(t.Context(), "shop", ids[1], time.Now())
				again, failed := r.store.Cancel(t.Context(), "shop", ids[1], time.Now())
				if err != nil || failed != nil || first.Holds != 1 || fmt.Sprint(first) != fmt.Sprint(again) {
					t.Fatalf("cancelled %+v, %v, and again %+v, %v", first, err, again, failed)
				}
				d := r.trail(t, digest)
				if fmt.Sprint(toldOf(t, d)) != "[t0 t2]" || !slices.Equal(d.Parts, []tidings.NotificationID{ids[0], ids[2]}) {
					t.Errorf("the digest tells of %v and has %d parts", toldOf(t, d), len(d.Parts))
				}
				for _, id := range []tidings.NotificationID{ids[0], ids[2]} {
					if _, err := r.store.Cancel(t.Context(), "shop", id, time.Now()); err != nil {
						t.Fatal(err)
					}
				}
				for _, id := range append(ids, digest) {
					r.stands(t, id, tidings.NotificationCancelled)
				}
				r.releaseAt(t, time.Now().Add(5*time.Hour))
				if d := r.trail(t, digest); len(d.Deliveries) > 0 && d.Deliveries[0].Status != tidings.Cancelled {
					t.Errorf("what was called off is %s", d.Deliveries[0].Status)
				} else if n := counted(t, r.ended, "tidings_deliveries_total", "email"); n != float64(len(d.Deliveries)) {
					t.Errorf("%v are counted as cancelled of %d", n, len(d.Deliveries))
				}
			})
		})
	}
}

// stands compares how a notification stands, wherever that is told.
func (r *rig) stands(t *testing.T, id tidings.NotificationID, want tidings.NotificationStatus) {
	t.Helper()
	standings, err := r.store.Standings(t.Context(), []tidings.NotificationID{id}, time.Now())
	list, _, failed := r.store.List(t.Context(), store.Filter{Limit: 100, Status: want})
	listed := slices.ContainsFunc(list, func(l store.Listed) bool { return l.Notification.ID == id })
	if err != nil || failed != nil || standings[id].Status != want || !listed {
		t.Errorf("%s stands as %s, and is listed so: %v; want %s (%v, %v)", id, standings[id].Status, listed, want, err, failed)
	}
}

func TestPartsStandAsADigestThatIsCalledOff(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 3*time.Hour, 24*time.Hour, 24*time.Hour)
		if _, err := r.store.Cancel(t.Context(), "shop", digest, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, id := range append(ids, digest) {
			r.stands(t, id, tidings.NotificationCancelled)
		}
	})
}

// Whoever cancels while the digest is claimed is told the truth.
func TestAPartIsCancelledOrToldButNeverBoth(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		spans := slices.Repeat([]time.Duration{24 * time.Hour}, 12)
		ids, digest := r.gather(t, 0, spans...)
		cancelled := make([]error, len(ids)-1)
		var claimed []store.Claimed
		var wg sync.WaitGroup
		for i := range cancelled { // one is left
			wg.Go(func() { _, cancelled[i] = r.store.Cancel(t.Context(), "shop", ids[i], time.Now()) })
		}
		wg.Go(func() {
			var err error
			claimed, err = r.store.Claim(t.Context(), store.Background, store.ClaimRequest{
				Lane: "email.bulk", IDs: []tidings.DeliveryID{tidings.DeliveryOf(digest, 0)}, Now: time.Now(), Lease: time.Minute,
			})
			if err != nil || len(claimed) != 1 {
				t.Errorf("claimed %d, %v", len(claimed), err)
			}
		})
		wg.Wait()
		if t.Failed() {
			return
		}
		told := fmt.Sprint(toldOf(t, &store.Trail{Notification: claimed[0].Notification}))
		for i, err := range cancelled {
			var under *store.UnderWay
			in := strings.Contains(told, fmt.Sprintf("t%d ", i))
			if err != nil && (!errors.As(err, &under) || under.Digest != digest || !in) || err == nil && in {
				t.Errorf("part %d: cancel said %v, and the message tells of %s", i, err, told)
			}
		}
	})
}

func TestADigestTellsNotOfWhatHasExpiredWhenItIsClaimed(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 0, 20*time.Minute, 24*time.Hour)
		claimed, err := r.store.Claim(t.Context(), store.Background, store.ClaimRequest{
			Lane: "email.bulk", IDs: []tidings.DeliveryID{tidings.DeliveryOf(digest, 0)}, Now: time.Now(), Lease: time.Minute,
			Stale: func(*store.Claimed) []store.Leaving {
				return []store.Leaving{{Part: ids[0], Reason: tidings.ReasonExpired}}
			},
		})
		if err != nil || len(claimed) != 1 || claimed[0].Notification.Parts != 1 {
			t.Fatalf("claimed %+v, %v", claimed, err)
		}
		if told := toldOf(t, &store.Trail{Notification: claimed[0].Notification}); fmt.Sprint(told) != "[t1]" {
			t.Errorf("it tells of %v", told)
		}
		if late := r.trail(t, ids[0]); !late.Digest().IsZero() || late.Notification.Decisions[1].Reason != tidings.ReasonExpired {
			t.Errorf("what has expired: %s", describe(late.Notification.Decisions))
		}
	})
}

// claimOf claims one delivery of a digest, which is not to tell of that any more.
func (r *rig) claimOf(t *testing.T, digest tidings.NotificationID, n int, stale ...store.Leaving) store.Claimed {
	t.Helper()
	claimed, err := r.store.Claim(t.Context(), store.Background, store.ClaimRequest{
		Lane: "email.bulk", IDs: []tidings.DeliveryID{tidings.DeliveryOf(digest, n)}, Now: time.Now(), Lease: time.Minute,
		Stale: func(*store.Claimed) []store.Leaving { return stale },
	})
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %+v, %v", claimed, err)
	}
	return claimed[0]
}

func TestAPartOfWhichOnlySomeAddressesWereToldSaysSo(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		_, _, err := r.store.RegisterAddress(t.Context(), tidings.Address{UserID: "u_1", Channel: tidings.Email, Value: "second@example.test"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		ids, digest := r.gather(t, 0, 20*time.Minute, 24*time.Hour)
		if told := r.claimOf(t, digest, 0).Notification.Parts; told != 2 {
			t.Fatalf("the first message tells of %d", told)
		}
		late := store.Leaving{Part: ids[0], Reason: tidings.ReasonExpired}
		if told := r.claimOf(t, digest, 1, late).Notification.Parts; told != 1 {
			t.Fatalf("the second message tells of %d", told)
		}
		part, other := r.trail(t, ids[0]), r.trail(t, ids[1])
		if part.Digest() != digest {
			t.Error("it is no part any more, though the first message tells of it")
		}
		var found []tidings.Decision
		for _, m := range slices.Concat(part.Timeline, other.Timeline) {
			if d, ok := m.LeftOut(); ok {
				found = append(found, d)
			}
		}
		if len(found) != 1 || found[0].Channel != tidings.Email || found[0].Reason != tidings.ReasonExpired {
			t.Errorf("left out of what the digest still sends: %+v", found)
		}
	})
}

func TestPartsOfADigestThatIsErasedAreCalledOff(t *testing.T) {
	eachGathering(t, func(t *testing.T, r *rig) {
		ids, digest := r.gather(t, 0, 24*time.Hour, 24*time.Hour)
		if err := r.store.EraseUser(t.Context(), "u_1", time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, id := range append(ids, digest) {
			r.stands(t, id, tidings.NotificationCancelled)
			if got, err := r.store.Cancel(t.Context(), "shop", id, time.Now()); !errors.Is(err, store.ErrNothing) {
				t.Errorf("cancelled %+v of %s, %v", got, id, err)
			}
		}
		for _, id := range ids {
			if got := r.trail(t, id).Digest(); got != digest {
				t.Errorf("%s does not know its digest any more: %s", id, got)
			}
		}
	})
}
