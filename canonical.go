package tidings

import "strings"

// Canonical is the form in which all spellings of one address are equal. An e-mail address has no
// case: its domain by RFC 5321, section 2.3.5, and what stands before it in practice, for no
// provider of mailboxes tells Ann@ from ann@, and an opt-out of one must count for the other. A dot
// at the end of the domain says nothing. The domain is in its ASCII form already, and a phone number
// in E.164 form, since nothing else is taken. All else is what it is.
func Canonical(c Channel, value string) string {
	if c == Email {
		return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(value)), ".")
	}
	return value
}
