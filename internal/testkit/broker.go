package testkit

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// A Broker is a nats-server beside the service, reached in memory or by TCP. It can be stopped
// and started on its files, or on none.
type Broker struct {
	t   testing.TB
	dir string
	tcp bool

	mu   sync.Mutex
	now  *natsserver.Server // guarded by mu; nil: stopped
	port int                // guarded by mu; of TCP, once known
}

// BrokerURL is the address of a broker in memory: a number, since looking up names leaves a bubble.
const BrokerURL = "nats://192.0.2.1:4222"

// NewBroker starts a broker in memory; its Dial reaches it.
func NewBroker(t testing.TB) *Broker { return newBroker(t, false) }

// NewTCPBroker starts a broker on a port of this machine, which it keeps.
func NewTCPBroker(t testing.TB) *Broker { return newBroker(t, true) }

func newBroker(t testing.TB, tcp bool) *Broker {
	t.Helper()
	b := &Broker{t: t, dir: t.TempDir(), tcp: tcp, port: natsserver.RANDOM_PORT}
	b.Start()
	return b
}

// Start starts the broker on its files.
func (b *Broker) Start() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := natsserver.NewServer(&natsserver.Options{ServerName: "broker", Host: "127.0.0.1", Port: b.port, DontListen: !b.tcp,
		NoSigs: true, NoLog: true, JetStream: true, StoreDir: b.dir, JetStreamMaxStore: 1 << 30})
	if err != nil {
		b.t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		b.t.Fatal("the broker does not start")
	}
	if a, ok := s.Addr().(*net.TCPAddr); b.tcp && ok {
		b.port = a.Port
	}
	b.now = s
}

// Stop stops the broker; its clients lose their connections.
func (b *Broker) Stop() {
	b.mu.Lock()
	s := b.now
	b.now = nil
	b.mu.Unlock()
	if s != nil {
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// LoseFiles deletes all that a stopped broker has stored.
func (b *Broker) LoseFiles() {
	b.t.Helper()
	if err := os.RemoveAll(b.dir); err != nil {
		b.t.Fatal(err)
	}
}

// URL is where clients connect.
func (b *Broker) URL() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tcp && b.now != nil {
		return b.now.ClientURL()
	}
	return BrokerURL
}

// Dial connects to a broker in memory.
func (b *Broker) Dial(string, string) (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil {
		return nil, errors.New("connection refused")
	}
	return b.now.InProcessConn()
}
