package trail_test

import (
	"strings"
	"testing"
	"time"

	"tidings"
	"tidings/api/trail"
	"tidings/internal/store"
)

// providers are those that the tests of this file are about: two for SMS, one for push.
func providers() trail.Service {
	return trail.Service{Providers: map[string]trail.Provider{
		"apns": {Type: "apns", Channel: tidings.Push}, "twilio": {Type: "twilio", Channel: tidings.SMS},
		"aws-sms": {Type: "aws_sms", Channel: tidings.SMS, PerSecond: 5},
	}}
}

// waiting is a trail whose only delivery came into its lane that long ago and has not gone out.
func waiting(c tidings.Channel, ago time.Duration, change func(tr *store.Trail, d *store.TrailDelivery)) *store.Trail {
	tr := one(c)
	id := tidings.DeliveryOf(tr.Notification.ID, 0)
	tr.Notification.AcceptedAt = now().Add(-ago)
	tr.WorkedAt = now().Add(-time.Second)
	tr.Deliveries = []store.TrailDelivery{{Delivery: tidings.Delivery{ID: id, Channel: c, Lane: tidings.LaneOf(c, tidings.Bulk), Status: tidings.Queued,
		QueuedAt: now().Add(-ago), DueAt: now().Add(-ago), Address: "dead56789abcdef0123456780f"}}}
	if c == tidings.Push {
		tr.Deliveries[0].Provider = "apns"
	}
	if change != nil {
		change(tr, &tr.Deliveries[0])
	}
	return tr
}

func ago(d time.Duration) time.Time { return now().Add(-d) }

// failing is a pause of a provider since a minute ago.
func failing(name string, c tidings.Channel) store.Pause {
	return store.Pause{Name: name, Channel: c, Cause: store.PauseFailing, Since: ago(time.Minute), Until: now().Add(5 * time.Second)}
}

func parked(d *store.TrailDelivery, due time.Duration) {
	d.Status, d.DueAt = tidings.Parked, now().Add(due)
}

func tried(d *store.TrailDelivery, f tidings.Outcome) {
	d.Tries = 1
	d.Attempts = []tidings.Attempt{{Delivery: d.ID, Number: 1, Provider: "apns", StartedAt: ago(41 * time.Second), EndedAt: ago(40 * time.Second), Outcome: f}}
}

func TestWhatWaitsSaysWhyAndUntilWhen(t *testing.T) {
	for _, c := range []struct {
		why, want string
		trail     *store.Trail
	}{
		{"just accepted", "Push is on its way.", waiting(tidings.Push, time.Second, nil)},
		{"a paused lane", "Push is waiting: an operator paused the lane push.bulk at 10:29:00 UTC; it is sent once the lane is resumed.",
			waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(time.Minute)}}
			})},
		{"the other lane is paused", "Push is on its way.", waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
			tr.Pauses = []store.Pause{{Name: "push.priority", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(time.Minute)}}
		})},
		{"an open breaker", "Push is waiting: calls to APNs fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on.",
			waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				tr.Pauses = []store.Pause{failing("apns", tidings.Push)}
			})},
		{"a breaker that lets probes through", "Push is waiting: calls to APNs fail, so it is left alone since 10:29:00 UTC but for single calls that find out whether it works again.",
			waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				p := failing("apns", tidings.Push)
				p.Until = ago(time.Second)
				tr.Pauses = []store.Pause{p}
			})},
		{"a pause that the provider asked for", "Push is waiting: APNs asked for a pause, so it is left alone until 10:30:05 UTC.",
			waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				p := failing("apns", tidings.Push)
				p.Cause = store.PauseAsked
				tr.Pauses = []store.Pause{p}
			})},
		{"a try that comes after the pause", "Push has not got through yet and is waiting: APNs asked for a pause, so it is left alone until 10:30:05 UTC; the next try is at 10:30:23 UTC.",
			waiting(tidings.Push, time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, 23*time.Second)
				tried(d, tidings.Transient)
				p := failing("apns", tidings.Push)
				p.Cause = store.PauseAsked
				tr.Pauses = []store.Pause{p}
			})},
		{"a turn that comes after the pause", "Push is waiting: calls to APNs fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on; its turn is at 10:30:23 UTC.",
			waiting(tidings.Push, time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, 23*time.Second)
				tr.Pauses = []store.Pause{failing("apns", tidings.Push)}
			})},
		{"a paused lane, and its turn has not come", "Push is waiting: an operator paused the lane push.bulk at 10:29:00 UTC; it is sent once the lane is resumed, and not before 10:35:00 UTC.",
			waiting(tidings.Push, time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, 5*time.Minute)
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(time.Minute)}}
			})},
		{"one of two providers is left alone", "SMS is on its way.", waiting(tidings.SMS, 500*time.Millisecond, func(tr *store.Trail, _ *store.TrailDelivery) {
			tr.Pauses = []store.Pause{failing("twilio", tidings.SMS)}
		})},
		{"and the other does not take it", "SMS is waiting: calls to Twilio fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on.",
			waiting(tidings.SMS, 2*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				tr.Pauses = []store.Pause{failing("twilio", tidings.SMS)}
			})},
		{"a breaker that was open", "Push is waiting for its turn since 10:29:30 UTC: more is due than can be sent at once.",
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				p := failing("apns", tidings.Push)
				p.Over = ago(20 * time.Second)
				tr.Pauses = []store.Pause{p}
			})},
		{"a test calls nobody", "Push is on its way.", waiting(tidings.Push, time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
			tr.Notification.Test = true
			tr.Pauses = []store.Pause{failing("apns", tidings.Push)}
		})},
		{"a device that is to be left alone", "Push is waiting: the provider asked that nothing be sent to this address until 10:35:00 UTC.",
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, 5*time.Minute)
				tr.Timeline = []store.Moment{{At: ago(time.Second), Kind: "queued", Delivery: d.ID, Text: "the provider asked that nothing be sent to this address until 10:35:00 UTC"}}
			})},
		{"a device that was to be left alone before it was redriven", "Push is waiting for its turn at 10:31:00 UTC: an operator asked for another try.",
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, time.Minute)
				d.Reason = tidings.ReasonRedriven
				tr.Timeline = []store.Moment{{At: ago(20 * time.Second), Kind: "queued", Delivery: d.ID, Text: "the provider asked that nothing be sent to this address until 10:29:50 UTC"},
					{At: ago(time.Second), Kind: "redriven", Delivery: d.ID, Text: "an operator asked for another try"}}
			})},
		{"a retry", "Push has not got through yet: APNs is in trouble; the next try is at 10:31:00 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, time.Minute)
				tried(d, tidings.Transient)
			})},
		{"a retry after a try without a clear answer", "Push may or may not have got through yet: APNs is in trouble; the next try is at 10:31:00 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, time.Minute)
				tried(d, tidings.OutcomeUnknown)
				d.Attempts = append(d.Attempts, tidings.Attempt{Delivery: d.ID, Number: 2, Provider: "apns", StartedAt: ago(time.Second), EndedAt: ago(time.Second), Outcome: tidings.Transient})
			})},
		{"a backlog after a try without a clear answer", "Push may or may not have got through yet and is waiting for its turn since 10:29:30 UTC: few calls to APNs are repeated at a time while some fail, and others are before it.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, -30*time.Second)
				tried(d, tidings.OutcomeUnknown)
			})},
		{"a retry as the provider asked", "Push has not got through yet: APNs asks for fewer calls; the next try is at 10:31:00 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, time.Minute)
				tried(d, tidings.Throttled)
			})},
		{"a try that does not count", "Push has not got through yet: APNs refuses our account or set-up; the next try is at 10:45:00 UTC.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, 15*time.Minute)
				tried(d, tidings.ConfigFault)
				d.Tries = 0
			})},
		{"a retry while the breaker is open", "Push has not got through yet and is waiting: calls to APNs fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on; the next try is at 10:30:07 UTC.",
			waiting(tidings.Push, time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, 7*time.Second)
				tried(d, tidings.Transient)
				tr.Pauses = []store.Pause{failing("apns", tidings.Push)}
			})},
		{"a lane with a rate", "Push is waiting for its turn since 10:29:30 UTC: an operator lets the lane push.bulk send 2.5 a second at most.",
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) { tr.Rates = map[tidings.Lane]float64{"push.bulk": 2.5} })},
		{"a provider with a rate", "SMS is waiting for its turn since 10:29:30 UTC: AWS is called 5 times a second at most.", waiting(tidings.SMS, 30*time.Second, nil)},
		{"a backlog", "Push is waiting for its turn since 10:29:30 UTC: more is due than can be sent at once.", waiting(tidings.Push, 30*time.Second, nil)},
		{"late work", "Push is waiting for its turn since 10:29:30 UTC: it is late, and newer work goes first.",
			waiting(tidings.Push, 30*time.Second, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, -30*time.Second)
				d.Reason = tidings.ReasonSidelined
			})},
		{"its own time, after a pause that the provider had asked for", "Push has not got through yet: APNs is in trouble; the next try is at 10:40:00 UTC.",
			waiting(tidings.Push, 5*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.Transient)
				parked(d, 10*time.Minute)
				p := failing("apns", tidings.Push)
				p.Cause, p.Until = store.PauseAsked, ago(4*time.Minute)
				tr.Pauses = []store.Pause{p}
			})},
		{"just before its next try", "Push has not got through yet; the next try is about to begin.",
			waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
				tried(d, tidings.Transient)
				parked(d, time.Second)
			})},
		{"late work that its provider did not take", "Push is waiting for its turn at 10:30:30 UTC: it is late, and newer work goes first.",
			waiting(tidings.Push, 30*time.Second, func(_ *store.Trail, d *store.TrailDelivery) {
				parked(d, 30*time.Second)
				d.SidelinedAt = ago(10 * time.Second)
			})},
		{"nobody works", "Push is waiting: no process that sends is running; one was seen last at 10:20:00 UTC.",
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) { tr.WorkedAt = ago(10 * time.Minute) })},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := trail.Summary(c.trail, providers(), now()); got != c.want {
				t.Errorf("said  %s\nwant  %s", got, c.want)
			}
		})
	}
}

func TestABrokerThatCannotBeUsedIsToBlameForWhatIsDue(t *testing.T) {
	const down = "the broker cannot be used at present, so nothing is handed to the processes that send"
	for _, c := range []struct {
		why, want string
		asked     bool
		trail     *store.Trail
	}{
		{"just accepted", "Push is on its way.", false, waiting(tidings.Push, time.Second, nil)},
		{"due", "Push is waiting since 10:29:30 UTC: " + down + ".", true, waiting(tidings.Push, 30*time.Second, nil)},
		{"due once more", "Push has not got through yet and is waiting since 10:29:30 UTC: " + down + ".", true, waiting(tidings.Push, time.Minute, func(_ *store.Trail, d *store.TrailDelivery) {
			tried(d, tidings.Transient)
			parked(d, -30*time.Second)
		})},
		{"due later", "Push is waiting for its turn at 10:31:00 UTC.", false, waiting(tidings.Push, 30*time.Second, func(_ *store.Trail, d *store.TrailDelivery) { parked(d, time.Minute) })},
		{"an operator paused the lane", "Push is waiting: an operator paused the lane push.bulk at 10:29:00 UTC; it is sent once the lane is resumed.", false,
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) {
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(time.Minute)}}
			})},
		{"over", "Push reached the device at 10:02:11 UTC.", false, pushes(stand{status: tidings.Sent})},
	} {
		t.Run(c.why, func(t *testing.T) {
			asked := false
			around := providers()
			around.Down = func() bool {
				asked = true
				return true
			}
			if got := trail.Summary(c.trail, around, now()); got != c.want || asked != c.asked {
				t.Errorf("said  %s\nwant  %s\nasked of the broker: %v", got, c.want, asked)
			}
		})
	}
}

// told are the entries of the timeline from the second on that stand for waits.
func told(tr *store.Trail) []string { return waits(tr, providers()) }

func waits(tr *store.Trail, s trail.Service) (all []string) {
	for _, m := range trail.Present(tr, s, now()).Timeline {
		if m.Kind == "queued" && !strings.Contains(m.Text, "waits for its turn") {
			all = append(all, m.At.Format("15:04:05 ")+m.Text)
		}
	}
	return all
}

func TestTheTimelineTellsOfEachPauseThatKeptADeliveryWaiting(t *testing.T) {
	outage := func(over time.Duration) store.Pause {
		p := failing("apns", tidings.Push)
		if over > 0 {
			p.Over = ago(over)
		}
		return p
	}
	sent := func(d *store.TrailDelivery, before time.Duration) {
		d.Status, d.DueAt, d.FinishedAt = tidings.Sent, time.Time{}, ago(before)
		d.Attempts = []tidings.Attempt{{Delivery: d.ID, Number: 1, Provider: "apns", StartedAt: ago(before), EndedAt: ago(before), Outcome: tidings.OK}}
	}
	for _, c := range []struct {
		why  string
		want []string
		tr   *store.Trail
	}{
		{"one that lasts", []string{"10:29:30 Push to dead…0f waits: calls to APNs fail, so it is left alone since 10:29:00 UTC and called again from 10:30:05 UTC on."},
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) { tr.Pauses = []store.Pause{outage(0)} })},
		{"one of two processes", []string{"10:29:30 Push to dead…0f waits: calls to APNs failed, so it was left alone until 10:29:55 UTC."},
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Pauses = []store.Pause{outage(10 * time.Second), outage(5 * time.Second)}
				sent(d, 4*time.Second)
			})},
		{"one that was over before", nil, waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, _ *store.TrailDelivery) { tr.Pauses = []store.Pause{outage(31 * time.Second)} })},
		{"one that came after it was sent", nil, waiting(tidings.Push, 2*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
			tr.Pauses = []store.Pause{outage(0)}
			sent(d, 90*time.Second)
		})},
		{"a lane that was paused", []string{"10:28:10 Push to dead…0f waits: an operator had paused the lane push.bulk until 10:29:00 UTC."},
			waiting(tidings.Push, 2*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(110 * time.Second), Over: ago(time.Minute)}}
				sent(d, 50*time.Second)
			})},
		{"a paused lane in which it was called off", []string{"10:29:00 Push to dead…0f waits: an operator had paused the lane push.bulk."},
			waiting(tidings.Push, 2*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(time.Minute)}}
				d.Status, d.Reason, d.DueAt, d.FinishedAt = tidings.Cancelled, tidings.ReasonCancelled, time.Time{}, ago(10*time.Second)
			})},
		{"an outage in which its user was erased", []string{"10:29:00 Push to dead…0f waits: calls to APNs failed, so it was left alone."},
			waiting(tidings.Push, 2*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Pauses = []store.Pause{outage(0)}
				d.Status, d.Reason, d.DueAt, d.FinishedAt = tidings.Cancelled, tidings.ReasonErased, time.Time{}, ago(10*time.Second)
			})},
		{"a paused lane that it still waits in after a try", []string{"10:28:45 Push to dead…0f waits: an operator paused the lane push.bulk at 10:28:45 UTC; it is sent once the lane is resumed."},
			waiting(tidings.Push, 2*time.Minute, func(tr *store.Trail, d *store.TrailDelivery) {
				parked(d, time.Second)
				tried(d, tidings.Transient)
				tr.Pauses = []store.Pause{{Name: "push.bulk", Channel: tidings.Push, Cause: store.PauseOperator, Since: ago(75 * time.Second)}}
			})},
		{"what a worker put back", []string{"10:29:59 Push to dead…0f waits: not sent yet, since the process that was about to send it is stopping; it is taken up again."},
			waiting(tidings.Push, 30*time.Second, func(tr *store.Trail, d *store.TrailDelivery) {
				tr.Timeline = []store.Moment{{At: ago(time.Second), Kind: "queued", Delivery: d.ID, Text: "not sent yet, since the process that was about to send it is stopping; it is taken up again"}}
			})},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := told(c.tr); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
