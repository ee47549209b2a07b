package workers

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"tidings"
	"tidings/internal/numbers"
	"tidings/preferences"
)

// anywhere is the country of a route for all that no other route names.
const anywhere = "*"

// A router knows which providers may carry a delivery. It is pure and never changes.
type router struct {
	providers map[string]Provider
	routes    map[tidings.Channel][]Route // every channel with a provider has at least one
}

// newRouter completes the routes: a channel without any uses its providers in configured order.
func newRouter(providers []Provider, routes map[tidings.Channel][]Route) (*router, error) {
	r := &router{providers: map[string]Provider{}, routes: map[tidings.Channel][]Route{}}
	inOrder := map[tidings.Channel][]Weighted{}
	for _, p := range providers {
		r.providers[p.Name] = p
		inOrder[p.Channel] = append(inOrder[p.Channel], Weighted{Name: p.Name})
	}
	for channel, all := range inOrder {
		r.routes[channel] = []Route{{Countries: []string{anywhere}, Providers: all}}
	}
	for channel, configured := range routes {
		if err := r.check(channel, configured); err != nil {
			return nil, err
		}
		if len(configured) > 0 {
			r.routes[channel] = configured
		}
	}
	return r, nil
}

// Carriers is to which addresses the providers of each channel carry, and each provider by its name,
// by the rule that routes deliveries. Its errors are those of routes that name what there is not.
func Carriers(providers []Provider, routes map[tidings.Channel][]Route) (of map[tidings.Channel]preferences.Carries, each map[string]preferences.Carries, err error) {
	r, err := newRouter(providers, routes)
	if err != nil {
		return nil, nil, err
	}
	of, each = make(map[tidings.Channel]preferences.Carries, len(r.routes)), make(map[string]preferences.Carries, len(providers))
	for channel := range r.routes {
		of[channel] = r.carries
	}
	for name := range r.providers {
		each[name] = func(to *tidings.Address) bool {
			return slices.ContainsFunc(r.carriers(to), func(w Weighted) bool { return w.Name == name })
		}
	}
	return of, each, nil
}

func (r *router) check(channel tidings.Channel, routes []Route) error {
	for _, route := range routes {
		for _, w := range route.Providers {
			p, known := r.providers[w.Name]
			switch {
			case !known:
				return fmt.Errorf("routes.%s: there is no provider %q", channel, w.Name)
			case p.Channel != channel:
				return fmt.Errorf("routes.%s: provider %q carries %s", channel, w.Name, p.Channel)
			case w.Weight < 0:
				return fmt.Errorf("routes.%s: the weight of %q is below 0", channel, w.Name)
			}
		}
		for _, country := range route.Countries {
			if country != anywhere && !numbers.Known(country) {
				return fmt.Errorf("routes.%s: %q is not a country: use a two-letter code of ISO 3166 or *", channel, country)
			}
		}
	}
	return nil
}

// candidates are the providers that may carry a delivery to an address, in the order to try
// them: the first is drawn by weight. The draw hangs on the delivery's id alone, so that every
// attempt sees the same order.
func (r *router) candidates(id tidings.DeliveryID, to *tidings.Address) []string {
	from := r.carriers(to)
	if len(from) == 0 {
		return nil
	}
	first := draw(id, from)
	names := make([]string, 0, len(from))
	if first >= 0 {
		names = append(names, from[first].Name)
	}
	for i, w := range from {
		if i != first {
			names = append(names, w.Name)
		}
	}
	return names
}

// serves reports whether a channel has providers.
func (r *router) serves(c tidings.Channel) bool { return len(r.routes[c]) > 0 }

// carries reports whether any provider may carry to an address.
func (r *router) carries(to *tidings.Address) bool { return len(r.carriers(to)) > 0 }

// carriers are the providers that may carry to an address, as they are configured: a token's own
// alone, else those of the route.
func (r *router) carriers(to *tidings.Address) []Weighted {
	if to.Provider != "" {
		if p, ok := r.providers[to.Provider]; ok && p.Channel == to.Channel {
			return []Weighted{{Name: to.Provider}}
		}
		return nil
	}
	if route := r.route(to); route != nil {
		return route.Providers
	}
	return nil
}

// route finds the first route that names the country of the address, else the first for anywhere.
func (r *router) route(to *tidings.Address) *Route {
	routes := r.routes[to.Channel]
	if to.Channel == tidings.SMS {
		country := numbers.Country(to.Value)
		for i := range routes {
			if slices.ContainsFunc(routes[i].Countries, func(c string) bool { return strings.EqualFold(c, country) }) {
				return &routes[i]
			}
		}
	}
	for i := range routes {
		if len(routes[i].Countries) == 0 || slices.Contains(routes[i].Countries, anywhere) {
			return &routes[i]
		}
	}
	return nil
}

// draw picks a provider by weight; -1: all weights are zero.
func draw(id tidings.DeliveryID, from []Weighted) int {
	total := 0
	for _, w := range from {
		total += w.Weight
	}
	if total == 0 {
		return -1
	}
	left := int(mix(id) % uint64(total))
	for i, w := range from {
		if left -= w.Weight; left < 0 {
			return i
		}
	}
	return -1
}

// mix makes 64 even bits of an id, whose own bits are a time and an ordinal besides random ones
// (the finaliser of splitmix64).
func mix(id tidings.DeliveryID) uint64 {
	z := binary.BigEndian.Uint64(id[:8]) ^ binary.BigEndian.Uint64(id[8:])*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// broken is put behind the name of a provider that was tried, and where our account or set-up is at fault.
const broken = "!"

// triedAs is what a delivery keeps of a provider that was tried in vain.
func triedAs(name string, fault tidings.Outcome) string {
	if fault == tidings.ConfigFault || fault == tidings.QuotaSpent {
		return name + broken
	}
	return name
}

// mayPass reports whether one of those that were tried failed for another reason than our set-up.
func mayPass(tried []string) bool {
	return slices.ContainsFunc(tried, func(name string) bool { return !strings.HasSuffix(name, broken) })
}

// untried are the candidates that were not tried since the last pause.
func untried(candidates, tried []string) []string {
	if len(tried) == 0 {
		return candidates
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return slices.Contains(tried, name) || slices.Contains(tried, name+broken) })
}
