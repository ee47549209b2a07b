package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tidings/api/client"
	"tidings/internal/config"
	"tidings/internal/testkit"
	"tidings/workers"
)

// code is the code that a post is refused with; empty: it is accepted.
func (w *world) code(event map[string]any) string {
	w.t.Helper()
	err := w.api.Do(context.Background(), http.MethodPost, "/v1/events", event, nil)
	var refused *client.Error
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &refused):
		w.t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", refused.Status, refused.Problem.Code)
}

func TestALaneThatStandsStillIsBoundedAndTakesWorkAgainWhenItMoves(t *testing.T) {
	narrow := func(c *config.Config) { c.Workers.Lanes = map[string]workers.LaneConfig{"push.bulk": {Limit: 20}} }
	onEachDatabase(t, narrow, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"email": "ann@example.test", "phone": "+15550123001"}, nil)
		w.do(http.MethodPost, "/v1/lanes/push.bulk/pause", nil, nil)
		for range 20 {
			w.post(shipped("u_1", nil))
		}
		expect := func(why, want string, event map[string]any) {
			t.Helper()
			if got := w.code(event); got != want {
				t.Errorf("%s: %q, want %q", why, got, want)
			}
		}
		time.Sleep(time.Minute) // so that it is counted in the log
		expect("one more", "503 lane_full", shipped("u_1", nil))
		expect("with e-mail beside it", "503 lane_full", shipped("u_1", map[string]any{"channels": []string{"push", "email"}}))
		expect("by e-mail alone", "", shipped("u_1", map[string]any{"channels": []string{"email"}}))
		expect("priority work on the same channel", "", map[string]any{"type": "payment.failed", "user": "u_1", "data": map[string]any{"amount": "9.90", "currency": "EUR"}})
		var batch struct {
			Results []struct {
				ID    string
				Error struct {
					Code              string
					RetryAfterSeconds int `json:"retry_after_seconds"`
				}
			}
		}
		w.do(http.MethodPost, "/v1/events/batch", map[string]any{"events": []any{shipped("u_1", nil), shipped("u_1", map[string]any{"channels": []string{"email"}})}}, &batch)
		if first, second := batch.Results[0], batch.Results[1]; first.Error.Code != "lane_full" || first.Error.RetryAfterSeconds < 1 || second.ID == "" {
			t.Errorf("a batch of two: %+v", batch.Results)
		}
		w.do(http.MethodPost, "/v1/lanes/push.bulk/resume", nil, nil)
		time.Sleep(10 * time.Second)
		id := w.post(shipped("u_1", nil))
		w.until(id, "sent", time.Minute)
	})
}

// TestFiftyWritersAtOnceAreNeverToldThatTheDatabaseIsLocked is about SQLite, whose writers must
// take turns; that PostgreSQL's do is its own affair.
func TestFiftyWritersAtOnceAreNeverToldThatTheDatabaseIsLocked(t *testing.T) {
	const writers, rounds = 50, 8
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "", nil)
		defer w.close()
		var all sync.WaitGroup
		ids := make([][]string, writers)
		for n := range writers {
			all.Go(func() {
				user := fmt.Sprintf("u_%d", n%10) // several write about each user
				for range rounds {
					ids[n] = append(ids[n], w.written(user, fmt.Sprintf("+1555010%04d", n%10+1)))
				}
			})
		}
		all.Wait()
		synctest.Wait()
		for _, list := range ids {
			for _, id := range list {
				w.until(id, "delivered", time.Minute) // its receipts were written as well
			}
		}
	})
}

// written posts an event, changes the user's preferences, and posts a batch; each must be taken.
func (w *world) written(user, phone string) (id string) {
	var posted struct{ ID string }
	calls := []struct {
		method, path string
		in, out      any
	}{
		{http.MethodPost, "/v1/events", map[string]any{"type": "login.code", "user": map[string]any{"id": user, "phone": phone}, "data": map[string]any{"code": "482913"}}, &posted},
		{http.MethodPatch, "/v1/users/" + user + "/preferences", map[string]any{"channels": map[string]any{"email": false}}, nil},
		{http.MethodPost, "/v1/events/batch", map[string]any{"events": []any{shipped(user, nil), shipped(user, map[string]any{"collapse_key": "order"})}}, nil},
		{http.MethodPut, "/v1/users/" + user + "_new", map[string]any{"locale": "de"}, nil},
	}
	for _, c := range calls {
		if err := w.api.Do(context.Background(), c.method, c.path, c.in, c.out); err != nil {
			w.t.Errorf("%s %s: %v", c.method, c.path, err)
		}
	}
	return posted.ID
}
