package observe

import (
	"strings"
	"unicode/utf8"

	"tidings"
)

// Masked is an address as people and logs may see it: enough to tell two apart, not enough to
// reach anybody. E-mail keeps the first letter and the domain, a phone number its first three
// and last two digits, a token or URL its ends.
func Masked(c tidings.Channel, value string) string {
	if c == tidings.Email {
		local, domain, ok := strings.Cut(value, "@")
		first, size := utf8.DecodeRuneInString(local)
		if !ok || size == 0 {
			return "***"
		}
		return string(first) + "***@" + domain
	}
	head, tail := 4, 2
	if c == tidings.SMS {
		head = 3
	}
	if len(value) < 2*(head+tail) {
		return "***"
	}
	return value[:head] + "***" + value[len(value)-tail:]
}
