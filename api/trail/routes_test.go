package trail_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/store"
	"tidings/preferences"
)

// routed are providers of which Twilio carries to Germany alone, and AWS everywhere else.
func routed() trail.Service {
	german := func(to *tidings.Address) bool { return strings.HasPrefix(to.Value, "+49") }
	all := providers()
	for name, carries := range map[string]preferences.Carries{"twilio": german, "aws-sms": func(to *tidings.Address) bool { return !german(to) }} {
		p := all.Providers[name]
		p.Carries = carries
		all.Providers[name] = p
	}
	return all
}

func TestAProviderThatIsNotOfTheRouteIsNeverToBlame(t *testing.T) {
	for _, c := range []struct {
		why, number, pause string
		want, line         string
	}{
		{"the one of the route is left alone", "+4915550100", "twilio",
			"SMS is waiting: calls to Twilio fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on.",
			"10:29:59 SMS to +4915***00 waits: calls to Twilio fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on."},
		{"the one of another route is left alone", "+4915550100", "aws-sms", "SMS is on its way.", ""},
		{"the only one that may take it is not", "+15550100", "twilio", "SMS is on its way.", ""},
		{"an erased number may have been anybody's", "", "twilio", "SMS is waiting: calls to Twilio fail", "10:29:57 SMS to an erased address waits: calls to Twilio fail"},
	} {
		t.Run(c.why, func(t *testing.T) {
			age := time.Second
			if c.number == "" {
				age = 3 * time.Second
			}
			tr := waiting(tidings.SMS, age, func(tr *store.Trail, d *store.TrailDelivery) {
				d.Address, tr.Pauses = c.number, []store.Pause{failing(c.pause, tidings.SMS)}
			})
			if got := trail.Summary(tr, routed(), now()); !strings.HasPrefix(got, c.want) {
				t.Errorf("said  %s\nwant  %s", got, c.want)
			}
			if got := strings.Join(waits(tr, routed()), "\n"); !strings.HasPrefix(got, c.line) || c.line == "" && got != "" {
				t.Errorf("told  %s\nwant  %s", got, c.line)
			}
		})
	}
	tr := waiting(tidings.SMS, 30*time.Second, func(_ *store.Trail, d *store.TrailDelivery) { d.Address = "+4915550100" })
	if got, want := trail.Summary(tr, routed(), now()), "SMS is waiting for its turn since 10:29:30 UTC: more is due than can be sent at once."; got != want {
		t.Errorf("beside the rate of a provider of another route it says %s", got)
	}
}
