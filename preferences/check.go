package preferences

import (
	"time"

	"tidings"
)

// A Recheck is what is looked at again right before a provider is called.
type Recheck struct {
	Kind        tidings.CategoryKind
	Category    string
	Channel     tidings.Channel
	Preferences Preferences
	Address     tidings.Address // as it is now; Status empty: deleted
	Owner       string          // the user the delivery is for
	Suppressed  *Suppression
	ExpiresAt   time.Time // zero: never
	Cancelled   bool
}

// Check says whether a delivery may still go out: an empty status means yes, else what it
// ends as and why. A cancel goes first, then Check keeps the order of Decide's table: expiry,
// what the user chose, the address, its suppression.
func Check(r Recheck, now time.Time) (tidings.Status, tidings.Reason) {
	if r.Cancelled {
		return tidings.Cancelled, tidings.ReasonCancelled
	}
	if expired(r.ExpiresAt, now) {
		return tidings.Expired, tidings.ReasonExpired
	}
	if reason := r.refused(); reason != "" {
		return tidings.Suppressed, reason
	}
	return "", ""
}

func (r *Recheck) refused() tidings.Reason {
	if reason := r.Preferences.refuses(r.Kind, r.Category, r.Channel); reason != "" {
		return reason
	}
	if r.Address.Status != "" && r.Address.UserID != r.Owner {
		return tidings.ReasonAddressMoved
	}
	if reason := unusable(&r.Address); reason != "" {
		return reason
	}
	if r.Suppressed != nil {
		return r.Suppressed.Reason
	}
	return ""
}
