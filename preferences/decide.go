package preferences

import (
	"slices"
	"time"

	"tidings"
)

// Decide answers for each channel of the event type, in its order. The first row that applies
// is the answer:
//
//	applies when                                       answer    reason
//	the request names channels, and not this one       suppress  not_requested
//	the channel has no configured provider             suppress  no_provider
//	it would be sent at or after ExpiresAt             suppress  expired
//	not critical: the user's all is false              suppress  opted_out_all
//	not critical: the user's channel is false          suppress  opted_out_channel
//	not critical: the category is false here           suppress  opted_out_category
//	marketing that needs consent, and none is recorded suppress  consent_missing
//	no address of the channel was ever known           suppress  no_address
//	no address is active, one is quarantined           suppress  quarantined
//	no address is active, the newest moved to another  suppress  address_moved
//	no address is active                               suppress  address_retired
//	every active address is suppressed                 suppress  that of the oldest
//	SendAt lies ahead                                  hold      scheduled
//	else: to every active, unsuppressed address        send
//
// The wider refusal goes first, so a true never undoes a false of a wider row. Only inside one
// category a channel goes before all: {all: false, push: true} means push alone.
//
// What the user chose stands above where they can be reached, since a new address would
// change nothing. What is held would be sent by today's facts; what they forbid is suppressed
// at once, and the held part is decided again when its time comes.
//
// Consents are not recorded yet, so marketing that needs one is always suppressed.
func Decide(r Request, f Facts, now time.Time) []tidings.Decision {
	decisions := make([]tidings.Decision, len(r.Event.Channels))
	for i, channel := range r.Event.Channels {
		decisions[i] = decide(&r, &f, channel, now)
		decisions[i].Channel = channel
		decisions[i].At = now
	}
	return decisions
}

func decide(r *Request, f *Facts, channel tidings.Channel, now time.Time) tidings.Decision {
	if reason := forbidden(r, f, channel, now); reason != "" {
		return tidings.Decision{Action: tidings.ActionSuppress, Reason: reason}
	}
	to, reason := reachable(f, channel)
	if reason != "" {
		return tidings.Decision{Action: tidings.ActionSuppress, Reason: reason}
	}
	if r.SendAt.After(now) {
		return tidings.Decision{Action: tidings.ActionHold, Reason: tidings.ReasonScheduled, Until: r.SendAt}
	}
	return tidings.Decision{Action: tidings.ActionSend, Addresses: len(to), To: to}
}

// forbidden says why nothing may go out on a channel, whatever the addresses.
func forbidden(r *Request, f *Facts, channel tidings.Channel, now time.Time) tidings.Reason {
	category := &r.Event.Category
	switch {
	case r.Channels != nil && !slices.Contains(r.Channels, channel):
		return tidings.ReasonNotRequested
	case !f.Providers[channel]:
		return tidings.ReasonNoProvider
	case expired(r.ExpiresAt, latest(now, r.SendAt)):
		return tidings.ReasonExpired
	}
	if reason := f.Preferences.refuses(category.Kind, category.Name, channel); reason != "" {
		return reason
	}
	if category.Kind == tidings.Marketing && category.Consent == tidings.OptIn {
		return tidings.ReasonConsentMissing
	}
	return ""
}

// reachable lists the addresses of a channel that may be used, or says why there are none.
func reachable(f *Facts, channel tidings.Channel) ([]tidings.Address, tidings.Reason) {
	to := make([]tidings.Address, 0, 2)
	var inactive, suppressed tidings.Reason
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
		to = append(to, *a)
	}
	switch {
	case len(to) > 0:
		return to, ""
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

// expired reports whether at is too late; an expiry is the first instant that is.
func expired(expiry, at time.Time) bool { return !expiry.IsZero() && !at.Before(expiry) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
