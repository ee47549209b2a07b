package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tidings"
)

// A tale is a notification as a test writes it into the log.
type tale struct {
	app, user, kind, key string
	at                   time.Time
	expired, cancelled   bool
	decisions            string
	deliveries           []string // "push.bulk sent", "sms.priority parked", with a reason after it
	holds                []string // "email quiet_hours waiting"
}

// tell writes tales and gives their ids.
func tell(t *testing.T, s *Store, tales ...tale) []tidings.NotificationID {
	t.Helper()
	ids := make([]tidings.NotificationID, len(tales))
	err := s.write(t.Context(), Normal, func(t *tx) error {
		for i := range tales {
			ids[i] = tidings.NewNotificationID(tales[i].at)
			if err := tales[i].write(t, ids[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func (n *tale) write(t *tx, id tidings.NotificationID) error {
	at, expires := n.at.UnixMicro(), time.Now().Add(time.Hour).UnixMicro()
	if n.expired {
		expires = at
	}
	var cancelled any
	if n.cancelled {
		cancelled = at
	}
	run := func(text string, args ...any) error {
		_, err := t.conn.ExecContext(t.ctx, text, args...)
		return err
	}
	err := run(`INSERT INTO notifications (id, app, test, type, user_id, category, catalog_version, dedupe_key, collapse_key, sensitive, data,
		decisions, accepted_at, expires_at, cancelled_at) VALUES ($1, $2, 0, $3, $4, 'orders', 1, $5, '', 0, '{}', $6, $7, $8, $9)`,
		id[:], n.app, n.kind, n.user, n.key, "["+n.decisions+"]", at, expires, cancelled)
	if err != nil {
		return err
	}
	for i, text := range n.deliveries {
		lane, status, reason := three(text)
		var due any
		if slices.Contains([]string{"parked", "queued", "sending", "awaiting"}, status) {
			due = at
		}
		status = strings.Replace(status, "awaiting", "unknown", 1)
		err := run(`INSERT INTO deliveries (ntf, n, lane, address_id, status, reason, due_at, claim_no, tries, tried, queued_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, '', $8, $9)`, id[:], i, lane, id[:], status, reason, due, at, expires)
		if err != nil {
			return err
		}
	}
	for _, text := range n.holds {
		channel, reason, state := three(text)
		hold := tidings.NewHoldID(n.at)
		if err := run("INSERT INTO holds (id, ntf, channel, reason, until, state) VALUES ($1, $2, $3, $4, $5, $6)", hold[:], id[:], channel, reason, at, state); err != nil {
			return err
		}
	}
	return nil
}

func three(text string) (string, string, string) {
	words := append(strings.Fields(text), "", "")
	return words[0], words[1], words[2]
}

func morning() time.Time { return time.Date(2025, 12, 1, 8, 0, 0, 0, time.UTC) }

func TestAListIsFilteredByEachOfItsMembers(t *testing.T) {
	const optedOut = `{"channel":"email","action":"suppress","reason":"opted_out_category","at":"2026-12-01T08:00:00Z"}`
	const sent = `{"channel":"push","action":"send","addresses":1,"at":"2026-12-01T08:00:00Z"}`
	onBoth(t, func(t *testing.T, s *Store) {
		ids := tell(t, s,
			tale{app: "shop", user: "u_1", kind: "order.shipped", key: "k1", at: morning(), decisions: sent + "," + optedOut, deliveries: []string{"push.bulk failed recipient_dead"}},
			tale{app: "shop", user: "u_2", kind: "login.code", at: morning().Add(time.Hour), deliveries: []string{"sms.priority delivered"}},
			tale{app: "forum", user: "u_1", kind: "order.shipped", at: morning().Add(2 * time.Hour), holds: []string{"email quiet_hours waiting"}},
			tale{app: "forum", user: "u_1", kind: "order.shipped", at: morning().Add(3 * time.Hour), decisions: optedOut},
		)
		for _, c := range []struct {
			why    string
			filter Filter
			want   []int
		}{
			{"no filter", Filter{}, []int{3, 2, 1, 0}},
			{"app", Filter{App: "forum"}, []int{3, 2}},
			{"type", Filter{Type: "login.code"}, []int{1}},
			{"dedupe key", Filter{DedupeKey: "k1"}, []int{0}},
			{"since is included", Filter{Since: morning().Add(time.Hour)}, []int{3, 2, 1}},
			{"until is not", Filter{Until: morning().Add(time.Hour)}, []int{0}},
			{"since and until", Filter{Since: morning().Add(time.Hour), Until: morning().Add(3 * time.Hour)}, []int{2, 1}},
			{"older than", Filter{Before: ids[2]}, []int{1, 0}},
			{"failed", Filter{Status: tidings.NotificationFailed}, []int{0}},
			{"delivered", Filter{Status: tidings.NotificationDelivered}, []int{1}},
			{"held", Filter{Status: tidings.NotificationHeld}, []int{2}},
			{"suppressed", Filter{Status: tidings.NotificationSuppressed}, []int{3}},
			{"a channel that a delivery took", Filter{Channel: tidings.SMS}, []int{1}},
			{"a channel that is held, not one that was decided against", Filter{Channel: tidings.Email}, []int{2}},
			{"the reason of a delivery", Filter{Reason: tidings.ReasonRecipientDead}, []int{0}},
			{"the reason of a hold", Filter{Reason: tidings.ReasonQuietHours}, []int{2}},
			{"the reason of a decision", Filter{Reason: tidings.ReasonOptedOutCategory}, []int{3, 0}},
			{"a reason on its channel", Filter{Reason: tidings.ReasonOptedOutCategory, Channel: tidings.Email}, []int{3, 0}},
			{"a reason on another channel", Filter{Reason: tidings.ReasonOptedOutCategory, Channel: tidings.Push}, nil},
			{"a pattern is no reason", Filter{Reason: "opted%"}, nil},
			{"several at once", Filter{App: "shop", Type: "order.shipped", Status: tidings.NotificationFailed}, []int{0}},
		} {
			t.Run(c.why, func(t *testing.T) {
				matches(t, s, c.filter, ids, c.want)
				c.filter.UserID = "u_1"
				matches(t, s, c.filter, ids, slices.DeleteFunc(c.want, func(i int) bool { return i == 1 }))
			})
		}
	})
}

// matches compares a list with the places of ids that it should have.
func matches(t *testing.T, s *Store, f Filter, ids []tidings.NotificationID, want []int) {
	t.Helper()
	list, _, err := s.List(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, n := range list {
		got = append(got, slices.Index(ids, n.Notification.ID))
	}
	if !slices.Equal(got, want) {
		t.Errorf("of user %q: got %v, want %v", f.UserID, got, want)
	}
}

func TestPagesOfARareStatusMissNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	ends := []string{"sent", "delivered", "failed", "bounced", "dead", "unknown", "expired", "cancelled", "suppressed", "parked", "queued", "sending", "awaiting"}
	onBoth(t, func(t *testing.T, s *Store) {
		var tales []tale
		for i := range 300 {
			n := tale{app: "shop", user: "u_1", kind: "order.shipped", at: morning().Add(time.Duration(i) * time.Second),
				expired: random.IntN(4) == 0, cancelled: random.IntN(8) == 0}
			for range random.IntN(4) {
				n.deliveries = append(n.deliveries, "push.bulk "+ends[random.IntN(len(ends))])
			}
			if random.IntN(5) == 0 {
				n.holds = []string{"email quiet_hours " + []string{"waiting", "released"}[random.IntN(2)]}
			}
			tales = append(tales, n)
		}
		tell(t, s, tales...)
		all, _, err := s.List(t.Context(), Filter{Limit: len(tales)})
		if err != nil || len(all) != len(tales) {
			t.Fatalf("%d of %d: %v", len(all), len(tales), err)
		}
		seen := map[tidings.NotificationStatus][]tidings.NotificationID{}
		for _, n := range all {
			seen[n.Status] = append(seen[n.Status], n.Notification.ID)
		}
		if len(seen) != 8 {
			t.Errorf("the tales have %d statuses, want all eight", len(seen))
		}
		for status, want := range seen {
			for _, f := range []Filter{{Status: status, Limit: 7}, {Status: status, Limit: 7, Scan: 20}, {Status: status, UserID: "u_1", Limit: 7, Scan: 3}} {
				if got := walk(t, s, f); !slices.Equal(got, want) {
					t.Errorf("%+v: %d by pages, %d in all", f, len(got), len(want))
				}
			}
		}
	})
}

// walk gathers all pages of a filter.
func walk(t *testing.T, s *Store, f Filter) []tidings.NotificationID {
	t.Helper()
	var ids []tidings.NotificationID
	for {
		page, next, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range page {
			ids = append(ids, n.Notification.ID)
		}
		if next.IsZero() {
			return ids
		}
		f.Before = next
	}
}

func TestAListAndATrailAgreeOnTheStatus(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		for i, statuses := range []string{"", "sent", "sent failed", "parked expired", "awaiting dead", "unknown", "suppressed cancelled"} {
			n := tale{app: "shop", user: fmt.Sprintf("u_%d", i), kind: "order.shipped", at: morning()}
			for _, status := range strings.Fields(statuses) {
				n.deliveries = append(n.deliveries, "push.bulk "+status)
			}
			id := tell(t, s, n)[0]
			trail, err := s.Trail(t.Context(), "", id)
			if err != nil {
				t.Fatal(err)
			}
			var deliveries []tidings.Delivery
			for _, d := range trail.Deliveries {
				deliveries = append(deliveries, d.Delivery)
			}
			list, _, err := s.List(t.Context(), Filter{UserID: n.user})
			if err != nil || len(list) != 1 {
				t.Fatalf("%d listed: %v", len(list), err)
			}
			if want := tidings.Summarise(&trail.Notification, deliveries, false, time.Now()); list[0].Status != want {
				t.Errorf("%q is listed as %s, its trail says %s", statuses, list[0].Status, want)
			}
		}
	})
}
