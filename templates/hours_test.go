package templates

import (
	"strings"
	"testing"
	"time"

	"tidings"
)

const marketing = `categories: {offers: {kind: marketing}, orders: {kind: transactional}}
events:
  offer.weekly: {category: offers, channels: [sms]}
  order.shipped: {category: orders, channels: [sms]}
`

func hoursOf(t *testing.T, windows string) (*Catalogue, error) {
	t.Helper()
	return Parse(map[string]string{
		"catalog.yaml": windows + marketing, "templates/offer.weekly/sms.en.txt": "New offers", "templates/order.shipped/sms.en.txt": "On its way",
	})
}

func TestWindowsAreReadByCountryAndDay(t *testing.T) {
	c, err := hoursOf(t, `windows: {US: {daily: "08:00-20:00"}, FR: {mon-sat: "08:00-20:00", sat: "10:00-24:00"}, JO: always, "*": {fri: never, mon: "09:00-09:30"}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	w := c.Events["offer.weekly"].Windows
	for _, x := range []struct {
		country  string
		day      time.Weekday
		from, to int
	}{
		{"US", time.Sunday, 480, 1200}, {"FR", time.Sunday, 0, 0}, {"FR", time.Monday, 480, 1200}, {"FR", time.Saturday, 600, 1440},
		{"JO", time.Friday, 0, 1440}, {"*", time.Friday, 0, 0}, {"*", time.Monday, 540, 570},
	} {
		if got := w[x.country][x.day]; got != (tidings.Span{From: x.from, To: x.to}) {
			t.Errorf("%s on %s: %+v", x.country, x.day, got)
		}
	}
	if got := c.Events["order.shipped"].Windows; got != nil {
		t.Errorf("what is no marketing has windows: %v", got)
	}
}

func TestWindowsThatCannotBeMeantAreRefused(t *testing.T) {
	for windows, want := range map[string]string{
		`{XX: always}`:                  "is not a country",
		`{us: always}`:                  "is not a country",
		`{US: {daily: "20:00-08:00"}}`:  "is not a span of a day",
		`{US: {daily: "8-20"}}`:         "is not a span of a day",
		`{US: {sunday: "08:00-20:00"}}`: "sunday",
		`{US: {daily: never}}`:          "is never open",
		`{US: sometimes}`:               "window US",
	} {
		if _, err := hoursOf(t, "windows: "+windows+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", windows, err, want)
		}
	}
}
