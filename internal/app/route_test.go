package app_test

import (
	"net/http"
	"testing"
	"time"

	"tidings/internal/config"
)

// onlyTo leaves texts one route, to countries.
func onlyTo(countries ...string) func(*config.Config) {
	return func(c *config.Config) {
		c.Routes["sms"] = []config.Route{{Countries: countries, Providers: []config.Weighted{{Name: "twilio"}}}}
	}
}

// decided is what the scenarios look at of an answer to an event.
type decided struct {
	ID, Status string
	Decisions  []struct {
		Channel, Action, Reason string
		Addresses               int
	}
}

func (w *world) answer(event map[string]any) (d decided) {
	w.t.Helper()
	w.do(http.MethodPost, "/v1/events", event, &d)
	return d
}

// explained is what explain says of the channel of a login code, and what its rule about providers does.
func (w *world) explained(user string) (action, reason, input, verdict string) {
	w.t.Helper()
	var out struct {
		Channels []struct {
			Decision struct{ Action, Reason string }
			Rules    []struct{ Rule, Input, Verdict string }
		}
	}
	w.do(http.MethodGet, "/v1/users/"+user+"/explain?event=login.code", nil, &out)
	c := out.Channels[0]
	return c.Decision.Action, c.Decision.Reason, c.Rules[1].Input, c.Rules[1].Verdict
}

func TestATextToACountryWithoutARouteIsSuppressedAtOnce(t *testing.T) {
	onSQLite(t, onlyTo("DE"), func(t *testing.T, w *world) {
		w.phone("u_us", 1)
		w.do(http.MethodPut, "/v1/users/u_both", map[string]any{"phone": "+15550123002"}, nil)
		w.do(http.MethodPost, "/v1/users/u_both/addresses", map[string]any{"channel": "sms", "phone": "+4915755501001"}, nil)

		for _, user := range []string{"u_us", "u_both"} {
			dry := code(user)
			dry["dry_run"] = true
			first, now := w.answer(dry), w.answer(code(user))
			action, reason, input, verdict := w.explained(user)
			for _, d := range []decided{first, now} {
				if got := d.Decisions[0]; got.Action != action || got.Reason != reason {
					t.Errorf("%s: decided %+v, explained %s %s", user, got, action, reason)
				}
			}
			time.Sleep(time.Second)
			s := w.trail(now.ID)
			switch user {
			case "u_us":
				want := "a provider is configured, but none carries to 1 of the 1 addresses that can be used"
				if action != "suppress" || reason != "no_provider" || verdict != "suppress" || input != want {
					t.Errorf("explained %s %s, rule %s: %s", action, reason, verdict, input)
				}
				if s.Status != "suppressed" || len(s.Deliveries) != 0 || s.Summary != "SMS was not sent: no provider is configured for numbers of that country." {
					t.Errorf("nobody carries to it: %+v", s)
				}
			case "u_both":
				want := "a provider is configured, but none carries to 1 of the 2 addresses that can be used"
				if action != "send" || now.Decisions[0].Addresses != 1 || input != want {
					t.Errorf("explained %s to %d, rule: %s", action, now.Decisions[0].Addresses, input)
				}
				if len(s.Deliveries) != 1 || w.accepts()[s.Deliveries[0].ID] != 1 {
					t.Errorf("the other number is not told: %+v", s)
				}
			}
		}
	})
}

func TestWhatIsHeldUntilItsRouteIsGoneIsSuppressedAndNeedsNobody(t *testing.T) {
	onSQLite(t, onlyTo("*"), func(t *testing.T, w *world) {
		w.phone("u_1", 1)
		event := code("u_1")
		event["send_at"], event["expires_in"] = time.Now().Add(time.Minute), "1h"
		id := w.post(event)
		w.stop()
		w.edit = onlyTo("DE")
		w.start()
		if s := w.until(id, "suppressed", 5*time.Minute); len(s.Deliveries) != 0 {
			t.Errorf("released: %+v", s)
		}
	})
}

func TestATokenWhoseProviderIsGoneIsLeftOut(t *testing.T) {
	onSQLite(t, nil, func(t *testing.T, w *world) {
		w.device("u_1", 1)
		w.device("u_2", 2)
		w.android("u_2", 2)
		w.stop()
		w.edit = func(c *config.Config) {
			for i := range c.Providers {
				if c.Providers[i].Name == "apns" {
					c.Providers[i].Name = "apns-new"
				}
			}
		}
		w.start()
		if d := w.answer(alert("u_1")).Decisions[0]; d.Action != "suppress" || d.Reason != "no_provider" {
			t.Errorf("to a token of nobody: %+v", d)
		}
		if d := w.answer(alert("u_2")).Decisions[0]; d.Action != "send" || d.Addresses != 1 {
			t.Errorf("to one token of two: %+v", d)
		}
	})
}
