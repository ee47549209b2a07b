package preferences_test

import (
	"testing"

	"tidings"
	"tidings/preferences"
)

func TestTheZoneOfAUserIsTheirOwnThenThatOfTheirPhoneThenTheDefault(t *testing.T) {
	zones, err := preferences.NewZones("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		why    string
		user   tidings.User
		want   string
		called int // in how many zones a phone of theirs may ring
	}{
		{"nothing is known", tidings.User{}, "Asia/Tokyo", 1},
		{"their own goes first", tidings.User{Timezone: "Europe/Berlin", Phone: "+12125550100"}, "Europe/Berlin", 1},
		{"an area code", tidings.User{Phone: "+12125550100"}, "America/New_York", 1},
		{"a country over several zones: the likeliest", tidings.User{Phone: "+6280555010"}, "Asia/Jakarta", 2},
		{"a number of no country", tidings.User{Phone: "+88215550100"}, "Asia/Tokyo", 1},
		{"a zone that has gone from the data", tidings.User{Timezone: "Mars/Olympus", Phone: "+4915755501000"}, "Europe/Berlin", 1},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			for range 2 { // found, and remembered
				if got := zones.Of(&c.user); got.String() != c.want {
					t.Errorf("lives by %s, want %s", got, c.want)
				}
				called := zones.Called(&c.user, c.user.Phone)
				if len(called) != c.called || called[0].String() != c.want {
					t.Errorf("is called in %v, want %d, the first %s", called, c.called, c.want)
				}
			}
		})
	}
}

func TestNoZonesAreUTC(t *testing.T) {
	var none *preferences.Zones
	if u := (&tidings.User{Timezone: "Europe/Berlin"}); none.Of(u).String() != "UTC" || none.Called(u, "")[0].String() != "UTC" {
		t.Error("zones that nobody made know more than UTC")
	}
}
