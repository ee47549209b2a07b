package simulator

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// A desk is where one simulated service counts, asks for its faults, writes down what it
// accepts and hands in its receipts.
type desk struct {
	typ     string
	sim     *Simulator
	address string // where the service listens
	service service

	requests, accepts, rejects atomic.Int64
}

// Counts is what a service was asked.
type Counts struct {
	Requests int64 `json:"requests"`
	Accepts  int64 `json:"accepts"`
	Rejects  int64 `json:"rejects"` // answered, but not accepted
}

func (d *desk) counts() Counts {
	return Counts{d.requests.Load(), d.accepts.Load(), d.rejects.Load()}
}

// ask counts a request for an address and finds what the rules want done with it; where the
// protocol has stages, only rules for the given ones count.
func (d *desk) ask(address string, at ...string) verdict {
	d.requests.Add(1)
	return d.sim.faults.match(d.typ, address, at...)
}

// askEarly finds what the rules want done at a stage at which the address is not known yet; what
// no rule stops is counted later, by ask.
func (d *desk) askEarly(at string) verdict {
	v := d.sim.faults.match(d.typ, "", at)
	if v.matched {
		d.requests.Add(1)
	}
	return v
}

// accept counts a send and writes it into the ledger; answer only after it returns. The
// provider and the instant are filled in.
func (d *desk) accept(e Entry) error {
	e.At, e.Provider = time.Now().UTC(), d.typ
	if err := d.sim.ledger.write(e); err != nil {
		return err
	}
	d.accepts.Add(1)
	return nil
}

// keeps reports whether there is a ledger.
func (d *desk) keeps() bool { return d.sim.ledger.to != nil }

// reject counts an answer that accepts nothing.
func (d *desk) reject() { d.rejects.Add(1) }

// keep is the content of a file among the credentials, made at the first start, and its path.
func (d *desk) keep(name string, make func() ([]byte, error)) (content []byte, path string, err error) {
	return keep(d.sim.settings.Dir, name, make)
}

// path is where a file among the credentials lies.
func (d *desk) path(name string) string { return filepath.Join(d.sim.settings.Dir, name) }

// write puts a file among the credentials at each start.
func (d *desk) write(name string, content []byte) error {
	return os.WriteFile(d.path(name), content, 0o600)
}

// after runs f once the delay is over, unless the simulator closes first; ctx ends when it does.
func (d *desk) after(delay time.Duration, f func(ctx context.Context)) {
	d.sim.receipts.after(delay, f)
}

func keep(dir, name string, make func() ([]byte, error)) (content []byte, path string, err error) {
	path = filepath.Join(dir, name)
	content, err = os.ReadFile(path)
	if !os.IsNotExist(err) {
		return content, path, err
	}
	if content, err = make(); err != nil {
		return nil, "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	return content, path, os.WriteFile(path, content, 0o600)
}

// isDead reports whether an address is one of those that every service refuses: it begins
// with "dead", or is a number that ends in 0000.
func isDead(address string) bool {
	return strings.HasPrefix(address, "dead") || strings.HasPrefix(address, "+") && strings.HasSuffix(address, "0000")
}
