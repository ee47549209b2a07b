package trail_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/internal/store"
)

// A pause is told of a delivery where it waited meanwhile, and not where it was over or awaited word.
func TestATimelineTellsOfNoWaitWhileNothingWaited(t *testing.T) {
	const waits = " Push to dead…0f waits: calls to APNs failed, so it was left alone"
	outage := func(since, over time.Duration) store.Pause {
		p := failing("apns", tidings.Push)
		p.Since, p.Over = ago(since), ago(over)
		return p
	}
	attempt := func(d *store.TrailDelivery, at time.Duration, o tidings.Outcome, retry time.Duration) {
		a := tidings.Attempt{Delivery: d.ID, Number: len(d.Attempts) + 1, Provider: "apns", StartedAt: ago(at), EndedAt: ago(at), Outcome: o}
		if retry > 0 {
			a.RetryAt = ago(retry)
		}
		d.Attempts = append(d.Attempts, a)
	}
	ended := func(d *store.TrailDelivery, s tidings.Status, at time.Duration) {
		d.Status, d.DueAt, d.FinishedAt = s, time.Time{}, ago(at)
	}
	moment := func(d *store.TrailDelivery, at time.Duration, kind, text string) store.Moment {
		return store.Moment{At: ago(at), Kind: kind, Delivery: d.ID, Text: text}
	}
	for _, c := range []struct {
		why   string
		pause store.Pause
		want  []string
		tale  func(tr *store.Trail, d *store.TrailDelivery)
	}{
		{"it was dead", outage(18*time.Minute, 12*time.Minute), nil, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.Transient, 0)
			tr.Timeline = []store.Moment{moment(d, 19*time.Minute, "died", "retries_spent"), moment(d, 10*time.Minute, "redriven", "an operator asked for another try")}
			attempt(d, 9*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 9*time.Minute)
		}},
		{"it was tried again meanwhile", outage(18*time.Minute, 6*time.Minute), []string{"10:20:00" + waits + " until 10:24:00 UTC."}, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.Transient, 0)
			tr.Timeline = []store.Moment{moment(d, 19*time.Minute, "died", "retries_spent"), moment(d, 10*time.Minute, "redriven", "an operator asked for another try")}
			attempt(d, 5*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 5*time.Minute)
		}},
		{"it waited before it died", outage(18*time.Minute, 6*time.Minute), []string{"10:12:00" + waits + " until 10:24:00 UTC."}, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.ConfigFault, 12*time.Minute)
			tr.Timeline = []store.Moment{moment(d, 15*time.Minute, "died", "provider_broken"), moment(d, 5*time.Minute, "redriven", "an operator asked for another try")}
			attempt(d, 4*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 4*time.Minute)
		}},
		{"it waited, and is dead still", outage(18*time.Minute, 6*time.Minute), []string{"10:12:00" + waits + " until 10:24:00 UTC."}, func(_ *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.ConfigFault, 12*time.Minute)
			ended(d, tidings.Dead, 5*time.Minute)
		}},
		{"a dead letter was called off", outage(18*time.Minute, 6*time.Minute), nil, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.Transient, 0)
			tr.Timeline = []store.Moment{moment(d, 19*time.Minute, "died", "retries_spent")}
			ended(d, tidings.Cancelled, 5*time.Minute)
		}},
		{"a receipt was awaited in vain", outage(18*time.Minute, 12*time.Minute), nil, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.OutcomeUnknown, 0)
			tr.Timeline = []store.Moment{moment(d, 10*time.Minute, "decided", "no receipt came in time, so it is tried again")}
			attempt(d, 9*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 9*time.Minute)
		}},
		{"and it waited after that", outage(18*time.Minute, 6*time.Minute), []string{"10:20:00" + waits + " until 10:24:00 UTC."}, func(tr *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.OutcomeUnknown, 0)
			tr.Timeline = []store.Moment{moment(d, 10*time.Minute, "decided", "no receipt came in time, so it is tried again")}
			attempt(d, 5*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 5*time.Minute)
		}},
		{"and it waited after a receipt that refused", outage(18*time.Minute, 6*time.Minute), []string{"10:20:00" + waits + " until 10:24:00 UTC."}, func(_ *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.OutcomeUnknown, 0)
			d.Receipts = []tidings.Receipt{{Provider: "apns", Attempt: 1, Status: tidings.ReceiptFailed, At: ago(10 * time.Minute), ReceivedAt: ago(10 * time.Minute)}}
			attempt(d, 5*time.Minute, tidings.OK, 0)
			ended(d, tidings.Sent, 5*time.Minute)
		}},
		{"it was called off while a receipt was awaited", outage(18*time.Minute, 6*time.Minute), nil, func(_ *store.Trail, d *store.TrailDelivery) {
			attempt(d, 19*time.Minute, tidings.OutcomeUnknown, 0)
			ended(d, tidings.Cancelled, 5*time.Minute)
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			tr := waiting(tidings.Push, 20*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Pauses = []store.Pause{c.pause}
				c.tale(tr, d)
			})
			if got := told(tr); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
