package numbers

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the table, as the service has them
)

func TestANumberIsAtHomeInTheZonesOfItsArea(t *testing.T) {
	cases := []struct {
		why, phone, country, first string
		zones                      int
	}{
		{"one country, one zone", "+4915755501000", "DE", "Europe/Berlin", 1},
		{"an area code of New York", "+12125550100", "US", "America/New_York", 1},
		{"an area code of California", "+13105550100", "US", "America/Los_Angeles", 1},
		{"an area code of Hawaii", "+18085550100", "US", "Pacific/Honolulu", 1},
		{"the same plan, another country", "+14165550100", "CA", "America/Toronto", 1},
		{"an area code over two zones, the likelier first", "+18505550100", "US", "America/New_York", 2},
		{"a country over two zones", "+595215550100", "PY", "America/Asuncion", 1},
		{"numbers that do not say where in the country", "+6280555010", "ID", "Asia/Jakarta", 2},
		{"an area code that is given to nobody yet: anywhere in the plan", "+12115550100", "US", "America/New_York", 42},
		{"forty-five minutes off", "+9779855501000", "NP", "Asia/Kathmandu", 1},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			area := AreaOf(c.phone)
			if area == nil || area.Zones[0] != c.first || len(area.Zones) != c.zones {
				t.Errorf("at home in %v, want %s first of %d", area, c.first, c.zones)
			}
			if got := Country(c.phone); got != c.country {
				t.Errorf("country %s, want %s", got, c.country)
			}
		})
	}
}

func TestWhatIsNoNumberIsAtHomeNowhere(t *testing.T) {
	for _, phone := range []string{"", "+", "+0", "+88215550100", "a"} {
		if a, c := AreaOf(phone), Country(phone); a != nil || c != "" {
			t.Errorf("%q is at home in %v, %q", phone, a, c)
		}
	}
}

func TestEveryZoneOfTheTableExists(t *testing.T) {
	for digits, area := range areas {
		if len(digits) > longestPrefix || len(area.Zones) == 0 {
			t.Errorf("%s: %d zones", digits, len(area.Zones))
		}
		for _, name := range area.Zones {
			if _, err := time.LoadLocation(name); err != nil {
				t.Errorf("%s: %v", digits, err)
			}
		}
	}
}

// What has a country has zones, but for codes that are not of one place.
func TestEveryCountryHasZones(t *testing.T) {
	for code, country := range countries {
		if AreaOf("+"+code) == nil {
			t.Errorf("%s, +%s: no zone", country, code)
		}
	}
	if !Known("de") || Known("ZZ") || !slices.Contains([]string{"US"}, Country("+1")) {
		t.Error("countries are not known by their two letters")
	}
}

func TestCountryIsThatOfTheLongestCallingCode(t *testing.T) {
	tests := []struct{ phone, want, why string }{
		{"+15550100123", "US", "a code of its own for most"},
		{"+14165550100", "CA", "an area code of Canada"},
		{"+18765550100", "JM", "an island in the North American plan"},
		{"+77015550100", "KZ", "shares +7"},
		{"+74955550100", "RU", "has the rest of +7"},
		{"+441481555010", "GG", "an island with an area code of its own"},
		{"+442075550100", "GB", "the country around it"},
		{"+390655501000", "IT", "two digits"},
		{"+3585550100", "FI", "three digits"},
		{"+8835550100", "", "an international network has no country"},
		{"", "", "nothing"},
	}
	for _, tt := range tests {
		if got := Country(tt.phone); got != tt.want {
			t.Errorf("%s: %s is of %q, want %q", tt.why, tt.phone, got, tt.want)
		}
	}
}

func TestTheTableOfCallingCodesIsSound(t *testing.T) {
	for code, country := range countries {
		if len(country) != 2 || strings.ToUpper(country) != country || len(code) > longestCode || strings.Trim(code, "0123456789") != "" {
			t.Errorf("%q: %q", code, country)
		}
	}
	if len(countries) < 230 {
		t.Errorf("only %d codes", len(countries))
	}
}
