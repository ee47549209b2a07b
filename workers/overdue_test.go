package workers

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/templates"
)

func TestTheEndOfTheWaitForAReceiptFollowsTheRouteAndSaysWhatItIs(t *testing.T) {
	tests := []struct {
		why       string
		retry     bool
		tries     int
		left      time.Duration
		tried     []string
		status    tidings.Status
		atOnce    bool
		nextTried []string
		said      string
	}{
		{"the next provider is tried at once", true, 1, time.Hour, []string{"one"}, tidings.Parked, true, []string{"one"}, ""},
		{"once all were tried, they begin again after a pause", true, 2, time.Hour, []string{"one", "two"}, tidings.Parked, false, nil, ""},
		{"nobody knows whom a dead process had called", true, 1, time.Hour, nil, tidings.Parked, false, nil, ""},
		{"the rule gives up", false, 1, time.Hour, []string{"one"}, tidings.Unknown, false, nil, "it may have arrived"},
		{"no try is left", true, 3, time.Hour, []string{"one"}, tidings.Unknown, false, nil, "all its tries are spent"},
		{"it is of no use any more", true, 1, 0, []string{"one"}, tidings.Unknown, false, nil, "its time is over"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			d := awaiting(t, tidings.OnUnknown{Wait: time.Minute, Retry: tt.retry})
			o := &store.Overdue{
				Delivery: tidings.Delivery{ID: tidings.DeliveryOf(tidings.NewNotificationID(start), 0), Channel: tidings.SMS, Lane: "sms.bulk",
					Status: tidings.Unknown, ClaimNo: tt.tries, Tries: tt.tries, Tried: tt.tried},
				Address:      tidings.Address{Channel: tidings.SMS, Value: "+15550100"},
				Notification: tidings.Notification{Type: "news", ExpiresAt: start.Add(tt.left)},
			}
			got := d.resolution(o, start)
			if got.Status != tt.status || got.DueAt.Equal(start) != tt.atOnce || !slices.Equal(got.Tried, tt.nextTried) || got.Why != tt.said {
				t.Errorf("%+v", got)
			}
		})
	}
}

// awaiting is a dispatcher of two providers of texts, tried in their order, and an event type with a rule.
func awaiting(t *testing.T, rule tidings.OnUnknown) *dispatcher {
	t.Helper()
	providers := []Provider{{Name: "one", Channel: tidings.SMS, Concurrency: 1}, {Name: "two", Channel: tidings.SMS, Concurrency: 1}}
	router, err := newRouter(providers, nil)
	if err != nil {
		t.Fatal(err)
	}
	catalogue := &templates.Catalogue{Events: map[string]*tidings.EventType{"news": {Name: "news", OnUnknown: &rule}}}
	config := DefaultConfig()
	config.Delivery.MaxAttempts = 3
	w := &Workers{router: router, gates: map[string]*gate{}, Settings: Settings{Config: config, Log: slog.New(slog.DiscardHandler), Providers: providers,
		Catalogue: func(int64) (*templates.Catalogue, error) { return catalogue, nil }}}
	for _, p := range providers {
		w.gates[p.Name] = newGate(p, config.Breaker, config.Delivery.RetryCap, start)
	}
	return &dispatcher{w: w}
}
