// Package simulator speaks the providers' real protocols, so that the service can be tried,
// tested and measured without a provider: on sockets, or in memory inside a synctest bubble.
//
// It promises that what it accepted is in the ledger before the answer is given, and that it
// misbehaves exactly as its rules say. It must never know how the service is built: only
// what the protocols show.
package simulator

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// Settings wire a Simulator.
type Settings struct {
	// Listen opens the listener of a vendor type, or of "control"; see OnPorts.
	Listen func(vendor string) (net.Listener, error)
	// Dial connects to the service for receipts; nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Ledger gets one JSON line for each accepted send; nil: none is kept.
	Ledger io.Writer
	// HooksURL is the base URL under which receipts reach the service; empty: where each message
	// asks for them. They are signed for the URL that the message named, as behind a proxy.
	HooksURL string
	// Dir keeps the authority's certificate and the credentials; they are made once.
	Dir string
	Log *slog.Logger // nil: silent
}

// A Simulator is a set of simulated services that answer until Close.
type Simulator struct {
	settings Settings
	ca       *authority
	faults   faults
	ledger   ledger
	receipts scheduler
	client   *http.Client // calls the service's hooks
	desks    []*desk
	parts    []part
	serving  sync.WaitGroup
}

// A part is something that listens: a simulated service, or the control port.
type part struct {
	name     string
	server   server
	listener net.Listener
}

// A server answers on a listener. Serve returns once the listener is closed; Close ends what is open.
type server interface {
	Serve(l net.Listener) error
	Close() error
}

// Start opens all listeners and serves them.
func Start(s Settings) (*Simulator, error) {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	sim := &Simulator{settings: s, ledger: ledger{to: s.Ledger}, client: hooksClient(s)}
	sim.receipts.start()
	if err := sim.open(); err != nil {
		return nil, errors.Join(err, sim.Close())
	}
	for _, p := range sim.parts {
		sim.serving.Go(func() { _ = p.server.Serve(p.listener) })
	}
	return sim, nil
}

// open listens everywhere before the credentials are touched, which may be those of a simulator that
// has the ports already; then it makes every service, and the control port.
func (s *Simulator) open() (err error) {
	all := protocols()
	for _, p := range all {
		if err := s.listen(p.typ); err != nil {
			return err
		}
	}
	if err := s.listen(Control); err != nil {
		return err
	}
	if s.ca, err = openAuthority(s.settings.Dir); err != nil {
		return err
	}
	for i, p := range all {
		d := &desk{typ: p.typ, sim: s, address: s.parts[i].listener.Addr().String()}
		if d.service, err = p.open(d); err != nil {
			return fmt.Errorf("simulate %s: %w", p.typ, err)
		}
		s.parts[i].server, s.desks = d.service, append(s.desks, d)
	}
	s.parts[len(all)].server = &http.Server{Handler: s.control()}
	return nil
}

func (s *Simulator) listen(name string) error {
	l, err := s.settings.Listen(name)
	if err != nil {
		return fmt.Errorf("simulate %s: %w", name, err)
	}
	s.parts = append(s.parts, part{name: name, listener: l})
	return nil
}

// Close closes the listeners and all connections, drops the receipts that are still to come,
// and waits for what was started.
func (s *Simulator) Close() error {
	var errs []error
	for _, p := range s.parts {
		if p.server != nil { // it was not made where the start failed
			errs = append(errs, p.server.Close())
		}
		if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	s.receipts.stop()
	s.client.CloseIdleConnections()
	s.serving.Wait()
	return errors.Join(errs...)
}

// Address is where a vendor type, or Control, listens.
func (s *Simulator) Address(vendor string) string {
	for _, p := range s.parts {
		if p.name == vendor {
			return p.listener.Addr().String()
		}
	}
	return ""
}

// Providers is how a configuration names the simulated services, in the order of their ports.
func (s *Simulator) Providers() []Provider {
	list := make([]Provider, 0, len(s.desks))
	for _, d := range s.desks {
		list = append(list, Provider{Type: d.typ, Lines: d.service.config()})
	}
	return list
}

// Roots trusts the simulator's own authority; its certificate is the file CAFile.
func (s *Simulator) Roots() *x509.CertPool { return s.ca.roots() }

// CAFile is the certificate of the authority that signed the simulator's servers, as PEM.
func (s *Simulator) CAFile() string { return s.ca.file }

// Stats counts what each service was asked since the start, by vendor type.
func (s *Simulator) Stats() map[string]Counts {
	stats := make(map[string]Counts, len(s.desks))
	for _, d := range s.desks {
		stats[d.typ] = d.counts()
	}
	return stats
}

// SetFaults replaces all rules.
func (s *Simulator) SetFaults(rules []Rule) error { return s.faults.set(rules) }

// ClearFaults removes all rules.
func (s *Simulator) ClearFaults() { _ = s.faults.set(nil) }

// Report makes a service send a receipt now; see Report.
func (s *Simulator) Report(ctx context.Context, r Report) error {
	for _, d := range s.desks {
		if d.typ == r.Provider {
			return d.service.report(ctx, r)
		}
	}
	return fmt.Errorf("no simulated service of type %q", r.Provider)
}

func hooksClient(s Settings) *http.Client {
	return &http.Client{
		Transport: &http.Transport{DialContext: s.Dial},
		Timeout:   hooksTimeout,
	}
}
