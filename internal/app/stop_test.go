package app_test

import (
	"net/http"
	"testing"
	"time"

	"tidings/channels/simulator"
)

// A person writes STOP to the service's number: what the simulated Twilio passes on, signed as the
// real one signs, stops what is posted later; START takes it back.
func TestATextThatSaysStopStops(t *testing.T) {
	onEachDatabase(t, nil, func(t *testing.T, w *world) {
		w.do(http.MethodPut, "/v1/users/u_1", map[string]any{"phone": "+15550123"}, nil)
		for _, c := range []struct {
			why, text string
			forge     bool
			want      string
		}{
			{"a forged stop", "STOP", true, "delivered"},
			{"a question", "HELP", false, "delivered"},
			{"stop", "Stop", false, "suppressed"},
			{"start", "START", false, "delivered"},
		} {
			err := w.sim.Write(t.Context(), simulator.Inbound{Provider: "twilio", From: "+15550123", Text: c.text, Forge: c.forge})
			if err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			id := w.post(map[string]any{"type": "payment.failed", "user": "u_1", "channels": []string{"sms"}, "data": map[string]any{"amount": "12.00", "currency": "EUR"}})
			time.Sleep(5 * time.Second)
			if s := w.trail(id); s.Status != c.want && s.Status != "sent" || s.Status == "sent" && c.want == "suppressed" {
				t.Errorf("after %s: %s (%s), want %s", c.why, s.Status, s.Summary, c.want)
			}
		}
	})
}
