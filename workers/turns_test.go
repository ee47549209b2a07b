package workers

import (
	"testing"
	"time"
)

func TestDeliveriesComeBackAtThePaceOfTheProvider(t *testing.T) {
	var l turns
	now := start
	for range 12 * 100 { // two hundred a second
		now = now.Add(5 * time.Millisecond)
		l.succeeded(now)
	}
	var last time.Time
	for range 1000 {
		last = l.take(now, 0)
	}
	if span := last.Sub(now); span < 4500*time.Millisecond || span > 5500*time.Millisecond {
		t.Errorf("a thousand come back within %v, want five seconds", span)
	}
	if first := l.take(now.Add(time.Minute), 0); first.Before(now.Add(time.Minute)) {
		t.Errorf("a turn before its earliest time")
	}
	l.again()
	if first := l.take(now, 0); first.After(now.Add(busy)) {
		t.Errorf("after all turns are forgotten the first is in %v", first.Sub(now))
	}
}

func TestARateBoundsThePaceAndAnIdleProviderHasOne(t *testing.T) {
	for most, want := range map[float64]time.Duration{0: time.Second / slowest, 10: 100 * time.Millisecond} {
		var l turns
		l.take(start, most)
		if got := l.next.Sub(start); got != want {
			t.Errorf("at most %v a second: a turn every %v, want %v", most, got, want)
		}
	}
}
