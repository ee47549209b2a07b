package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

// accepted is a notification with one delivery, which waits for its lane.
func accepted(t *testing.T, s *store.Store, at time.Time) tidings.NotificationID {
	t.Helper()
	address := tidings.Address{ID: tidings.NewAddressID(at), UserID: "u_1", Channel: tidings.Push, Provider: "apns", Value: tidings.NewAddressID(at).String(), Status: tidings.AddressActive, RegisteredAt: at}
	group, err := s.Accept(t.Context(), store.Normal, []store.Acceptance{{
		Notification: tidings.Notification{ID: tidings.NewNotificationID(at), App: "shop", Type: "order.shipped", UserID: "u_1", Category: "orders",
			CatalogVersion: 1, AcceptedAt: at, ExpiresAt: at.Add(time.Hour)},
		User: &tidings.User{ID: "u_1", CreatedAt: at, UpdatedAt: at}, NewAddresses: []tidings.Address{address},
		Deliveries: []store.NewDelivery{{Lane: "push.bulk", Address: address.ID, Status: tidings.Queued, DueAt: at}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return group[0].ID
}

func pausesOf(t *testing.T, s *store.Store, id tidings.NotificationID) []store.Pause {
	t.Helper()
	trail, err := s.Trail(t.Context(), "", id)
	if err != nil {
		t.Fatal(err)
	}
	return trail.Pauses
}

func TestATrailTellsOfProvidersThatAreLeftAloneAndForHowLong(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		pause := store.Pause{Name: "apns", Channel: tidings.Push, Cause: store.PauseFailing, Since: now, Until: now.Add(10 * time.Second)}
		beat := func(id byte, after time.Duration, pauses ...store.Pause) {
			t.Helper()
			if _, err := s.Beat(t.Context(), store.Beat{Process: store.ProcessID{id}, Now: now.Add(after), Silent: 8 * time.Second, Pauses: pauses}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(why string, id tidings.NotificationID, want ...store.Pause) {
			t.Helper()
			got := pausesOf(t, s, id)
			if len(got) != len(want) {
				t.Fatalf("%s: %+v, want %+v", why, got, want)
			}
			for i, p := range got {
				if w := want[i]; p.Name != w.Name || p.Channel != w.Channel || p.Cause != w.Cause || !p.Since.Equal(w.Since) || !p.Until.Equal(w.Until) || !p.Over.Equal(w.Over) {
					t.Errorf("%s: %+v, want %+v", why, p, w)
				}
			}
		}
		first := accepted(t, s, now)
		want("none", first)
		beat(1, 0, pause)
		want("one that lasts", first, pause)
		pause.Until = now.Add(20 * time.Second)
		beat(1, 2*time.Second, pause)
		want("one that goes on", first, pause)
		pause.Over = now.Add(12 * time.Second)
		beat(1, 13*time.Second, pause)
		want("one that is over", first, pause)
		want("before it came", accepted(t, s, now.Add(14*time.Second)))

		other := store.Pause{Name: "apns", Channel: tidings.Push, Cause: store.PauseAsked, Since: now.Add(time.Minute), Until: now.Add(time.Hour)}
		beat(2, time.Minute, other)
		beat(3, 2*time.Minute)
		dead := other
		dead.Over = now.Add(time.Minute)
		want("of a process that is gone", first, pause, dead)
	})
}

func TestATrailTellsOfLanesThatStoodStill(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		id := accepted(t, s, now)
		for i, step := range []struct {
			why    string
			paused bool
			after  time.Duration
			want   []store.Pause
		}{
			{"resumed without a pause", false, 0, nil},
			{"paused", true, time.Second, []store.Pause{{Since: now.Add(time.Second)}}},
			{"paused again", true, 2 * time.Second, []store.Pause{{Since: now.Add(time.Second)}}},
			{"resumed", false, 3 * time.Second, []store.Pause{{Since: now.Add(time.Second), Over: now.Add(3 * time.Second)}}},
			{"resumed again", false, 4 * time.Second, []store.Pause{{Since: now.Add(time.Second), Over: now.Add(3 * time.Second)}}},
			{"paused once more", true, 5 * time.Second, []store.Pause{{Since: now.Add(time.Second), Over: now.Add(3 * time.Second)}, {Since: now.Add(5 * time.Second)}}},
		} {
			if err := s.SetLanePaused(t.Context(), "push.bulk", step.paused, now.Add(step.after)); err != nil {
				t.Fatal(err)
			}
			got := pausesOf(t, s, id)
			if len(got) != len(step.want) {
				t.Fatalf("%d %s: %+v, want %+v", i, step.why, got, step.want)
			}
			for k, p := range got {
				if p.Name != "push.bulk" || p.Cause != store.PauseOperator || !p.Since.Equal(step.want[k].Since) || !p.Over.Equal(step.want[k].Over) {
					t.Errorf("%s: %+v, want %+v", step.why, p, step.want[k])
				}
			}
		}
	})
}

func TestWhatIsPutBackOrPutOffIsToldOnceInTheTimeline(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
		id := accepted(t, s, now)
		d := tidings.DeliveryOf(id, 0)
		claim := func(at time.Time, check func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time)) int {
			t.Helper()
			claimed, err := s.Claim(t.Context(), store.Normal, store.ClaimRequest{Lane: "push.bulk", IDs: []tidings.DeliveryID{d}, Now: at, Lease: time.Minute, Check: check})
			if err != nil {
				t.Fatal(err)
			}
			return len(claimed)
		}
		off := func(why string) func(*store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
			return func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
				c.Why = why
				return tidings.Parked, "", now.Add(time.Second)
			}
		}
		queue := func(at time.Time) {
			t.Helper()
			if _, err := s.Due(t.Context(), "push.bulk", at, 10); err != nil {
				t.Fatal(err)
			}
		}
		claim(now, off(""))
		queue(now.Add(time.Second))
		claim(now.Add(time.Second), off("the device is to be left alone"))
		queue(now.Add(2 * time.Second))
		if claim(now.Add(2*time.Second), nil) != 1 {
			t.Fatal("it is not claimed")
		}
		back := store.Return{ID: d, Lane: "push.bulk", ClaimNo: 1, DueAt: now.Add(4 * time.Second), At: now.Add(3 * time.Second), Why: "the worker stops"}
		for range 2 { // the second finds nothing to give back
			if err := s.GiveBack(t.Context(), store.Normal, []store.Return{back}); err != nil {
				t.Fatal(err)
			}
		}
		trail, err := s.Trail(t.Context(), "", id)
		if err != nil {
			t.Fatal(err)
		}
		want := []store.Moment{{At: now.Add(time.Second), Text: "the device is to be left alone"}, {At: now.Add(3 * time.Second), Text: "the worker stops"}}
		if len(trail.Timeline) != len(want) {
			t.Fatalf("told %+v", trail.Timeline)
		}
		for i, m := range trail.Timeline {
			if m.Kind != "queued" || m.Delivery != d || m.Text != want[i].Text || !m.At.Equal(want[i].At) {
				t.Errorf("told %+v, want %+v", m, want[i])
			}
		}
	})
}
