package arch

import (
	"regexp"
	"slices"
	"strings"
)

var (
	mailAddress = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9._%+-]*@[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b`)
	phoneNumber = regexp.MustCompile(`\+[1-9][0-9]{8,14}\b`)
)

// nobodysDomains end the names that can never be anybody's (RFC 2606), and those of service
// accounts that our simulators hand out.
var nobodysDomains = []string{".test", ".example", ".invalid", ".localhost", "example.com", "example.net", "example.org", ".gserviceaccount.com"}

// nobodysNumbers are in every number that is reserved for stories: 555 01xx in North America,
// and the ranges of the British regulator.
var nobodysNumbers = []string{"555", "447700900", "442079460"}

func nobodyReal(t *Tree) []Violation {
	var found []Violation
	for _, text := range t.Texts {
		for _, at := range mailAddress.FindAllStringIndex(text.Body, -1) {
			if !slices.ContainsFunc(nobodysDomains, func(end string) bool { return strings.HasSuffix(strings.ToLower(text.Body[at[0]:at[1]]), end) }) {
				found = append(found, text.violation(at, "%s may be somebody's mail address: use example.test"))
			}
		}
		for _, at := range phoneNumber.FindAllStringIndex(text.Body, -1) {
			if !slices.ContainsFunc(nobodysNumbers, func(part string) bool { return strings.Contains(text.Body[at[0]:at[1]], part) }) {
				found = append(found, text.violation(at, "%s may be somebody's phone number: use one with 555"))
			}
		}
	}
	return found
}
