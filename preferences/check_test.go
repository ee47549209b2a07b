package preferences_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/preferences"
)

func TestCheckEndsWhatMayNotGoOutAnyMore(t *testing.T) {
	cases := []struct {
		why    string
		given  func(r *preferences.Recheck)
		status tidings.Status
		reason tidings.Reason
	}{
		{"nothing changed since the decision", func(*preferences.Recheck) {}, "", ""},
		{"a cancel is told before all else", func(r *preferences.Recheck) { r.Cancelled, r.ExpiresAt = true, noon }, tidings.Cancelled, tidings.ReasonCancelled},
		{"the lane was slow", func(r *preferences.Recheck) { r.ExpiresAt = noon }, tidings.Expired, tidings.ReasonExpired},
		{"one instant is left", func(r *preferences.Recheck) { r.ExpiresAt = noon.Add(1) }, "", ""},
		{"opted out of all since", func(r *preferences.Recheck) { r.Preferences.All = no }, tidings.Suppressed, tidings.ReasonOptedOutAll},
		{"opted out of the category since", func(r *preferences.Recheck) { r.Preferences = orders(preferences.Choice{All: no}) }, tidings.Suppressed, tidings.ReasonOptedOutCategory},
		{"critical goes out whatever the preferences", func(r *preferences.Recheck) {
			r.Event.Category.Kind, r.Preferences.All = tidings.Critical, no
		}, "", ""},
		{"the device belongs to another user now", func(r *preferences.Recheck) { r.Address.UserID = "u_2" }, tidings.Suppressed, tidings.ReasonAddressMoved},
		{"the address was deleted", func(r *preferences.Recheck) { r.Address = tidings.Address{} }, tidings.Suppressed, tidings.ReasonAddressRetired},
		{"the address was retired", func(r *preferences.Recheck) { r.Address.Status = tidings.AddressRetired }, tidings.Suppressed, tidings.ReasonAddressRetired},
		{"the address is under suspicion", func(r *preferences.Recheck) { r.Address.Status = tidings.AddressQuarantined }, tidings.Suppressed, tidings.ReasonQuarantined},
		{"the address bounced since", func(r *preferences.Recheck) {
			r.Suppressed = &preferences.Suppression{Reason: tidings.ReasonSuppressedBounce}
		}, tidings.Suppressed, tidings.ReasonSuppressedBounce},
		{"a stop silences what is critical too", func(r *preferences.Recheck) {
			r.Event.Category.Kind, r.Suppressed = tidings.Critical, &preferences.Suppression{Reason: tidings.ReasonOptedOutChannel}
		}, tidings.Suppressed, tidings.ReasonOptedOutChannel},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			r := preferences.Recheck{
				Event: &tidings.EventType{Category: tidings.Category{Name: "orders", Kind: tidings.Transactional}}, Channel: tidings.Push,
				Address: address(tidings.Push, 1), Owner: "u_1", ExpiresAt: noon.Add(time.Hour),
			}
			c.given(&r)
			status, reason, _ := preferences.Check(r, noon)
			if status != c.status || reason != c.reason {
				t.Errorf("%q %q, want %q %q", status, reason, c.status, c.reason)
			}
		})
	}
}
