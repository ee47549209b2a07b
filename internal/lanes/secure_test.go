package lanes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// authority is a CA of its own, with a server's certificate for this machine.
func authority(t *testing.T) (*x509.CertPool, tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lanes test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, from, from, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(own)
	return pool, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serve runs a server until the test ends.
func serve(t *testing.T, o natsserver.Options) *natsserver.Server {
	t.Helper()
	o.Host, o.NoSigs, o.NoLog, o.JetStream, o.StoreDir = "127.0.0.1", true, true, true, t.TempDir()
	if o.Port == 0 {
		o.Port = natsserver.RANDOM_PORT
	}
	s, err := natsserver.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { stop(s) })
	return s
}

func ready(t *testing.T, s *natsserver.Server) *natsserver.Server {
	t.Helper()
	if !s.ReadyForConnections(startWait) {
		t.Fatal("the server does not listen")
	}
	return s
}

func TestAnExternalBrokerIsReachedByTLSAndPassword(t *testing.T) {
	roots, cert := authority(t)
	s := ready(t, serve(t, natsserver.Options{
		Username: "tidings", Password: "canary", TLS: true, TLSTimeout: 5,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}))
	address := s.Addr().String()
	l := open(t, Settings{URL: "tls://tidings:canary@" + address, Roots: roots})
	defer closeLanes(t, l)
	publish(t, l, bulk, time.Now(), ids(3))
	if got := fetch(t, l, bulk, 10); len(got) != 1 || len(got[0].IDs) != 3 {
		t.Errorf("fetched %+v", got)
	}
	stranger, _ := authority(t)
	for why, settings := range map[string]Settings{
		"another CA":       {URL: "tls://tidings:canary@" + address, Roots: stranger},
		"the system's CAs": {URL: "tls://tidings:canary@" + address},
		"a wrong password": {URL: "tls://tidings:canary2@" + address, Roots: roots},
		"no password":      {URL: "tls://" + address, Roots: roots},
	} {
		settings.Log, settings.Lanes = slog.New(slog.DiscardHandler), []Spec{{Lane: bulk, MaxIDs: 100, AckWait: time.Minute, MaxInHand: 10}}
		refused, err := Open(t.Context(), settings)
		if err == nil {
			_ = refused.Close()
			t.Errorf("%s: it connects", why)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the password is shown: %v", why, err)
		}
	}
}

// freePorts are ports that nobody listens on.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func TestLanesOfAClusterOutliveOneOfItsServers(t *testing.T) {
	ports := freePorts(t, 3)
	var routes []*url.URL
	for _, port := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	var servers []*natsserver.Server
	var urls []string
	for i, port := range ports {
		servers = append(servers, serve(t, natsserver.Options{
			ServerName: fmt.Sprint("n", i), Routes: routes,
			Cluster: natsserver.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port},
		}))
	}
	for _, s := range servers {
		urls = append(urls, "nats://"+ready(t, s).Addr().String())
	}
	eventually(t, func() bool {
		for _, s := range servers {
			if !s.JetStreamIsCurrent() {
				return false
			}
		}
		return servers[0].JetStreamClusterPeers() != nil || servers[1].JetStreamClusterPeers() != nil || servers[2].JetStreamClusterPeers() != nil
	})
	settings := Settings{URL: strings.Join(urls, ","), Replicas: 3, Log: slog.New(slog.DiscardHandler),
		Lanes: []Spec{{Lane: bulk, MaxIDs: 10_000, AckWait: time.Minute, MaxInHand: 100}}}
	var l *Lanes
	eventually(t, func() (opened bool) {
		var err error
		l, err = Open(t.Context(), settings)
		return err == nil
	})
	defer closeLanes(t, l)
	info, err := l.lanes[bulk].stream.Info(t.Context())
	if err != nil || info.Config.Replicas != 3 || len(info.Cluster.Replicas) != 2 {
		t.Fatalf("the lane is kept as %+v, %v", info, err)
	}
	publish(t, l, bulk, time.Now(), ids(3))
	stop(servers[0])
	after := ids(2)
	eventually(t, func() bool {
		failed, err := l.Publish(t.Context(), bulk, time.Now(), after)
		return err == nil && len(failed) == 0
	})
	got := 0
	eventually(t, func() bool { // once the others have agreed on who leads the consumer
		got += len(drain(t, l, time.Second))
		return got >= 5
	})
}
