package preferences

import "tidings"

// reachable lists the addresses of a channel that may be used and that a provider carries to, if the
// channel has any, or says why there are none:
//
//	no provider carries to any that may be used        no_provider
//	no address of the channel was ever known           no_address
//	no address is active, one is quarantined           quarantined
//	no address is active, the newest moved to another  address_moved
//	no address is active                               address_retired
//	every active address is suppressed                 why the oldest is
func reachable(f *Facts, channel tidings.Channel) ([]tidings.Address, tidings.Reason) {
	to := make([]tidings.Address, 0, 2)
	carries := f.Providers[channel]
	var inactive, suppressed, stranded tidings.Reason
	for i := range f.Addresses {
		a := &f.Addresses[i]
		if a.Channel != channel {
			continue
		}
		if reason := unusable(a); reason != "" {
			if inactive != tidings.ReasonQuarantined {
				inactive = reason
			}
			continue
		}
		if s, stopped := f.Suppressed[a.ID]; stopped {
			if suppressed == "" {
				suppressed = s.Reason
			}
			continue
		}
		if carries != nil && !carries(a) {
			stranded = tidings.ReasonNoProvider
			continue
		}
		to = append(to, *a)
	}
	switch {
	case len(to) > 0:
		return to, ""
	case stranded != "":
		return nil, stranded
	case suppressed != "":
		return nil, suppressed
	case inactive != "":
		return nil, inactive
	}
	return nil, tidings.ReasonNoAddress
}

// unusable says why an address of the user may not be used; an empty reason means that it may.
func unusable(a *tidings.Address) tidings.Reason {
	switch {
	case a.Status == tidings.AddressActive:
		return ""
	case a.Status == tidings.AddressQuarantined:
		return tidings.ReasonQuarantined
	case a.Reason == tidings.ReasonAddressMoved:
		return tidings.ReasonAddressMoved
	}
	return tidings.ReasonAddressRetired
}
