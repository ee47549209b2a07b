package app

import (
	"testing"
	"time"

	"tidings/internal/config"
)

func TestAnAppMayPostAtItsRateAndTheOthersAsTheyLike(t *testing.T) {
	q := newQuotas(map[string]config.App{"shop": {RatePerSecond: 2, Burst: 3}, "free": {}, "slow": {RatePerSecond: 0.5}})
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for n := range 3 {
		if wait := q.take("shop", now); wait != 0 {
			t.Errorf("event %d of the burst waits %v", n, wait)
		}
	}
	if wait := q.take("shop", now); wait != 500*time.Millisecond {
		t.Errorf("after the burst: %v", wait)
	}
	if wait := q.take("shop", now.Add(500*time.Millisecond)); wait != 0 {
		t.Errorf("when it was told to come: %v", wait)
	}
	if q.take("slow", now) != 0 || q.take("slow", now) != 2*time.Second {
		t.Error("a rate below one a second lets one through and then none for two seconds")
	}
	for range 1000 {
		if q.take("free", now) != 0 || q.take("unknown", now) != 0 {
			t.Fatal("an app without a quota was refused")
		}
	}
}
