package observe

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"tidings"
)

// Masked is an address as people and logs may see it: enough to tell two apart, not enough to
// reach anybody. E-mail keeps the domain, and the first letter where there are three or more, a
// phone number its first five and last two characters, a token its ends, a URL its host.
func Masked(c tidings.Channel, value string) string {
	switch c {
	case tidings.Email:
		local, domain, ok := strings.Cut(value, "@")
		_, first := utf8.DecodeRuneInString(local)
		switch {
		case !ok || local == "" || domain == "":
			return "***"
		case utf8.RuneCountInString(local) < 3: // the letter would tell nearly the whole
			return "***@" + domain
		}
		return local[:first] + "***@" + domain
	case tidings.SMS:
		return ends(value, 5, 9, "***")
	case tidings.Webhook:
		if u, err := url.Parse(value); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host + "/…"
		}
	}
	return ends(value, 4, 12, "…")
}

// ends keeps the head and the last two bytes of a value that has the length, and nothing of a
// shorter one.
func ends(value string, head, length int, between string) string {
	if len(value) < length {
		return "***"
	}
	return value[:head] + between + value[len(value)-2:]
}
