package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"tidings"
	"tidings/api"
	"tidings/channels"
	"tidings/internal/config"
	"tidings/internal/setting"
	"tidings/preferences"
	"tidings/workers"
)

func buildProviders(cfg config.Config, s Settings, public string) ([]workers.Provider, error) {
	var built []workers.Provider
	for _, p := range cfg.Providers {
		provider, err := buildProvider(p, s, public)
		if err != nil {
			return nil, errors.Join(cfg.LocateProvider(&p, err), closeProviders(built))
		}
		built = append(built, workers.Provider{
			Name: p.Name, Type: p.Type, Channel: p.Vendor.Channel, Traits: p.Vendor.Traits, Provider: provider,
			Timeout: p.Timeout, Concurrency: p.Concurrency, PerSecond: p.RatePerSecond,
		})
	}
	return built, nil
}

func buildProvider(p config.Provider, s Settings, public string) (channels.Provider, error) {
	roots, err := rootsOf("providers."+p.Name+".ca_file", p.CAFile)
	if err != nil {
		return nil, err
	}
	return p.Vendor.Build(p.Config, channels.Settings{
		Name: p.Name, Endpoint: strings.TrimSuffix(p.Endpoint, "/"), HooksURL: public + "/hooks/" + p.Name,
		Client: httpClient(p, roots, s), Dial: dialWithin(p.ConnectWithin(), s.Dial), Connect: p.ConnectWithin(), TLS: roots, Transport: s.Transport,
		Log: s.Log.With(slog.String("provider", p.Name)),
	})
}

func closeProviders(providers []workers.Provider) error {
	var failed error
	for _, p := range providers {
		if c, ok := p.Provider.(io.Closer); ok {
			failed = errors.Join(failed, c.Close())
		}
	}
	return failed
}

// dialWithin bounds how long a connection may take to stand, within the deadline of its call.
func dialWithin(most time.Duration, dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// httpClient is what HTTP vendors call with: no redirects, as many kept connections as calls
// at once, and no time-out of its own for the whole, since every call has a deadline.
func httpClient(p config.Provider, roots *tls.Config, s Settings) *http.Client {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialWithin(p.ConnectWithin(), s.Dial), TLSClientConfig: roots, ForceAttemptHTTP2: true,
		MaxIdleConns: p.Concurrency, MaxIdleConnsPerHost: p.Concurrency, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: p.ConnectWithin(), ResponseHeaderTimeout: p.Answer,
	}
	return &http.Client{
		Transport:     s.Transport(transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// rootsOf reads the roots to trust from the file that a setting names; from none, none.
func rootsOf(path, file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, setting.Wrong(path, "%v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, setting.Wrong(path, "%s holds no PEM certificate", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// apiProviders are the providers as the API knows them; carries is to which addresses each carries.
func apiProviders(providers []workers.Provider, carries map[string]preferences.Carries) map[string]api.Provider {
	m := map[string]api.Provider{}
	for _, p := range providers {
		reader, _ := p.Provider.(channels.ReceiptReader)
		inbound, _ := p.Provider.(channels.InboundReader)
		m[p.Name] = api.Provider{
			Name: p.Name, Type: p.Type, Channel: p.Channel, Carries: carries[p.Name], PerSecond: p.PerSecond,
			Receipts: reader, Inbound: inbound, Tokens: p.Traits.TokenAddresses,
		}
	}
	return m
}

func routes(cfg config.Config) map[tidings.Channel][]workers.Route {
	m := map[tidings.Channel][]workers.Route{}
	for channel, list := range cfg.Routes {
		for _, r := range list {
			route := workers.Route{Countries: r.Countries}
			for _, w := range r.Providers {
				route.Providers = append(route.Providers, workers.Weighted{Name: w.Name, Weight: w.Weight})
			}
			m[tidings.Channel(channel)] = append(m[tidings.Channel(channel)], route)
		}
	}
	return m
}
