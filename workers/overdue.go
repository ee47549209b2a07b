package workers

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/group"
	"tidings/internal/store"
)

// closeLeases settles claims whose process is gone or hangs, and waits for receipts that are over.
func (d *dispatcher) closeLeases(ctx context.Context) {
	for range sweepMax {
		now := time.Now().UTC()
		overdue, err := d.w.Store.Overdue(ctx, now, sweepPage)
		if err != nil {
			d.trouble(ctx, "find what is overdue", err)
			return
		}
		var results []store.Result
		var resolutions []store.Resolution
		for i := range overdue {
			switch o := &overdue[i]; {
			case o.Delivery.Status == tidings.Unknown:
				resolutions = append(resolutions, d.resolution(o, now))
			case !d.w.live.has(o.Delivery.ID, o.Delivery.ClaimNo):
				results = append(results, d.abandoned(o, now))
			}
		}
		d.close(ctx, results, resolutions)
		if len(overdue) < sweepPage || len(results)+len(resolutions) == 0 {
			return
		}
	}
}

// close settles what is overdue, so that one row that the log refuses holds up no other.
func (d *dispatcher) close(ctx context.Context, results []store.Result, resolutions []store.Resolution) {
	bad := func(err error) bool { return ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) }
	group.Halves(results, func(some []store.Result) error {
		recorded, err := d.w.Store.Record(ctx, store.Background, some)
		for i := range recorded {
			d.closed(&some[i], recorded[i])
		}
		return err
	}, bad, func(r store.Result, err error) {
		d.trouble(ctx, "close the lease of "+r.Attempt.Delivery.String(), err)
	})
	group.Halves(resolutions, func(some []store.Resolution) error {
		if err := d.w.Store.Resolve(ctx, some); err != nil {
			return err
		}
		for i := range some {
			if due := some[i].DueAt; !due.IsZero() {
				d.wakeLane(some[i].Lane, due)
			}
		}
		return nil
	}, bad, func(r store.Resolution, err error) { d.trouble(ctx, "resolve the outcome of "+r.ID.String(), err) })
}

func (d *dispatcher) closed(r *store.Result, recorded store.Recorded) {
	if recorded.Late {
		return // it was recorded meanwhile, or another process closed it
	}
	d.w.Log.Warn("a claim was never recorded: its outcome is unknown", "delivery", r.Attempt.Delivery.String(),
		"lane", r.Lane, "attempt", r.Attempt.Number, "status", recorded.Status)
	if r.Called != "" {
		d.w.Metrics.AttemptsUnknown.WithLabelValues(r.Called).Inc()
	}
	if !r.DueAt.IsZero() {
		d.wakeLane(r.Lane, r.DueAt)
	}
}

// abandoned is the result of a claim that nobody recorded: bytes may have left.
func (d *dispatcher) abandoned(o *store.Overdue, now time.Time) store.Result {
	fault := &channels.Error{Fault: tidings.OutcomeUnknown, Code: "lease_over", Text: "the worker did not report an outcome"}
	step := channels.Next(d.when(o, now), fault, d.policy(o))
	if poisoned(o) {
		step = channels.Step{Status: tidings.Dead, Reason: tidings.ReasonPoison}
	}
	r := store.Result{
		Attempt: tidings.Attempt{Delivery: o.Delivery.ID, Number: o.Delivery.ClaimNo, Provider: o.Address.Provider,
			StartedAt: o.Delivery.DueAt.Add(-d.w.Config.Delivery.Lease), EndedAt: now, // the claim is all that is known of its begin
			Outcome: fault.Fault, Code: fault.Code, Text: fault.Text},
		Lane: o.Delivery.Lane, Address: o.Delivery.AddressID,
		Status: step.Status, Reason: step.Reason, DueAt: step.DueAt, Refund: step.Refund, OnlyHeld: true,
	}
	if step.Status == tidings.Parked {
		r.Attempt.RetryAt = step.DueAt
	}
	if !o.Notification.Test {
		r.Called = o.Address.Provider
	}
	return r
}

// resolution follows the rule of the event type once the wait for a receipt is over. What is tried
// again goes the way of all failures: to the next provider at once, else to any after a pause.
func (d *dispatcher) resolution(o *store.Overdue, now time.Time) store.Resolution {
	r := store.Resolution{ID: o.Delivery.ID, Lane: o.Delivery.Lane, ClaimNo: o.Delivery.ClaimNo,
		Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown, Why: "it may have arrived"}
	policy := d.policy(o)
	if !policy.Unknown.Retry {
		return r
	}
	policy.Unknown.Wait = 0 // it is over
	when := d.when(o, now)
	when.Others = d.others(o, now)
	step := channels.Next(when, &channels.Error{Fault: tidings.OutcomeUnknown}, policy)
	r.Status, r.Reason, r.DueAt, r.Why = step.Status, step.Reason, step.DueAt, ""
	switch {
	case step.Another:
		r.Tried = o.Delivery.Tried
	case step.Status == tidings.Parked:
	case now.Before(when.ExpiresAt):
		r.Why = "all its tries are spent"
	default:
		r.Why = "its time is over"
	}
	return r
}

// others counts the providers that can take over from the one that did not answer; where nobody
// knows which that was, none can.
func (d *dispatcher) others(o *store.Overdue, now time.Time) (n int) {
	if len(o.Delivery.Tried) == 0 {
		return 0
	}
	for _, name := range untried(d.w.router.candidates(o.Delivery.ID, &o.Address), o.Delivery.Tried) {
		if shut, _ := d.w.gates[name].shut(now); !shut {
			n++
		}
	}
	return n
}

// when counts no other providers: which one was called is not known.
func (d *dispatcher) when(o *store.Overdue, now time.Time) channels.Case {
	return channels.Case{Tries: o.Delivery.Tries, ExpiresAt: o.Notification.ExpiresAt, Now: now, Jitter: rand.Float64()}
}

func (d *dispatcher) policy(o *store.Overdue) channels.Policy {
	event := &tidings.EventType{}
	if c, err := d.w.Catalogue(o.Notification.CatalogVersion); err != nil {
		d.w.Log.Error("catalogue is missing", "version", o.Notification.CatalogVersion, "error", err)
	} else if known := c.Events[o.Notification.Type]; known != nil {
		event = known
	}
	return d.w.policy(event, o.Delivery.Channel)
}
