package channels

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"

	"tidings"
)

// Traits are what the sender must know of a vendor.
type Traits struct {
	TokenAddresses bool // addresses name the provider they belong to; there is no fallback
	Receipts       bool // the service reports later whether a message arrived
}

// Settings are what the service hands to every vendor: the wiring, not the operator's configuration.
type Settings struct {
	Name      string       // configured name
	Endpoint  string       // base URL that replaces the vendor's own; empty: the vendor's
	HooksURL  string       // public URL where the service can call back for this provider, without a query
	Client    *http.Client // for HTTP vendors: proxies, roots, tracing and faults are its transport's
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	Connect   time.Duration                             // how long a connection may take to stand, greetings included; 0: as long as the call
	TLS       *tls.Config                               // roots of the endpoint; nil: the system's
	Transport func(http.RoundTripper) http.RoundTripper // wraps a vendor's own transport, for tracing and faults; never nil
	Log       *slog.Logger
}

// A Vendor is the code that speaks one service's protocol, as listed in channels/all.
type Vendor struct {
	Type    string // as in the configuration: "apns", "aws_sms"
	Channel tidings.Channel
	Traits  Traits
	// Config makes a pointer to a copy of the vendor's default configuration, to be filled by yaml tags.
	// Where it has a method Validate() error, that is called once it is filled. Where it has a method
	// Account() string, two that give the same at the same endpoint never stand in for each other;
	// a method Home() string names the endpoint of those that are given none.
	Config func() any
	// Build makes the provider from the filled configuration.
	Build func(config any, s Settings) (Provider, error)
}

// Define declares a vendor whose configuration is a C.
func Define[C any](typ string, channel tidings.Channel, traits Traits, defaults C, build func(C, Settings) (Provider, error)) Vendor {
	return Vendor{
		Type: typ, Channel: channel, Traits: traits,
		Config: func() any { c := defaults; return &c },
		Build:  func(config any, s Settings) (Provider, error) { return build(*config.(*C), s) },
	}
}
