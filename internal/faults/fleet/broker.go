package fleet

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// A Broker is an external one for the services: a server of this process that listens on the
// network and can be away for a while.
type Broker struct {
	options natsserver.Options
	now     *natsserver.Server
}

// NewBroker starts a broker that keeps its files in dir.
func NewBroker(dir string) (*Broker, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("start the broker: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("start the broker: %w", err)
	}
	b := &Broker{options: natsserver.Options{
		ServerName: "tidings-faults", Host: host, Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: dir,
	}}
	return b, b.Start()
}

// URL is where services reach it.
func (b *Broker) URL() string { return fmt.Sprintf("nats://%s:%d", b.options.Host, b.options.Port) }

// Dir is where it keeps its files.
func (b *Broker) Dir() string { return b.options.StoreDir }

// Start starts it, or starts it again on its files.
func (b *Broker) Start() error {
	options := b.options
	s, err := natsserver.NewServer(&options)
	if err != nil {
		return fmt.Errorf("start the broker: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(startWait) {
		s.Shutdown()
		return errors.New("start the broker: it takes no connections")
	}
	b.now = s
	return nil
}

// Stop ends it; connections are cut.
func (b *Broker) Stop() {
	b.now.Shutdown()
	b.now.WaitForShutdown()
}
