package preferences

import (
	"time"

	"tidings"
)

// A Recheck is what is looked at again right before a provider is called.
type Recheck struct {
	Event       *tidings.EventType
	Channel     tidings.Channel
	Thread      string
	Preferences Preferences
	Zone        *time.Location   // whose wall clock the user lives by; nil: UTC
	Called      []*time.Location // of SMS: the zones in one of which the user is when the phone rings; nil: Zone
	Address     tidings.Address  // as it is now; Status empty: deleted
	Owner       string           // the user the delivery is for
	Suppressed  *Suppression
	ExpiresAt   time.Time // zero: never
	Cancelled   bool
}

// Check says whether a delivery may still go out: an empty status means yes, parked that it must
// wait until due, anything else what it ends as and why. A cancel goes first, then Check keeps the
// order of Decide's table: expiry, what the user chose, the address, its suppression, quiet hours.
func Check(r Recheck, now time.Time) (status tidings.Status, reason tidings.Reason, due time.Time) {
	if r.Cancelled {
		return tidings.Cancelled, tidings.ReasonCancelled, time.Time{}
	}
	if expired(r.ExpiresAt, now) {
		return tidings.Expired, tidings.ReasonExpired, time.Time{}
	}
	if reason := r.refused(); reason != "" {
		return tidings.Suppressed, reason, time.Time{}
	}
	return r.quiet(now)
}

func (r *Recheck) refused() tidings.Reason {
	if reason := r.unwanted(); reason != "" {
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

// unwanted says why the user does not want it; nobody can refuse what is critical.
func (r *Recheck) unwanted() tidings.Reason {
	c, p := &r.Event.Category, &r.Preferences
	if c.Kind == tidings.Critical {
		return ""
	}
	if reason := p.refusesAll(); reason != "" {
		return reason
	}
	if reason := p.refusesChannel(r.Channel); reason != "" {
		return reason
	}
	if reason := p.refusesCategory(c.Name, r.Channel); reason != "" {
		return reason
	}
	if reason := p.refusesThread(c.Name, r.Thread); reason != "" {
		return reason
	}
	return p.lacksConsent(c, r.Channel)
}

// Why is the cause of a reason that Check gave at an instant.
func Why(r Recheck, reason tidings.Reason, now time.Time) (by tidings.Cause) {
	switch {
	case reason == tidings.ReasonQuietHours:
		calm := r.calm()
		_, by, _ = calm.until(now)
	case reason == tidings.ReasonExpired && !expired(r.ExpiresAt, now):
		calm := r.calm()
		_, by, _ = calm.until(now)
		by = outlasting(tidings.ReasonQuietHours, by)
	case reason == tidings.ReasonOptedOutCategory && r.Preferences.refusesCategory(r.Event.Category.Name, r.Channel) == "":
		by = tidings.CauseThread
	case reason == tidings.ReasonConsentMissing:
		by = r.Preferences.consentCause(&r.Event.Category)
	}
	return by
}

// quiet puts off what must wait for the end of quiet hours, unless it is of no use by then.
func (r *Recheck) quiet(now time.Time) (tidings.Status, tidings.Reason, time.Time) {
	calm := r.calm()
	until, _, ever := calm.until(now)
	switch {
	case ever && !until.After(now):
		return "", "", time.Time{}
	case !ever, r.Event.Category.QuietHours == tidings.QuietDrop:
		return tidings.Suppressed, tidings.ReasonQuietHours, time.Time{}
	case expired(r.ExpiresAt, until):
		return tidings.Expired, tidings.ReasonExpired, time.Time{}
	}
	return tidings.Parked, tidings.ReasonQuietHours, until
}

// calm is what keeps the delivery from making itself heard.
func (r *Recheck) calm() calm {
	zone := r.Zone
	if zone == nil {
		zone = time.UTC
	}
	calm := r.Preferences.calmOf(r.Event, r.Channel, zone)
	if regulated(r.Event, r.Channel) {
		called := r.Called
		if called == nil {
			called = []*time.Location{zone}
		}
		calm.call(r.Event, r.Address.Value, called)
	}
	return calm
}
