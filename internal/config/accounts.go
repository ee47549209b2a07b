package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/setting"
)

// longestConnect is how long a connection may take to stand where the operator says nothing.
const longestConnect = 5 * time.Second

// ConnectWithin is how long a connection to the provider may take to stand.
func (c *Common) ConnectWithin() time.Duration {
	if c.Connect > 0 {
		return c.Connect
	}
	return min(longestConnect, c.Timeout)
}

// account names what a provider is a door to; empty: its vendor does not tell. It is never shown.
func (p *Provider) account() string {
	a, ok := p.Config.(interface{ Account() string })
	if !ok || a.Account() == "" {
		return ""
	}
	endpoint := p.Endpoint
	if home, ok := p.Config.(interface{ Home() string }); ok && endpoint == "" {
		endpoint = home.Home()
	}
	return fmt.Sprintf("%s %s %s", p.Type, spellURL(endpoint), a.Account())
}

// spellURL spells a base URL so that two spellings of one compare equal: its host as channels.Host
// does, with its port, and without a slash at the end.
func spellURL(text string) string {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" {
		return text
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(channels.Host(u.Hostname()), port) + strings.TrimRight(u.EscapedPath(), "/")
}

// validateAccounts refuses routes whose fallback is what has just failed under another name.
func (c *Config) validateAccounts() error {
	byName, implied := map[string]*Provider{}, map[tidings.Channel]Route{}
	for i := range c.Providers {
		p := &c.Providers[i]
		byName[p.Name] = p
		all := implied[p.Vendor.Channel]
		all.Providers = append(all.Providers, Weighted{Name: p.Name})
		implied[p.Vendor.Channel] = all
	}
	for ch, all := range implied {
		routes := c.Routes[string(ch)]
		if len(routes) == 0 {
			routes = []Route{all} // a channel without routes falls back in the order of the list
		}
		for _, r := range routes {
			if err := r.validateAccounts("routes."+string(ch), byName); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Route) validateAccounts(path string, byName map[string]*Provider) error {
	seen := map[string]string{} // provider by account
	for _, w := range r.Providers {
		p := byName[w.Name]
		if p == nil {
			continue // told elsewhere
		}
		account := p.account()
		if account == "" {
			account = "name " + p.Name
		}
		if other, twice := seen[account]; twice {
			return setting.Wrong(path, "%s and %s are one account: when one fails the other does too, so name another account, or give each a route of its own", other, w.Name)
		}
		seen[account] = w.Name
	}
	return nil
}
