package simulator

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheFirstRuleThatMatchesIsTheOnlyOne(t *testing.T) {
	var f faults
	err := f.set([]Rule{
		{Provider: "fcm", Do: Do{Status: 500}},
		{Provider: "apns", Address: "0a*", Times: 2, Do: Do{Status: 429}},
		{Provider: "apns", Address: "*ff", Do: Do{Status: 410}},
		{Provider: "apns", Times: 1, Do: Do{Status: 503}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		address string
		status  int
		why     string
	}{
		{"0aff", 429, "the first that matches, though the third does too"},
		{"1234", 503, "the last is for all addresses"},
		{"1234", 0, "and spent after one"},
		{"0a00", 429, "the second match"},
		{"0aff", 410, "the first is spent, so the next that matches"},
		{"0a00", 0, "nothing is left for it"},
	} {
		if got := f.match("apns", c.address).Status; got != c.status {
			t.Errorf("request %d to %s: %d, want %d: %s", i, c.address, got, c.status, c.why)
		}
	}
}

func TestAShareIsOfTheRequests(t *testing.T) {
	var f faults
	if err := f.set([]Rule{{Provider: "apns", Share: 0.25, Do: Do{Status: 503}}}); err != nil {
		t.Fatal(err)
	}
	hit := 0
	for range 4000 {
		if f.match("apns", "x").Status != 0 {
			hit++
		}
	}
	if hit < 800 || hit > 1200 { // seven standard deviations
		t.Errorf("%d of 4000 for a quarter", hit)
	}
}

func TestGoAwayComesAtEverySoManyMatches(t *testing.T) {
	var f faults
	if err := f.set([]Rule{{Provider: "apns", Do: Do{GoAway: 3}}}); err != nil {
		t.Fatal(err)
	}
	var at []int
	for i := 1; i <= 9; i++ {
		if f.match("apns", "x").goAway {
			at = append(at, i)
		}
	}
	if len(at) != 3 || at[0] != 3 || at[1] != 6 || at[2] != 9 {
		t.Errorf("at requests %v", at)
	}
}

func TestGlobAgreesWithItsDefinition(t *testing.T) {
	// means is the definition: * stands for any run of characters.
	var means func(pattern, text string) bool
	means = func(pattern, text string) bool {
		switch {
		case pattern == "":
			return text == ""
		case pattern[0] == '*':
			return means(pattern[1:], text) || text != "" && means(pattern, text[1:])
		}
		return text != "" && text[0] == pattern[0] && means(pattern[1:], text[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,6}`).Draw(t, "pattern")
		text := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "text")
		if got := glob(pattern, text); got != means(pattern, text) {
			t.Errorf("glob(%q, %q) = %t", pattern, text, got)
		}
	})
}

func TestAReportOfAStatusThatTheVendorHasNotIsRefused(t *testing.T) {
	for text, ok := range map[string]bool{
		"delivered": true, "canceled": true, "failed": true, "failed:30005": true, "undelivered:30003": true,
		"": false, "lost": false, "Delivered": false, "received": false, "failed:": false, "failed:-1": false, "sent:30005": false, ":30005": false,
	} {
		if err := twilioReports(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
