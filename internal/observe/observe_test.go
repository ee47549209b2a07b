package observe_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"tidings/internal/observe"
)

func TestEveryMetricIsShownBeforeItsFirstEvent(t *testing.T) {
	m := observe.NewMetrics("test", []observe.Provider{{Name: "twilio", Channel: "sms"}}, []string{"sms.bulk"})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`tidings_events_total{outcome="accepted"} 0`,
		`tidings_requests_shed_total{code="lane_full"} 0`,
		`tidings_attempts_total{channel="sms",outcome="ok",provider="twilio"} 0`,
		`tidings_deliveries_total{channel="sms",provider="twilio",status="dead"} 0`,
		`tidings_engagement_total{channel="sms",kind="opened",provider="twilio"} 0`,
		`tidings_dead_letters_total{channel="sms",reason="retries_spent"} 0`,
		`tidings_addresses_retired_total{provider="twilio"} 0`,
		`tidings_lane_paused{lane="sms.bulk"} 0`,
		`tidings_breaker_state{provider="twilio"} 0`,
		`tidings_build_info{version="test"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want+"\n") {
			t.Errorf("%s is not shown", want)
		}
	}
}
