package workers

import (
	"time"

	"tidings"
	"tidings/internal/store"
	"tidings/preferences"
)

// A verdict is what a check says of a delivery.
type verdict struct {
	status tidings.Status
	reason tidings.Reason
	due    time.Time
}

// goes reports whether it goes out, now or later.
func (v verdict) goes() bool { return v.status == "" || v.status == tidings.Parked }

// checked is what a check says of a delivery. A digest goes out while any of its items may be told:
// stale are those that may not, since they have expired or the user has muted their thread.
func checked(c *store.Claimed, r preferences.Recheck, now time.Time) (v verdict, stale []store.Leaving) {
	v.status, v.reason, v.due = preferences.Check(r, now)
	if c.Notification.Parts < 2 || r.Cancelled {
		return v, nil
	}
	items, err := tidings.ItemsOf(c.Notification.Data)
	if err != nil {
		return v, nil // rendering it will say so
	}
	for i := range items {
		r.Thread, r.ExpiresAt = r.Event.ThreadOf(items[i].Data), items[i].ExpiresAt
		var one verdict
		one.status, one.reason, one.due = preferences.Check(r, now)
		if one.goes() {
			v = one
			continue
		}
		stale = append(stale, store.Leaving{Part: items[i].ID, Reason: one.reason, Cause: preferences.Why(r, one.reason, now)})
	}
	return v, stale
}

// stale is what a digest that may go out is not to tell of any more.
func (p *plan) stale(c *store.Claimed) []store.Leaving {
	if to := p.calls[c.Delivery.ID]; to != nil {
		return to.stale
	}
	return nil
}
