package smtp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/channels/email/smtp"
	"tidings/channels/simulator"
	"tidings/internal/testkit"
)

// certificate is one for a relay, and the roots that trust it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"relay"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// wrap is a relay on port 465: TLS from the first byte, and the simulated relay behind it.
func wrap(t *testing.T, network *testkit.Network, cert tls.Certificate) net.Listener {
	t.Helper()
	l, err := network.Listen("relay:465")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			outer, err := l.Accept()
			if err != nil {
				return
			}
			inner, err := network.Dial(t.Context(), "tcp", "smtp:25")
			if err != nil {
				_ = outer.Close()
				return
			}
			secured := tls.Server(outer, &tls.Config{Certificates: []tls.Certificate{cert}})
			go func() { _, _ = io.Copy(inner, secured); _ = inner.Close() }()
			go func() { _, _ = io.Copy(secured, inner); _ = secured.Close() }()
		}
	}()
	return l
}

func TestTLSFromTheFirstByte(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		network, tape := testkit.NewNetwork(), &simulator.Tape{}
		sim, err := simulator.Start(simulator.Settings{
			Listen: func(vendor string) (net.Listener, error) { return network.Listen(vendor + ":25") },
			Dial:   network.Dial, Ledger: tape, Dir: dir,
		})
		if err != nil {
			t.Fatal(err)
		}
		cert, roots := certificate(t)
		l := wrap(t, network, cert)
		for _, c := range []struct {
			why   string
			roots *x509.CertPool
			want  tidings.Outcome
		}{{"a relay that is trusted", roots, tidings.OK}, {"a relay that nobody vouches for", sim.Roots(), tidings.ConfigFault}} {
			provider, err := smtp.Vendor().Build(
				&smtp.Config{Host: "relay", Port: "465", TLS: "tls", From: "no-reply@example.test"},
				channels.Settings{Name: "smtp", Dial: network.Dial, TLS: &tls.Config{RootCAs: c.roots}})
			if err != nil {
				t.Error(err)
				continue
			}
			_, err = provider.Send(t.Context(), &channels.Message{Address: "ann@example.test", Content: plain})
			if got := outcome(err); got != c.want {
				t.Errorf("%s: %s, want %s", c.why, got, c.want)
			}
			_ = provider.(io.Closer).Close()
		}
		if entries, err := tape.Entries(); err != nil || len(entries) != 1 {
			t.Errorf("%d mails arrived, %v", len(entries), err)
		}
		if err := errors.Join(l.Close(), sim.Close()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

func outcome(err error) tidings.Outcome {
	if err == nil {
		return tidings.OK
	}
	return channels.Classify(err).Fault
}

func TestAnAddressBeyondASCIIGoesToARelayThatTakesIt(t *testing.T) {
	onRelay(t, nil, func(t *testing.T, r *relay) {
		if got := r.send(t, "grüße@example.test", plain); got != tidings.OK {
			t.Fatal(got)
		}
		if to := r.arrived(t, 1)[0].Address; to != "grüße@example.test" {
			t.Errorf("the mail went to %s", to)
		}
	})
}
