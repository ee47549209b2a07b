package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tidings/channels/simulator"
)

// An opt-out counts from the moment it is stored, for what is queued, parked for another try and
// held too: while the lanes are long and the provider fails now and then, users opt out one after
// the other, and by the ledger no provider accepts anything for them more than a second later.
func TestAnOptOutCountsForWhatIsUnderWay(t *testing.T) {
	const users, each = 24, 8
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		tokens := map[string]string{}
		for i := range users {
			user := fmt.Sprintf("u_%d", i)
			tokens[w.device(user, i)] = user
		}
		w.faults(`[{"provider":"apns","share":0.3,"do":{"status":503,"reason":"ServiceUnavailable"}},{"provider":"apns","do":{"delay":"400ms"}}]`)
		var posting sync.WaitGroup
		held := map[string]string{}
		for i := range users {
			user := fmt.Sprintf("u_%d", i)
			held[user] = w.post(shipped(user, map[string]any{"send_at": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}))
			posting.Go(func() {
				for range each {
					w.post(shipped(user, nil))
				}
			})
		}
		out := map[string]time.Time{}
		for i := range users / 2 {
			time.Sleep(100 * time.Millisecond)
			user := fmt.Sprintf("u_%d", i)
			w.do(http.MethodPatch, "/v1/users/"+user+"/preferences", optOuts(i), nil)
			out[user] = time.Now()
		}
		posting.Wait()
		time.Sleep(10 * time.Minute)
		got := map[string]int{}
		told := func() (all bool) { // the ledger, and whether all who want to be told are
			clear(got)
			for _, e := range w.entries() {
				got[tokens[e.Address]]++
			}
			all = true
			for i := users / 2; i < users; i++ {
				all = all && got[fmt.Sprintf("u_%d", i)] >= each+1
			}
			return all
		}
		for end := time.Now().Add(2 * time.Hour); !told() && time.Now().Before(end); {
			time.Sleep(time.Minute) // some are unlucky, and wait long for their last try
		}
		for _, e := range w.entries() {
			user := tokens[e.Address]
			if at, gone := out[user]; gone && e.At.After(at.Add(time.Second)) {
				t.Errorf("%s opted out at %s, and at %s the provider accepted a push", user, at.Format(time.StampMilli), e.At.Format(time.StampMilli))
			}
		}
		less := 0
		for user := range out {
			if got[user] < each {
				less++
			}
			s := w.trail(held[user])
			if s.Status != "suppressed" || !strings.Contains(s.Summary, " at ") {
				t.Errorf("what was held for %s is %s: %s", user, s.Status, s.Summary)
			}
		}
		if less < users/4 {
			t.Errorf("only %d opt-outs came before all was sent: the test shows nothing", less)
		}
		for i := users / 2; i < users; i++ {
			if user := fmt.Sprintf("u_%d", i); got[user] != each+1 {
				t.Errorf("%s, who wants all, got %d", user, got[user])
			}
		}
	})
}

// entries is what the providers accepted.
func (w *world) entries() (all []simulator.Entry) {
	w.t.Helper()
	for line := range bytes.Lines(w.ledger.bytes()) {
		var e simulator.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// optOuts are the ways to refuse the pushes of the test.
func optOuts(i int) map[string]any {
	switch i % 4 {
	case 0:
		return map[string]any{"all": false}
	case 1:
		return map[string]any{"channels": map[string]any{"push": false}}
	case 2:
		return map[string]any{"categories": map[string]any{"orders": false}}
	}
	return map[string]any{"categories": map[string]any{"orders": map[string]any{"push": false}}}
}
