package api

import (
	"fmt"
	"strings"

	"tidings"
	"tidings/api/wire"
)

// The lengths of tokens.
const (
	minAPNsToken = 64
	maxAPNsToken = 200
	maxFCMToken  = 4096
)

// token is the provider and the token of a push address, in the form in which it is kept.
func (s *service) token(in *wire.NewAddress) (provider, token string, err error) {
	p, known := s.Providers[string(in.Provider)]
	if !known || !p.Tokens || p.Channel != tidings.Push {
		return "", "", invalid("/provider", "is not a configured push provider")
	}
	switch p.Type {
	case "apns":
		token = strings.ToLower(in.Token)
		if len(token) < minAPNsToken || len(token) > maxAPNsToken || strings.Trim(token, "0123456789abcdef") != "" {
			return "", "", invalid("/token", fmt.Sprintf("must be %d to %d hexadecimal digits", minAPNsToken, maxAPNsToken))
		}
	default:
		token = in.Token
		if token == "" || len(token) > maxFCMToken || strings.ContainsFunc(token, unprintable) {
			return "", "", invalid("/token", fmt.Sprintf("must be 1 to %d printable ASCII characters", maxFCMToken))
		}
	}
	return p.Name, token, nil
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }
