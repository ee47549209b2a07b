package store_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/internal/store/storetest"
)

func TestThePastIsListedNewestFirstWithItsDataAndDecisions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		w := newWorld(t, s)
		var ids []tidings.NotificationID
		for i := range 4 {
			a := w.acceptance(start().Add(time.Duration(i)*time.Second), 1)
			a.Notification.Sensitive = i == 3
			w.accept(a)
			ids = append(ids, a.Notification.ID)
		}
		first, err := s.Past(t.Context(), start().Add(time.Second), tidings.NotificationID{}, 2)
		w.must(err)
		if len(first) != 2 || first[0].ID != ids[3] || first[1].ID != ids[2] {
			t.Fatalf("the newest are %+v", first)
		}
		for _, n := range first {
			if string(n.Data) != `{"order":"4711"}` || len(n.Decisions) != 1 || n.Decisions[0].Channel != tidings.Push {
				t.Errorf("%s has data %s and decisions %+v", n.ID, n.Data, n.Decisions)
			}
		}
		rest, err := s.Past(t.Context(), start().Add(time.Second), first[1].ID, 2)
		w.must(err)
		if len(rest) != 1 || rest[0].ID != ids[1] {
			t.Errorf("what is left from then on is %+v", rest)
		}
	})
}
