package store

import (
	"testing"
	"time"

	"tidings"
)

func TestAListLooksAtABoundedNumberOfNotifications(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		var tales []tale
		for i := range 40 {
			tales = append(tales, tale{app: "shop", user: "u_1", kind: "order.shipped", key: "old", at: morning().Add(time.Duration(i) * time.Second)})
		}
		for i := 1; i < len(tales); i++ {
			tales[i].key = ""
		}
		ids := tell(t, s, tales...)
		for _, user := range []string{"", "u_1"} {
			f := Filter{DedupeKey: "old", UserID: user, Limit: 5, Scan: 15}
			for page, want := range []int{0, 0, 1} {
				list, next, err := s.List(t.Context(), f)
				if err != nil || len(list) != want || next.IsZero() != (page == 2) {
					t.Fatalf("page %d of user %q: %d found, next %v, %v", page, user, len(list), next, err)
				}
				if page < 2 && next != ids[40-15*(page+1)] {
					t.Errorf("page %d of user %q goes on before %v", page, user, next)
				}
				f.Before = next
			}
		}
	})
}

func TestADedupeKeyThatCountsIsFoundAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		var tales []tale
		for i := range 40 {
			tales = append(tales, tale{app: "shop", user: "u_1", kind: "order.shipped", at: morning().Add(time.Duration(i) * time.Second)})
		}
		tales[1].key, tales[3].key = "k", "k" // the first was of use until its window was over
		ids := tell(t, s, tales...)
		raw(t, s, "INSERT INTO dedupe_keys (app, test, key, ntf, hash, expires_at) VALUES ('shop', 0, 'k', $1, $1, 0)", ids[3][:])
		raw(t, s, "INSERT INTO apps (name, created_at) VALUES ('shop', 0)")
		for _, app := range []string{"shop", ""} {
			list, next, err := s.List(t.Context(), Filter{App: app, DedupeKey: "k", Limit: 5, Scan: 2})
			if err != nil || len(list) != 1 || list[0].Notification.ID != ids[3] || next != ids[2] {
				t.Errorf("of app %q: %+v, next %v, %v", app, list, next, err)
			}
			list, next, err = s.List(t.Context(), Filter{App: app, DedupeKey: "k", Limit: 5, Scan: 5, Before: next})
			if err != nil || len(list) != 1 || list[0].Notification.ID != ids[1] || next != (tidings.NotificationID{}) {
				t.Errorf("of app %q, older: %+v, next %v, %v", app, list, next, err)
			}
		}
	})
}
