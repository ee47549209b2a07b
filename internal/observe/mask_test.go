package observe_test

import (
	"testing"

	"tidings"
	"tidings/internal/observe"
)

func TestAddressesAreMaskedByTheirKind(t *testing.T) {
	tests := []struct {
		channel     tidings.Channel
		value, want string
		why         string
	}{
		{tidings.Email, "ann@example.test", "a***@example.test", "the domain tells which server was asked"},
		{tidings.Email, "äther@example.test", "ä***@example.test", "letters are not bytes"},
		{tidings.Email, "@example.test", "***", "nothing to show"},
		{tidings.Email, "nonsense", "***", "what is no address is hidden whole"},
		{tidings.SMS, "+15550100", "+1555***00", "country, area and end"},
		{tidings.Email, "a@example.test", "***@example.test", "one letter would be the whole"},
		{tidings.Email, "an@example.test", "***@example.test", "one of two would be nearly the whole"},
		{tidings.Email, "ann@", "***", "no domain to show"},
		{tidings.Webhook, "https://hooks.example.test/secret?x=1", "https://hooks.example.test/…", "the path may be a secret"},
		{tidings.SMS, "+155501", "***", "too short to hide a part"},
		{tidings.Push, "dead56789abcde0f", "dead…0f", "both ends of a token"},
		{tidings.Push, "short", "***", "too short to hide a part"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := observe.Masked(tt.channel, tt.value); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
