package pages

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryLanguageHasEveryText(t *testing.T) {
	all := dictionaries()
	want := slices.Sorted(maps.Keys(all[fallback].texts))
	for lang, w := range all {
		if got := slices.Sorted(maps.Keys(w.texts)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", lang, got, want)
		}
		for name, text := range w.texts {
			if strings.Count(text, "%s") != strings.Count(all[fallback].texts[name], "%s") || strings.TrimSpace(text) == "" {
				t.Errorf("%s says %q for %s", lang, text, name)
			}
		}
	}
}

func TestEveryZoneOfTheListIsOne(t *testing.T) {
	count := 0
	for _, group := range zoneGroups(read("zones.txt")) {
		for _, zone := range group.Zones {
			count++
			if _, err := time.LoadLocation(zone.Value); err != nil || zone.Label == "" {
				t.Errorf("%+v: %v", zone, err)
			}
		}
	}
	if count < 300 {
		t.Errorf("only %d zones", count)
	}
}

func TestALimiterLetsOneMoreThroughInEachSpan(t *testing.T) {
	l, now := newLimiter(), time.Unix(0, 0)
	for i := range burst {
		if !l.take("u_1", now) {
			t.Fatalf("the change number %d was refused", i+1)
		}
	}
	if l.take("u_1", now) || !l.take("u_2", now) {
		t.Error("the limit is not each user's own")
	}
	if now = now.Add(oneMore); !l.take("u_1", now) || l.take("u_1", now) {
		t.Error("a span lets through none, or two")
	}
}
