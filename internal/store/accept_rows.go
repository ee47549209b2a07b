package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"tidings"
	"tidings/preferences"
)

// users makes the users that are new and writes the fields of those that changed, in id order.
func (a *accepting) users() error {
	changed, named := map[string]*Acceptance{}, map[string]time.Time{}
	for _, i := range a.fresh {
		c := &a.chunk[i]
		named[c.Notification.UserID] = c.Notification.AcceptedAt
		if c.User != nil {
			changed[c.Notification.UserID] = c
		}
	}
	for id := range changed {
		delete(named, id)
	}
	ids := slices.Sorted(maps.Keys(named))
	err := a.each("user_make", len(ids), func(k int) []any { return []any{ids[k], named[ids[k]].UnixMicro()} }, nil)
	if err != nil {
		return err
	}
	var added, amended []*Acceptance
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		if changed[id].Seen.CreatedAt.IsZero() {
			added = append(added, changed[id])
			continue
		}
		amended = append(amended, changed[id])
	}
	if err := a.changeUsers("user_add", added); err != nil {
		return err
	}
	if err := a.changeUsers("user_amend", amended); err != nil {
		return err
	}
	return a.turn(turned(amended))
}

// turned are the users whose clock or language their app changed with an event.
func turned(amended []*Acceptance) (list []turn) {
	for _, c := range amended {
		n := &c.Notification
		by := preferences.Origin{Source: preferences.SourceAPI, App: n.App}
		if lines := by.Moved(&c.Seen, c.User, n.AcceptedAt); len(lines) > 0 {
			list = append(list, turn{n.UserID, lines, n.AcceptedAt})
		}
	}
	return list
}

// changeUsers writes users that are still as they were seen; one that is not fails the whole.
func (a *accepting) changeUsers(name string, list []*Acceptance) error {
	written := 0
	err := a.each(name, len(list), func(k int) []any {
		c := list[k]
		args := append([]any{c.Notification.UserID}, userArgs(c.User)...)
		args = append(args, c.Notification.AcceptedAt.UnixMicro())
		if c.Seen.CreatedAt.IsZero() {
			return args
		}
		return append(args, userArgs(&c.Seen)...)
	}, func(int, row) error {
		written++
		return nil
	})
	if err == nil && written < len(list) {
		return ErrChanged
	}
	return err
}

func userArgs(u *tidings.User) []any {
	return []any{u.Locale, u.Timezone, u.Email, u.Phone, cmp.Or(string(u.Attributes), "{}")}
}

// addresses retires what the users' new fields replace and adds what is new.
func (a *accepting) addresses() error {
	type dropped struct {
		id tidings.AddressID
		at time.Time
	}
	type added struct {
		address *tidings.Address
		at      time.Time
	}
	var old []dropped
	var fresh []added
	for _, i := range a.fresh {
		c := &a.chunk[i]
		for _, id := range c.OldAddresses {
			old = append(old, dropped{id, c.Notification.AcceptedAt})
		}
		for j := range c.NewAddresses {
			fresh = append(fresh, added{&c.NewAddresses[j], c.Notification.AcceptedAt})
		}
	}
	slices.SortFunc(old, func(x, y dropped) int { return bytes.Compare(x.id[:], y.id[:]) })
	err := a.each("address_retire", len(old), func(k int) []any { return []any{old[k].id[:], old[k].at.UnixMicro()} }, nil)
	if err != nil {
		return err
	}
	slices.SortStableFunc(fresh, func(x, y added) int { return compareAddresses(x.address, y.address) })
	return a.each("address_add", len(fresh), func(k int) []any {
		ad := fresh[k].address
		return []any{ad.ID[:], ad.UserID, string(ad.Channel), ad.Provider, ad.Value, a.seal.hash(ad.Channel, ad.Value), fresh[k].at.UnixMicro()}
	}, func(k int, r row) error {
		var id tidings.AddressID
		if err := r.Scan(into(&id)); err != nil {
			return err
		}
		a.known[fresh[k].address.ID] = id
		return nil
	})
}

func compareAddresses(x, y *tidings.Address) int {
	return cmp.Or(strings.Compare(x.UserID, y.UserID), strings.Compare(string(x.Channel), string(y.Channel)),
		strings.Compare(x.Provider, y.Provider), strings.Compare(x.Value, y.Value))
}

func (a *accepting) notifications() error {
	decisions := make([]string, len(a.fresh))
	for k, i := range a.fresh {
		text, err := json.Marshal(a.chunk[i].Notification.Decisions)
		if err != nil {
			return fmt.Errorf("write decisions: %w", err)
		}
		decisions[k] = string(text)
	}
	return a.each("notification_add", len(a.fresh), func(k int) []any {
		c := &a.chunk[a.fresh[k]]
		n, data := &c.Notification, string(c.Notification.Data)
		switch {
		case n.Sensitive && len(c.Deliveries) == 0 && len(c.Holds) == 0:
			data = "" // nothing will ever need it
		case n.Sensitive:
			data = a.seal.close(n.ID, n.Data)
		}
		return []any{n.ID[:], n.App, flag(n.Test), n.Type, n.UserID, n.Category, n.CatalogVersion, n.DedupeKey, n.CollapseKey,
			flag(n.Sensitive), data, decisions[k], n.AcceptedAt.UnixMicro(), n.ExpiresAt.UnixMicro(), int64(n.Parts)}
	}, nil)
}

// deliveries numbers them, those of released holds after what their notification has, and writes them.
func (a *accepting) deliveries() error {
	for _, i := range a.fresh {
		a.number(i, 0)
	}
	for _, i := range a.holds {
		r := a.released[a.chunk[i].Notification.ID]
		a.number(i, r.next)
		r.next += len(a.chunk[i].Deliveries)
	}
	type place struct{ i, j int }
	var places []place
	for _, i := range slices.Concat(a.fresh, a.holds) {
		for j := range a.chunk[i].Deliveries {
			places = append(places, place{i, j})
		}
	}
	return a.each("delivery_add", len(places), func(k int) []any {
		p := places[k]
		c, d, id := &a.chunk[p.i], &a.chunk[p.i].Deliveries[p.j], a.out[p.i].Deliveries[p.j]
		address := d.Address
		if winner, ok := a.known[address]; ok {
			address = winner
		}
		ntf := c.Notification.ID
		return []any{ntf[:], int64(tidings.OrdinalOf(id)), string(d.Lane), address[:], string(d.Status), d.DueAt.UnixMicro(),
			queuedAt(c).UnixMicro(), c.Notification.ExpiresAt.UnixMicro(), c.Notification.App, micros(d.FreshUntil)}
	}, nil)
}

func (a *accepting) number(i, first int) {
	c := &a.chunk[i]
	ids := make([]tidings.DeliveryID, len(c.Deliveries))
	for j := range ids {
		ids[j] = tidings.DeliveryOf(c.Notification.ID, first+j)
	}
	a.out[i].Deliveries = ids
}

// queuedAt is when the deliveries of an acceptance came to be: at once, or when the hold was released.
func queuedAt(c *Acceptance) time.Time {
	if c.Release == nil {
		return c.Notification.AcceptedAt
	}
	for _, d := range c.Notification.Decisions {
		if !d.At.IsZero() {
			return d.At
		}
	}
	return c.Release.Until
}

func (a *accepting) addHolds() error {
	var holds []tidings.Hold
	for _, i := range slices.Concat(a.fresh, a.holds) {
		holds = append(holds, a.chunk[i].Holds...)
	}
	return a.each("hold_add", len(holds), func(k int) []any {
		h := holds[k]
		return []any{h.ID[:], h.Notification[:], string(h.Channel), string(h.Reason), h.Until.UnixMicro(), micros(holdDue(&h))}
	}, nil)
}

// holdDue is when a hold is decided again; zero: not by time.
func holdDue(h *tidings.Hold) time.Time {
	if h.DueAt.IsZero() && h.Reason != tidings.ReasonDigested {
		return h.Until
	}
	return h.DueAt
}
