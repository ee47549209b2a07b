package intake

import (
	"maps"
	"slices"
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// maxAttributes bounds what the merges of many events can make of a user's attributes, in bytes.
const maxAttributes = 64 << 10

// A person is what is known of a user in one round: the facts of the log and, on top, what the
// events accepted before in the round change.
type person struct {
	facts   preferences.Facts
	seen    tidings.User        // as in the log
	changed bool                // the user is not as in the log
	fresh   []tidings.Address   // not in the log as they shall be
	gone    []tidings.AddressID // retired by the user's new fields

	suppressed map[store.Contact]preferences.Suppression // of what the events of the round bring
}

// with is the person with an event's fields merged; p stays as it is, for the event may be refused.
func (p person) with(patch UserPatch, now time.Time) (person, *Refusal) {
	u := &p.facts.User
	before := *u
	if u.CreatedAt.IsZero() {
		u.ID, u.CreatedAt, u.UpdatedAt = patch.ID, now, now
		p.changed = true
	}
	set(&u.Locale, patch.Locale)
	set(&u.Timezone, patch.Timezone)
	set(&u.Email, patch.Email)
	set(&u.Phone, patch.Phone)
	if len(patch.Attributes) > 0 {
		merged, err := merge(u.Attributes, patch.Attributes)
		if err != nil {
			return p, &Refusal{Code: "invalid_input", Pointer: "/user/attributes", Detail: "attributes must be a JSON object"}
		}
		if len(merged) > maxAttributes {
			return p, &Refusal{Code: "invalid_input", Pointer: "/user/attributes", Detail: "the user's attributes would exceed 64 KiB"}
		}
		u.Attributes = merged
	}
	p.move(tidings.Email, before.Email, u.Email, now)
	p.move(tidings.SMS, before.Phone, u.Phone, now)
	if u.Locale != before.Locale || u.Timezone != before.Timezone || u.Email != before.Email || u.Phone != before.Phone ||
		string(u.Attributes) != string(before.Attributes) {
		p.changed, u.UpdatedAt = true, now
	}
	return p, nil
}

func set(field *string, value *string) {
	if value != nil {
		*field = *value
	}
}

// move makes the address list follow a field of the user: the value that goes away is retired,
// the new one can be sent to. An unchanged field changes nothing, so that an app which repeats
// the address with each event does not bring back one that was retired.
func (p *person) move(channel tidings.Channel, old, value string, now time.Time) {
	if old == value {
		return
	}
	p.facts.Addresses = slices.Clone(p.facts.Addresses)
	same := tidings.Canonical(channel, old) == tidings.Canonical(channel, value)
	if a := p.find(channel, old); a != nil && !same && a.Status != tidings.AddressRetired {
		a.Status, a.RetiredAt = tidings.AddressRetired, now
		p.gone = append(slices.Clip(p.gone), a.ID)
		p.fresh = slices.DeleteFunc(slices.Clone(p.fresh), func(f tidings.Address) bool { return f.ID == a.ID })
	}
	if value == "" {
		return
	}
	a := p.find(channel, value)
	if a == nil {
		p.facts.Addresses = append(p.facts.Addresses, tidings.Address{ID: tidings.NewAddressID(now), UserID: p.facts.User.ID, Channel: channel, Value: value})
		a = &p.facts.Addresses[len(p.facts.Addresses)-1]
		p.suppress(a)
	}
	a.Value, a.Status, a.Reason, a.RegisteredAt, a.RetiredAt = value, tidings.AddressActive, "", now, time.Time{}
	a.Strikes, a.StruckAt = 0, time.Time{}
	p.gone = slices.DeleteFunc(slices.Clone(p.gone), func(id tidings.AddressID) bool { return id == a.ID })
	p.fresh = append(slices.Clip(p.fresh), *a)
}

// suppress makes what is known of a contact count for a new address.
func (p *person) suppress(a *tidings.Address) {
	s, found := p.suppressed[store.Contact{Channel: a.Channel, Value: a.Value}]
	if !found {
		return
	}
	p.facts.Suppressed = maps.Clone(p.facts.Suppressed)
	p.facts.Suppressed[a.ID] = s
}

// brings adds the contacts of a patch that are not among the person's addresses.
func (p *person) brings(patch UserPatch, all []store.Contact) []store.Contact {
	for _, c := range [...]struct {
		channel tidings.Channel
		value   *string
	}{{tidings.Email, patch.Email}, {tidings.SMS, patch.Phone}} {
		if c.value != nil && *c.value != "" && p.find(c.channel, *c.value) == nil {
			all = append(all, store.Contact{Channel: c.channel, Value: *c.value})
		}
	}
	return all
}

func (p *person) find(channel tidings.Channel, value string) *tidings.Address {
	for i := range p.facts.Addresses {
		if a := &p.facts.Addresses[i]; a.Channel == channel && tidings.Canonical(channel, a.Value) == tidings.Canonical(channel, value) {
			return a
		}
	}
	return nil
}

// into adds to an acceptance what the log must learn of the person. Each acceptance of the round
// brings all that came of the round, for the one before may turn out to be a duplicate.
func (p *person) into(a *store.Acceptance) {
	if p.changed {
		user := p.facts.User
		a.User, a.Seen = &user, p.seen
	}
	a.NewAddresses, a.OldAddresses = p.fresh, p.gone
}
