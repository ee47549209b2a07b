// Package api is the HTTP service: every route in one list, with its scope, its input and its
// answers.
//
// It promises the same order of checks on every route, strict input, and an answer that is
// never a guess. It must never decide or deliver: that is intake and the workers.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tidings"
	"tidings/api/hooks"
	"tidings/api/pages"
	"tidings/channels"
	"tidings/internal/intake"
	"tidings/internal/links"
	"tidings/internal/observe"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// Settings wire the API.
type Settings struct {
	Store     *store.Store
	Intake    *intake.Intake
	Catalogue func() (*templates.Catalogue, int64)
	Publish   func(ctx context.Context, files map[string]string) (version int64, err error) // error: templates.Problems
	Providers map[string]Provider
	Lanes     []tidings.Lane
	Limits    map[tidings.Lane]int // deliveries that may wait in the log
	Lease     time.Duration        // after which the call of a provider is over, whatever came of it
	// RebuildLane throws away what the broker holds of a lane and makes it again.
	RebuildLane func(ctx context.Context, lane tidings.Lane) error
	// LanesChanged tells the workers of this process that something was set for a lane; nil
	// without workers. Those of others find out within a second.
	LanesChanged func(ctx context.Context)
	// Wake tells the workers of this process that something is due at that time; nil without workers.
	// Those of others find out in their next sweep.
	Wake func(at time.Time)
	// Ready says what keeps this process from accepting and storing: in words for whoever asks,
	// and as the error for the log; nil: nothing does.
	Ready func(ctx context.Context) (about string, err error)
	// Broker says why nothing can be handed to the workers through the lanes; nil: it can.
	Broker     func(ctx context.Context) error
	ProbesOnly bool         // only /healthz, /readyz and /metrics answer: a process that only delivers
	Draining   func() bool  // true once shutdown has begun: posts answer 503
	Full       func() error // why nothing new is stored, though what was accepted goes out; nil: it is
	PublicURL  string
	Links      *links.Signer // of the pages that people see
	Version    string
	Metrics    *observe.Metrics
	Log        *slog.Logger
	Now        func() time.Time // nil: time.Now
}

// A Provider is a configured provider as the API knows it.
type Provider struct {
	Name      string
	Type      string
	Channel   tidings.Channel
	Carries   preferences.Carries    // to which addresses its routes let it carry; nil: to all of its channel
	PerSecond float64                // calls that it may get; 0: no limit
	Receipts  channels.ReceiptReader // nil: it does not call back
	Inbound   channels.InboundReader // nil: it does not pass on what people write back
	Tokens    bool                   // addresses name it
}

// New is the handler of the whole service.
func New(s Settings) http.Handler {
	if s.Now == nil {
		s.Now = time.Now
	}
	v := &service{Settings: s, keys: newKeyring(s.Store.Keys), mux: http.NewServeMux()}
	v.pages = pages.New(pages.Settings{Store: s.Store, Links: s.Links, Catalogue: s.Catalogue, Metrics: s.Metrics})
	v.hooks = &hooks.Receiver{Apply: s.Store.ApplyReceipts, Stop: s.Store.Stop, Restart: s.Store.Restart, PublicURL: s.PublicURL, Metrics: s.Metrics, Now: s.Now}
	routes := v.routes()
	v.document = document(routes, s.Version)
	for pattern, at := range resources(routes) {
		v.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { v.serve(w, r, at) })
	}
	v.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { v.serve(w, r, nil) })
	return v
}

// A service is what the handlers of the routes share.
type service struct {
	Settings
	keys     *keyring
	hooks    *hooks.Receiver
	pages    *pages.Site
	mux      *http.ServeMux
	document []byte // OpenAPI
}

// ServeHTTP serves one request. Paths that the mux would redirect to a clean form are not
// found: nobody was told of them, and a redirect would answer before the key is checked.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !clean(r.URL.EscapedPath()) {
		s.serve(w, r, nil)
		return
	}
	s.mux.ServeHTTP(w, r)
}
