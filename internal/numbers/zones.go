package numbers

import (
	_ "embed"
	"strings"
)

// zoneTable gives the time zones of numbers by their leading digits, as in "Europe/Madrid
// Atlantic/Canary: 34". The likeliest zone comes first. The facts are those of libphonenumber
// 9.0.32 (resources/timezones/map_data.txt, Apache-2.0), which spares us its 8 MB of memory: cut to
// area codes of North America and five digits elsewhere, without entries that say what a shorter
// one says, and with one name for zones whose clocks never differ.
//
//go:embed zones.txt
var zoneTable string

// longestPrefix is the most digits an entry of the table has.
const longestPrefix = 5

// An Area is where phone numbers that begin alike are at home.
type Area struct {
	Zones []string // IANA names, the likeliest first; never empty
}

// areas is zoneTable by leading digits.
var areas = func() map[string]*Area {
	byDigits := map[string]*Area{}
	for line := range strings.Lines(zoneTable) {
		names, prefixes, _ := strings.Cut(line, ":")
		area := &Area{Zones: strings.Fields(names)}
		for _, digits := range strings.Fields(prefixes) {
			byDigits[digits] = area
		}
	}
	return byDigits
}()

// AreaOf is the area of a phone number in E.164; nil: none is known.
func AreaOf(phone string) *Area {
	area, _ := longest(areas, phone, longestPrefix)
	return area
}
