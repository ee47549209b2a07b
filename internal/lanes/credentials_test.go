package lanes

import (
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// pair is a new pair of keys and its public half.
func pair(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	keys, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := keys.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return keys, public
}

func signed(t *testing.T, c jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	token, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// operated runs a server that trusts an operator, and gives credentials for it as a file holds them.
func operated(t *testing.T) (*natsserver.Server, string) {
	t.Helper()
	operator, operatorID := pair(t, nkeys.CreateOperator)
	_, systemID := pair(t, nkeys.CreateAccount)
	account, accountID := pair(t, nkeys.CreateAccount)
	user, userID := pair(t, nkeys.CreateUser)

	trusted := jwt.NewOperatorClaims(operatorID)
	trusted.SystemAccount = systemID
	signed(t, trusted, operator)
	resolver := &natsserver.MemAccResolver{}
	for id, limits := range map[string]jwt.JetStreamLimits{
		systemID: {}, accountID: {MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit},
	} {
		claims := jwt.NewAccountClaims(id)
		claims.Limits.JetStreamLimits = limits
		if err := resolver.Store(id, signed(t, claims, operator)); err != nil {
			t.Fatal(err)
		}
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	credentials, err := jwt.FormatUserConfig(signed(t, jwt.NewUserClaims(userID), account), seed)
	if err != nil {
		t.Fatal(err)
	}
	s := ready(t, serve(t, natsserver.Options{
		TrustedOperators: []*jwt.OperatorClaims{trusted}, SystemAccount: systemID, AccountResolver: resolver,
	}))
	return s, string(credentials)
}

func TestAnExternalBrokerIsReachedWithCredentials(t *testing.T) {
	s, credentials := operated(t)
	url := "nats://" + s.Addr().String()
	l := open(t, Settings{URL: url, Credentials: credentials})
	defer closeLanes(t, l)
	publish(t, l, bulk, time.Now(), ids(3))
	if got := fetch(t, l, bulk, 10); len(got) != 1 || len(got[0].IDs) != 3 {
		t.Errorf("fetched %+v", got)
	}
	_, others := operated(t)
	for why, wrong := range map[string]string{"none": "", "those of another operator": others} {
		if l, err := Open(t.Context(), Settings{URL: url, Credentials: wrong, Lanes: l.settings.Lanes, Log: l.log}); err == nil {
			closeLanes(t, l)
			t.Errorf("let in with %s", why)
		}
	}
}
