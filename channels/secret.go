package channels

import "log/slog"

// A Secret is a credential in a configuration. It prints as *** wherever it is shown; convert
// it to a string to use it.
type Secret string

// String hides the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString hides the secret.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// MarshalText hides the secret, in JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
