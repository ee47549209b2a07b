package app

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"tidings/internal/config"
)

// publicURL is the base of links and callbacks.
func publicURL(cfg config.Config, l net.Listener) string {
	if cfg.PublicURL != "" {
		return strings.TrimSuffix(cfg.PublicURL, "/")
	}
	return BaseURL(l.Addr().String())
}

// BaseURL is where a service that listens on HOST:PORT is reached on its machine: what takes calls to
// all addresses is no address to go to.
func BaseURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	ip, _ := netip.ParseAddr(host)
	if err == nil && (host == "" || ip.IsUnspecified()) {
		listen = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + listen
}

// tellPlain warns of a public URL by which mail programs do not unsubscribe anybody: RFC 8058,
// section 3.1, wants https. On the machine itself, as in the demo, nobody's mail program comes by.
func tellPlain(log *slog.Logger, public string) {
	if reachedPlainly(public) {
		log.Warn("public_url is not https: mail programs do not unsubscribe at one click by such a link (RFC 8058), and links to preferences can be read on their way")
	}
}

// reachedPlainly reports whether a URL leads to another machine without TLS.
func reachedPlainly(public string) bool {
	u, err := url.Parse(public)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err != nil || !ip.IsLoopback()
}
