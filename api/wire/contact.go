package wire

import (
	"path"
	"strings"
	"time"
	_ "time/tzdata" // zones are known without files of the system

	"golang.org/x/net/idna"

	"tidings/api/strict"
)

// The patterns of contacts, as the document shows them.
const (
	phonePattern  = `^\+[1-9][0-9]{6,14}$`
	localePattern = `^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`
)

// The longest parts of an e-mail address (RFC 5321, section 4.5.3.1).
const (
	maxEmail = 254
	maxLocal = 64
	maxLabel = 63
)

// An Email is one e-mail address without a display name. Its domain is kept in small letters and in
// its ASCII form (bücher.test is xn--bcher-kva.test), since mail servers read it in any case and one
// mailbox must be one address; a dot at its end, which only says that the name is whole, is left out.
type Email string

// ReadJSON reads the address.
func (e *Email) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok {
		s = strings.TrimSuffix(asciiDomain(s), ".")
	}
	if ok && !isEmail(s) {
		in.Report("must be one e-mail address such as ann@example.test")
		return
	}
	local, domain, _ := strings.Cut(s, "@")
	*e = Email(local + "@" + strings.ToLower(domain))
}

// asciiDomain is the address with its domain in the form that mail servers know (RFC 5891): the
// spellings of a domain with other letters are one. What is no such domain stays as it is.
func asciiDomain(s string) string {
	local, domain, found := strings.Cut(s, "@")
	if !found || len(s) > maxEmail {
		return s
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || ascii == "" {
		return s
	}
	return local + "@" + ascii
}

// Schema is the rule in words of JSON Schema.
func (Email) Schema() map[string]any {
	return map[string]any{"type": "string", "format": "email", "maxLength": maxEmail}
}

// isEmail takes what mail servers take in practice: no quoting, comments, address literals or
// characters outside ASCII.
func isEmail(s string) bool {
	local, domain, found := strings.Cut(s, "@")
	if !found || len(s) > maxEmail || local == "" || len(local) > maxLocal {
		return false
	}
	for i := range len(local) {
		if c := local[i]; c <= ' ' || c > '~' || strings.IndexByte(`()<>[]:;@\,"`, c) >= 0 {
			return false
		}
	}
	if local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, "..") {
		return false
	}
	return isDomain(domain)
}

func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && (!nameByte(c) || c == '_' || c == ':' || c == '@') {
				return false
			}
		}
	}
	return len(labels) > 1
}

// A Phone is a phone number in E.164 form.
type Phone string

// ReadJSON reads the number.
func (p *Phone) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok && !isPhone(s) {
		in.Report("must be a phone number with its country's code, such as +15550100")
		return
	}
	*p = Phone(s)
}

// Schema is the rule in words of JSON Schema.
func (Phone) Schema() map[string]any {
	return map[string]any{"type": "string", "pattern": phonePattern}
}

func isPhone(s string) bool {
	if len(s) < 8 || len(s) > 16 || s[0] != '+' || s[1] == '0' {
		return false
	}
	return strings.Trim(s[1:], "0123456789") == ""
}

// A Locale is a language tag such as "de" or "pt-BR" (BCP 47).
type Locale string

// ReadJSON reads the tag.
func (l *Locale) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok && !isLocale(s) {
		in.Report("must be a language tag such as de or pt-BR")
		return
	}
	*l = Locale(s)
}

// Schema is the rule in words of JSON Schema.
func (Locale) Schema() map[string]any {
	return map[string]any{"type": "string", "pattern": localePattern, "maxLength": 35}
}

func isLocale(s string) bool {
	if len(s) > 35 {
		return false
	}
	for i, part := range strings.Split(s, "-") {
		if len(part) == 0 || len(part) > 8 || i == 0 && len(part) < 2 {
			return false
		}
		for j := range len(part) {
			c := part[j]
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if !letter && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// A Zone is a time zone by its IANA name.
type Zone string

// ReadJSON reads the name.
func (z *Zone) ReadJSON(in *strict.Input) {
	s, ok := in.String()
	if ok && !isZone(s) {
		in.Report("must be the IANA name of a time zone such as Europe/Berlin")
		return
	}
	*z = Zone(s)
}

// Schema is the rule in words of JSON Schema.
func (Zone) Schema() map[string]any {
	return map[string]any{"type": "string", "description": "IANA name of a time zone."}
}

// isZone refuses what package time takes beyond IANA names: paths with idle parts, and what the
// zone files of some systems hold besides (copies with and without leap seconds, their own zone).
func isZone(s string) bool {
	folder, _, _ := strings.Cut(s, "/")
	switch folder {
	case "", "Local", "localtime", "posix", "posixrules", "right", "Factory":
		return false
	}
	if len(s) > 64 || path.Clean(s) != s {
		return false
	}
	_, err := time.LoadLocation(s) // refuses the other paths
	return err == nil
}
