package intake_test

import (
	"testing"
	"time"

	"tidings"
	"tidings/internal/intake"
)

// suppress makes everybody with a number one who texted STOP.
func (r *rig) suppress(t *testing.T, channel tidings.Channel, value string, reason tidings.Reason) {
	t.Helper()
	if err := r.store.Suppress(t.Context(), channel, value, reason, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
}

// What an event brings of its user is as suppressed as what was known before.
func TestAContactThatAnEventBringsMayBeSuppressed(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.suppress(t, tidings.SMS, "+15550100", tidings.ReasonOptedOutChannel)
		r.suppress(t, tidings.Email, "U_2@Example.test", tidings.ReasonSuppressedBounce)

		const stopped = "sms:suppress:0:opted_out_channel "
		dry := loginCode("u_1")
		dry.DryRun = true
		if res := r.post(t, dry); describe(res.Decisions) != stopped {
			t.Errorf("a dry run of a new user says %q, want %q", describe(res.Decisions), stopped)
		}
		if res := r.accept(t, loginCode("u_1")); describe(res.Decisions) != stopped || res.Status != tidings.NotificationSuppressed {
			t.Errorf("a new user: %q, %s; want %q", describe(res.Decisions), res.Status, stopped)
		}
		changed := loginCode("u_3")
		other := "+15550199"
		changed.User.Phone = &other
		r.accept(t, hashed(changed))
		for range 2 { // the second time it is an address of the user
			if res := r.accept(t, loginCode("u_3")); describe(res.Decisions) != stopped {
				t.Errorf("a user whose phone the event changes: %q, want %q", describe(res.Decisions), stopped)
			}
		}
		const bounced = "push:suppress:0:no_address email:suppress:0:suppressed_bounce "
		results, err := r.PostBatch(t.Context(), []intake.Event{shipped("u_2", ""), shipped("u_2", ""), shipped("u_4", "")})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{bounced, bounced, "push:suppress:0:no_address email:send:1: "} {
			if got := describe(results[i].Decisions); got != want {
				t.Errorf("item %d: %q, want %q", i, got, want)
			}
		}
	})
}
