package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"tidings/internal/config"
	"tidings/internal/testkit"
)

// onSQLite runs a scenario in virtual time for which the database makes no difference.
func onSQLite(t *testing.T, edit func(*config.Config), scenario func(t *testing.T, w *world)) {
	testkit.Bubble(t, func(t *testing.T) {
		w := newWorld(t, "", edit)
		defer w.close()
		scenario(t, w)
	})
}

// android registers an FCM token of a user.
func (w *world) android(user string, n int) {
	w.t.Helper()
	w.do(http.MethodPost, "/v1/users/"+user+"/addresses", map[string]any{"channel": "push", "provider": "fcm", "token": fmt.Sprintf("fcm-token-%d:APA91b_made_up", n)}, nil)
}

// phone gives a user a phone number.
func (w *world) phone(user string, n int) {
	w.t.Helper()
	w.do(http.MethodPut, "/v1/users/"+user, map[string]any{"phone": fmt.Sprintf("+1555%07d", 1230001+n)}, nil)
}

func code(user string) map[string]any {
	return map[string]any{"type": "login.code", "user": user, "data": map[string]any{"code": "482913"}}
}

func alert(user string) map[string]any {
	return map[string]any{"type": "security.alert", "user": user, "channels": []string{"push"}, "data": map[string]any{"device": "phone", "place": "Berlin"}}
}

func TestAHangingProviderHarmsNeitherOtherChannelsNorOtherProvidersNorWhatIsUrgent(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"apns","do":{"hang":"1h"}}]`)
		for i := range 300 { // many more than there are calls at once
			user := fmt.Sprintf("u_apple_%d", i)
			w.device(user, i)
			w.post(shipped(user, nil))
		}
		time.Sleep(100 * time.Millisecond)
		w.android("u_1", 1)
		w.phone("u_1", 1)
		for i := range 8 {
			for _, what := range []struct {
				name  string
				event map[string]any
			}{{"urgent push", alert("u_1")}, {"bulk push of another provider", shipped("u_1", nil)}, {"text", code("u_1")}} {
				begin := time.Now()
				id := w.post(what.event)
				want := "sent"
				if what.name == "text" {
					want = "delivered"
				}
				w.until(id, want, 5*time.Second)
				if took := time.Since(begin); took > 2*time.Second {
					t.Errorf("round %d: %s took %v beside a provider that hangs", i, what.name, took)
				}
			}
			time.Sleep(3 * time.Second)
		}
		w.sim.ClearFaults()
	})
}

func TestATextGoesByTheOtherProviderWhileOneAsksForAPause(t *testing.T) {
	onSQLite(t, nil, func(t *testing.T, w *world) {
		w.faults(`[{"provider":"twilio","times":1,"do":{"status":429,"headers":{"Retry-After":"120"}}}]`)
		for i := range 20 {
			w.phone(fmt.Sprintf("u_%d", i), i)
		}
		var ids []string
		begin := time.Now()
		for len(w.throttled()) == 0 { // until the first is drawn for it
			ids = append(ids, w.post(code(fmt.Sprintf("u_%d", len(ids)))))
			time.Sleep(time.Second)
		}
		calls := w.sim.Stats()["twilio"].Requests
		for i := range 20 {
			ids = append(ids, w.post(code(fmt.Sprintf("u_%d", i))))
		}
		for _, id := range ids {
			w.until(id, "sent", 5*time.Second)
		}
		if now := w.sim.Stats()["twilio"].Requests; now != calls {
			t.Errorf("it was called %d times in the pause that it asked for", now-calls)
		}
		time.Sleep(time.Until(begin.Add(150 * time.Second)))
		var last []string
		for i := range 20 {
			last = append(last, w.post(code(fmt.Sprintf("u_%d", i))))
		}
		time.Sleep(time.Second)
		for _, id := range last {
			if s := w.trail(id); s.Status != "sent" && s.Status != "delivered" {
				t.Errorf("%+v", s)
			}
		}
		if now := w.sim.Stats()["twilio"].Requests; now == calls {
			t.Error("it is not called after its pause")
		}
		w.onceEach(len(ids) + 20)
	})
}

// throttled are what the provider of texts has refused for now.
func (w *world) throttled() []struct{} { return make([]struct{}, w.sim.Stats()["twilio"].Rejects) }

func TestTooManyPushesToOneDeviceConcernNoOther(t *testing.T) {
	onSQLite(t, nil, func(t *testing.T, w *world) {
		busy := w.device("u_busy", 1)
		w.device("u_other", 2)
		w.faults(fmt.Sprintf(`[{"provider":"apns","address":%q,"times":1,"do":{"status":429,"reason":"TooManyRequests","headers":{"Retry-After":"30"}}}]`, busy))
		first := w.post(shipped("u_busy", nil))
		time.Sleep(time.Second)
		calls := w.sim.Stats()["apns"].Requests
		second := w.post(shipped("u_busy", nil))
		other := w.post(shipped("u_other", nil))
		w.until(other, "sent", time.Second)
		if n := w.sim.Stats()["apns"].Requests - calls; n != 1 {
			t.Errorf("%d calls, want that for the other device alone", n)
		}
		w.until(first, "sent", time.Minute)
		if s := w.until(second, "sent", time.Minute); s.outcomes() != "ok" {
			t.Errorf("the second push to the device cost attempts: %s", s.outcomes())
		}
		w.onceEach(3)
	})
}

func TestAWrongEnvironmentCostsNobodyTheirDevice(t *testing.T) {
	for _, answer := range []struct{ why, provider, do string }{
		{"all tokens belong to the other environment", "apns", `{"status":400,"reason":"BadDeviceToken"}`},
		{"all tokens are gone, it says", "apns", `{"status":410,"reason":"Unregistered"}`},
		{"all tokens belong to another project", "fcm", `{"status":403,"reason":"SENDER_ID_MISMATCH"}`},
	} {
		t.Run(answer.why, func(t *testing.T) {
			onSQLite(t, nil, func(t *testing.T, w *world) {
				const users = 60
				for i := range users {
					if answer.provider == "apns" {
						w.device(fmt.Sprintf("u_%d", i), i)
					} else {
						w.android(fmt.Sprintf("u_%d", i), i)
					}
				}
				w.faults(fmt.Sprintf(`[{"provider":%q,"do":%s}]`, answer.provider, answer.do))
				for range 2 { // an address with two strikes would be out of use
					for i := range users {
						w.post(shipped(fmt.Sprintf("u_%d", i), nil))
					}
					time.Sleep(3 * time.Minute)
				}
				w.sim.ClearFaults()
				reached := 0
				for i := range users {
					id := w.post(shipped(fmt.Sprintf("u_%d", i), nil))
					time.Sleep(20 * time.Millisecond)
					if w.trail(id).Status == "sent" {
						reached++
					}
				}
				if reached < users-21 {
					t.Errorf("%d of %d users can still be reached", reached, users)
				}
			})
		})
	}
}
