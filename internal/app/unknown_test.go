package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tidings/internal/config"
)

// oneProvider leaves texts one provider, and a catalogue with an event type for each rule.
func oneProvider(t *testing.T) func(*config.Config) {
	return func(c *config.Config) {
		dir := filepath.Join(c.DataDir, "rules")
		files := map[string]string{"catalog.yaml": `default_locale: en
categories: {news: {kind: transactional}}
events:
  rule.retry: {category: news, channels: [sms], lane: priority, on_unknown: retry}
  rule.give_up: {category: news, channels: [sms], lane: priority, on_unknown: give_up}
  rule.wait_retry: {category: news, channels: [sms], lane: priority, on_unknown: {wait_receipt: 2m, then: retry}}
  rule.wait_give_up: {category: news, channels: [sms], lane: priority, on_unknown: {wait_receipt: 2m, then: give_up}}
`}
		for _, rule := range []string{"retry", "give_up", "wait_retry", "wait_give_up"} {
			files["templates/rule."+rule+"/sms.en.txt"] = "News for you.\n"
		}
		for name, text := range files {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c.Catalog = dir
		c.Routes["sms"] = []config.Route{{Countries: []string{"*"}, Providers: []config.Weighted{{Name: "twilio"}}}}
	}
}

func TestAnAcceptedTextWhoseAnswerWasLostFollowsEachRuleWithAndWithoutAReceipt(t *testing.T) {
	const none, late = `{"none":true}`, `{"delay":"30s","order":["delivered"]}`
	tests := []struct {
		rule, receipts   string
		accepts          int
		status, outcomes string
	}{
		{"retry", none, 2, "delivered", "unknown ok"}, // the second has receipts
		{"retry", late, 2, "delivered", "unknown ok"},
		{"give_up", none, 1, "unknown", "unknown"},
		{"give_up", late, 1, "delivered", "unknown"},
		{"wait_retry", none, 2, "delivered", "unknown ok"},
		{"wait_retry", late, 1, "delivered", "unknown"},
		{"wait_give_up", none, 1, "unknown", "unknown"},
		{"wait_give_up", late, 1, "delivered", "unknown"},
	}
	onSQLite(t, oneProvider(t), func(t *testing.T, w *world) {
		for i, tt := range tests {
			user := fmt.Sprintf("u_%d", i)
			w.phone(user, i)
			w.faults(`[{"provider":"twilio","times":1,"do":{"reset":"after"},"receipts":` + tt.receipts + `}]`)
			begin := time.Now()
			id := w.post(map[string]any{"type": "rule." + tt.rule, "user": user, "data": map[string]any{}})
			time.Sleep(4 * time.Minute)
			s := w.trail(id)
			d := s.Deliveries[0]
			if d.Status != tt.status || s.outcomes() != tt.outcomes || !d.Final {
				t.Errorf("%s, receipts %s: %s, attempts %s", tt.rule, tt.receipts, d.Status, s.outcomes())
			}
			if n := w.accepts()[d.ID]; n != tt.accepts {
				t.Errorf("%s, receipts %s: accepted %d times, want %d (begun %v)", tt.rule, tt.receipts, n, tt.accepts, begin)
			}
		}
	})
}

// fallback leaves texts two providers, which are tried in this order.
func fallback(t *testing.T) func(*config.Config) {
	return func(c *config.Config) {
		oneProvider(t)(c)
		c.Routes["sms"][0].Providers = []config.Weighted{{Name: "twilio"}, {Name: "aws-sms"}}
	}
}

func TestAfterTheWaitForAReceiptTheNextProviderIsTried(t *testing.T) {
	onSQLite(t, fallback(t), func(t *testing.T, w *world) {
		w.phone("u_1", 1)
		w.faults(`[{"provider":"twilio","do":{"hang":"1h"}}]`)
		id := w.post(map[string]any{"type": "rule.wait_retry", "user": "u_1", "data": map[string]any{}})
		time.Sleep(130 * time.Second) // the time-out and the wait
		s := w.until(id, "sent", 30*time.Second)
		if a := s.Deliveries[0].Attempts; s.outcomes() != "unknown ok" || a[0].Provider != "twilio" || a[1].Provider != "aws-sms" {
			t.Errorf("attempts %+v", a)
		}
	})
}
