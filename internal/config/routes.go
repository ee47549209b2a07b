package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"tidings"
	"tidings/internal/numbers"
	"tidings/internal/setting"
)

func (c *Config) validateRoutes() error {
	carries := map[string]tidings.Channel{}
	for _, p := range c.Providers {
		carries[p.Name] = p.Vendor.Channel
	}
	for _, ch := range slices.Sorted(maps.Keys(c.Routes)) {
		if !slices.Contains(tidings.Channels(), tidings.Channel(ch)) {
			return setting.Wrong("routes."+ch, "%q is not a channel", ch)
		}
		countries := map[string]bool{}
		for i, r := range c.Routes[ch] {
			path := fmt.Sprintf("routes.%s[%d]", ch, i)
			if err := r.validateProviders(path, ch, carries); err != nil {
				return err
			}
			if err := r.validateCountries(path, countries); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r Route) validateProviders(path, ch string, carries map[string]tidings.Channel) error {
	if len(r.Countries) == 0 || len(r.Providers) == 0 {
		return setting.Wrong(path, "a route needs countries and providers")
	}
	for i, w := range r.Providers {
		path := fmt.Sprintf("%s.providers[%d]", path, i)
		switch carried := carries[w.Name]; {
		case carried == "":
			return setting.Wrong(path, "no %s provider is named %q: name one of the list of providers", ch, w.Name)
		case carried != tidings.Channel(ch):
			return setting.Wrong(path, "no %s provider is named %q: that one carries %s", ch, w.Name, carried)
		case w.Weight < 0:
			return setting.Wrong(path+".weight", "must be above 0, or left out")
		}
	}
	return nil
}

// country is the form of a country in a route.
var country = regexp.MustCompile(`^([A-Z]{2}|\*)$`)

// validateCountries refuses a country of an earlier route, too: it would never be asked for here.
func (r Route) validateCountries(path string, seen map[string]bool) error {
	for _, code := range r.Countries {
		switch {
		case !country.MatchString(code), code != "*" && !numbers.Known(code):
			return setting.Wrong(path+".countries", "%q is not a country: use a two-letter code of ISO 3166, or *", code)
		case seen[code]:
			return setting.Wrong(path+".countries", "%s stands twice: this one would never be used", code)
		}
		seen[code] = true
	}
	return nil
}
