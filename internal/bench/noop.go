package bench

import (
	"context"
	"sync/atomic"

	"tidings"
	"tidings/channels"
	"tidings/channels/simulator"
)

// A noop is a provider that accepts everything at once, when its gate is open.
type noop struct {
	gate  atomic.Pointer[chan struct{}] // closed: open
	sends atomic.Int64
}

func newNoop() *noop {
	n := &noop{}
	n.shut()
	return n
}

// shut makes sends wait until open.
func (n *noop) shut() {
	gate := make(chan struct{})
	n.gate.Store(&gate)
}

func (n *noop) open() { close(*n.gate.Load()) }

// Send accepts the message.
func (n *noop) Send(ctx context.Context, m *channels.Message) (channels.Answer, error) {
	select {
	case <-*n.gate.Load():
	case <-ctx.Done():
		return channels.Answer{}, &channels.Error{Fault: tidings.NotSent, Err: ctx.Err()}
	}
	n.sends.Add(1)
	return channels.Answer{Ref: m.Delivery.String(), HTTPStatus: 200}, nil
}

// noopConfig is what the operator can set of it: nothing.
type noopConfig struct{}

// vendor declares n as a vendor of push.
func (n *noop) vendor() []channels.Vendor {
	build := func(noopConfig, channels.Settings) (channels.Provider, error) { return n, nil }
	return []channels.Vendor{channels.Define("noop", tidings.Push, channels.Traits{TokenAddresses: true}, noopConfig{}, build)}
}

func noopProvider() simulator.Provider {
	return simulator.Provider{Type: "noop", Lines: []simulator.Line{{Key: "name", Value: "noop"}, {Key: "type", Value: "noop"}, {Key: "timeout", Value: "25s"}}}
}
