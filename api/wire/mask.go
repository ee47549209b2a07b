package wire

import (
	"net/url"
	"strings"

	"tidings"
)

// Mask is an address as support may see it: enough to tell two apart, too little to use.
func Mask(c tidings.Channel, value string) string {
	switch c {
	case tidings.Email:
		local, domain, _ := strings.Cut(value, "@")
		return ends(local, 1, 0, 2, "***") + "@" + domain
	case tidings.SMS:
		return ends(value, 5, 2, 9, "***")
	case tidings.Webhook:
		if u, err := url.Parse(value); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host + "/…"
		}
	}
	return ends(value, 4, 2, 12, "…")
}

// ends keeps the first and last characters of a value that is at least long, and nothing of a
// shorter one.
func ends(value string, first, last, long int, between string) string {
	if len(value) < long {
		return between
	}
	return value[:first] + between + value[len(value)-last:]
}
