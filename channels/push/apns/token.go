package apns

import (
	"fmt"
	"time"

	apnstoken "github.com/sideshow/apns2/token"
)

// minTokenAge is how long Apple wants a provider token to be used before the next one:
// "no more than once every 20 minutes", else it answers TooManyProviderTokenUpdates.
const minTokenAge = 20 * time.Minute

// A token is the provider token that all calls with one key share. The SDK mints it, and again
// after 50 minutes.
type token struct{ apnstoken.Token }

func openToken(c Config) (*token, error) {
	key, err := apnstoken.AuthKeyFromFile(c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read key_file: %w", err)
	}
	t := &token{apnstoken.Token{AuthKey: key, KeyID: c.KeyID, TeamID: c.TeamID}}
	if _, err := t.Generate(); err != nil {
		return nil, fmt.Errorf("sign with key_file: %w", err)
	}
	return t, nil
}

// issued is when the token in use was minted.
func (t *token) issued() time.Time {
	t.GenerateIfExpired()
	t.Lock()
	defer t.Unlock()
	return time.Unix(t.IssuedAt, 0)
}

// renew reports whether the next call has another token than the one issued then. It drops a
// token that may be dropped already.
func (t *token) renew(issued, now time.Time) bool {
	t.Lock()
	defer t.Unlock()
	if t.IssuedAt != issued.Unix() {
		return true // another call saw it first
	}
	if now.Sub(issued) < minTokenAge {
		return false
	}
	_, err := t.Generate()
	return err == nil
}
