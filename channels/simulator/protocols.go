package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Control is the name under which the control port asks for its listener.
const Control = "control"

// A protocol is one vendor's, as listed in protocols.
type protocol struct {
	typ  string
	port int // above the base
	open func(*desk) (service, error)

	stages  bool // it goes by stages and answers with enhanced status codes, as SMTP does
	streams bool // its connections carry many streams
	mute    bool // the vendor has no receipts at all

	reports func(status string) error // refuses a status that it does not report; nil: it does not call back
}

// protocols is every simulated service. A new one is a file of its own and a line here.
func protocols() []protocol {
	return []protocol{
		{typ: "apns", port: 0, open: openAPNs, streams: true, mute: true},
		{typ: "fcm", port: 1, open: openFCM, mute: true},
		{typ: "twilio", port: 2, open: openTwilio, reports: twilioReports},
		{typ: "aws_sms", port: 3, open: openAWSSMS},
		{typ: "smtp", port: 5, open: openSMTP, stages: true, mute: true},
	}
}

const controlPort = 8 // above the base

// A service is one simulated provider.
type service interface {
	server
	// config is how a configuration names the service.
	config() []Line
	// report sends a receipt by hand; errNoReceipts where the protocol has none.
	report(ctx context.Context, r Report) error
}

// A Provider is one entry of a configuration's list of providers.
type Provider struct {
	Type  string
	Lines []Line // name and type first
}

// A Line is one key of a provider's configuration.
type Line struct{ Key, Value string }

// Get is the value of a key, or empty.
func (p Provider) Get(key string) string {
	for _, l := range p.Lines {
		if l.Key == key {
			return l.Value
		}
	}
	return ""
}

// A Report asks for a receipt of something accepted earlier.
type Report struct {
	Provider string `json:"provider"`         // the vendor type
	Ref      string `json:"ref"`              // what the service answered when it accepted
	Status   string `json:"status,omitempty"` // for vendors that report a status
	Event    string `json:"event,omitempty"`  // for vendors that report events
	Forge    bool   `json:"forge,omitempty"`  // sign it wrongly
}

// errNoReceipts is the answer of a service that never calls back.
var errNoReceipts = errors.New("this provider sends no receipts")

// OnPorts gives the listeners consecutive ports of 127.0.0.1: APNs on base, the control port
// on base+8. With base 0 each takes a free port.
func OnPorts(base int) func(vendor string) (net.Listener, error) {
	return func(vendor string) (net.Listener, error) {
		port := base
		if base > 0 {
			port += offset(vendor)
		}
		return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	}
}

func offset(vendor string) int {
	for _, p := range protocols() {
		if p.typ == vendor {
			return p.port
		}
	}
	return controlPort
}
