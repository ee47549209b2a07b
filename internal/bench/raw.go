package bench

//lint:file-ignore SA1019 the raw loop is measured with the transport that the push client uses, x/net/http2.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sideshow/apns2"
	"github.com/sideshow/apns2/token"
	"golang.org/x/net/http2"

	"tidings/channels/simulator"
)

// rawConns is how many connections the raw loop spreads its calls over.
const rawConns = 2

// A rawLoop pushes with the stock client and nothing else: what the service is compared to.
type rawLoop struct {
	clients []*apns2.Client
	topic   string
}

func newRawLoop(p simulator.Provider) (*rawLoop, error) {
	pem, err := os.ReadFile(p.Get("ca_file"))
	if err != nil {
		return nil, fmt.Errorf("read the simulator's authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the simulator's authority holds no certificate")
	}
	key, err := token.AuthKeyFromFile(p.Get("key_file"))
	if err != nil {
		return nil, fmt.Errorf("read the simulator's key: %w", err)
	}
	l := &rawLoop{topic: p.Get("topic")}
	for range rawConns {
		c := apns2.NewTokenClient(&token.Token{AuthKey: key, KeyID: p.Get("key_id"), TeamID: p.Get("team_id")})
		c.Host = p.Get("endpoint")
		transport, ok := c.HTTPClient.Transport.(*http2.Transport)
		if !ok {
			return nil, errors.New("the stock client has another transport than expected")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		l.clients = append(l.clients, c)
	}
	return l, nil
}

// push sends n pushes, callers at once.
func (l *rawLoop) push(ctx context.Context, n int) error {
	var next atomic.Int64
	errs := make([]error, callers)
	var calling sync.WaitGroup
	for c := range callers {
		calling.Go(func() {
			client := l.clients[c%len(l.clients)]
			for i := next.Add(1); i <= int64(n) && errs[c] == nil; i = next.Add(1) {
				errs[c] = l.one(ctx, client, int(i))
			}
		})
	}
	calling.Wait()
	return errors.Join(errs...)
}

func (l *rawLoop) one(ctx context.Context, client *apns2.Client, i int) error {
	res, err := client.PushWithContext(ctx, &apns2.Notification{
		DeviceToken: deviceToken(i % users), Topic: l.topic, PushType: apns2.PushTypeAlert,
		Payload: []byte(`{"aps":{"alert":{"title":"On its way","body":"Order 77777777 has left with UPS."},"sound":"default"}}`),
	})
	switch {
	case err != nil:
		return err
	case !res.Sent():
		return fmt.Errorf("APNs answered %d %s", res.StatusCode, res.Reason)
	}
	return nil
}

func (l *rawLoop) close() {
	for _, c := range l.clients {
		c.HTTPClient.CloseIdleConnections()
	}
}
