package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"tidings/api/strict"
	"tidings/api/wire"
)

// The cost of one event: with intake and the log, and of the API alone: key, body, answer, log.
func BenchmarkPostEvent(b *testing.B) {
	s := newBench(b)
	body := `{"type":"order.shipped","user":{"id":"u_4711","email":"ann@example.test"},"data":{"order":"4711","carrier":"UPS"},"dedupe_key":"order-4711-shipped","channels":["push","email"],"expires_in":"24h","collapse_key":"order-4711"}`
	b.Run("whole", func(b *testing.B) { post(b, s, body, 202) })
	b.Run("refused before intake", func(b *testing.B) { post(b, s, strings.Replace(body, `"24h"`, `"24d"`, 1), 422) })
}

func post(b *testing.B, s *bench, body string, status int) {
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/events", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+allKey+"."+secret)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != status && w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
		s.log.Reset()
	}
}

func BenchmarkReadEvent(b *testing.B) {
	body := []byte(`{"type":"order.shipped","user":{"id":"u_4711","email":"ann@example.test"},"data":{"order":"4711","carrier":"UPS"},"dedupe_key":"order-4711-shipped","channels":["push","email"],"expires_in":"24h","collapse_key":"order-4711"}`)
	b.ReportAllocs()
	for b.Loop() {
		var e wire.Event
		if strict.Check(body) != nil || strict.Read(body, &e) != nil {
			b.Fatal("refused")
		}
	}
}
