package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"tidings/api/wire"
	"tidings/internal/config"
)

// An app posts in a circle. Other users, other types, and what is said later must not suffer from it.
func TestALoopIsStoppedForItsUserAndTypeAloneAndHealsByItself(t *testing.T) {
	const limit = 5
	brake := func(c *config.Config) { c.Brake = config.Brake{Events: limit, Per: time.Minute} }
	onEachDatabase(t, brake, func(t *testing.T, w *world) {
		for i, user := range []string{"u_1", "u_2"} {
			w.device(user, i)
		}
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"phone": "+15550123001"}, nil)
		sent := 0
		post := func(event map[string]any) wire.Posted {
			t.Helper()
			var p wire.Posted
			w.do(http.MethodPost, "/v1/events", event, &p)
			return p
		}
		var stopped wire.Posted
		for i := range 30 { // for more than a span
			looped := post(shipped("u_1", nil))
			if passes := looped.Status == "accepted"; passes != (i < limit) {
				t.Fatalf("event %d of the loop is %s: %+v", i, looped.Status, looped.Decisions)
			}
			if i < limit {
				sent++
			} else {
				stopped = looped
			}
			if i%10 == 0 { // others, by the same app
				for _, event := range []map[string]any{
					shipped("u_2", nil),
					{"type": "login.code", "user": "u_1", "data": map[string]any{"code": "482913"}},
					{"type": "payment.failed", "user": "u_1", "channels": []string{"sms"}, "data": map[string]any{"amount": 5, "currency": "EUR"}},
				} {
					if p := post(event); p.Status != "accepted" {
						t.Errorf("%s to %s is %s: %+v", event["type"], event["user"], p.Status, p.Decisions)
					}
					sent++
				}
			}
			time.Sleep(3 * time.Second)
		}
		if d := stopped.Decisions[0]; d.Reason != "loop_brake" || d.Action != "suppress" {
			t.Errorf("the answer to the loop is %+v", d)
		}
		if s := w.trail(stopped.ID.String()); s.Status != "suppressed" || !strings.Contains(s.Summary, "posts in a circle") {
			t.Errorf("its trail: %s, %s", s.Status, s.Summary)
		}
		time.Sleep(2 * time.Minute)
		if p := post(shipped("u_1", nil)); p.Status != "accepted" {
			t.Errorf("two minutes after the loop it is %s: %+v", p.Status, p.Decisions)
		}
		time.Sleep(10 * time.Second)
		w.onceEach(sent + 1)
	})
}
