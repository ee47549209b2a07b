package workers

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/group"
	"tidings/internal/lanes"
	"tidings/internal/store"
)

const (
	sweepPage = 500 // rows of one statement
	sweepMax  = 20  // pages of one sweep; the next goes on
	holdPage  = 200
)

// sweep looks through the log for what no wake told of.
func (d *dispatcher) sweep(ctx context.Context, now time.Time) {
	d.expire(ctx)
	d.closeLeases(ctx)
	answers := true // one question that the broker does not answer is enough
	for _, s := range d.w.senders {
		answers = answers && d.findLost(ctx, s)
		d.feed(ctx, s)
	}
	d.gauge(ctx, now)
	d.stuck = false
	d.releaseHolds(ctx)
}

// expire ends what is of no more use, so that nothing shows as live because its lane stands still.
func (d *dispatcher) expire(ctx context.Context) {
	for range sweepMax {
		n, err := d.w.Store.Expire(ctx, time.Now().UTC(), sweepPage)
		if err != nil {
			d.trouble(ctx, "expire deliveries", err)
		}
		if err != nil || n < sweepPage {
			return
		}
	}
}

// findLost parks the deliveries that are queued in the log and in the lane no more. It reports
// whether the broker answers.
func (d *dispatcher) findLost(ctx context.Context, s *sender) bool {
	if s.paused.Load() {
		return true // nothing is handed out, so nothing can be told
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	depth, err := d.w.Lanes.Depth(ctx, s.lane)
	if err != nil {
		d.trouble(ctx, "measure lane "+string(s.lane), err)
		return !errors.Is(err, lanes.ErrUnavailable)
	}
	empty, horizon, wait := depth == lanes.Depth{}, now, s.claimWait()
	if !empty {
		if horizon, err = d.w.Lanes.Horizon(ctx, s.lane, now); err != nil {
			d.trouble(ctx, "see the horizon of "+string(s.lane), err)
			return !errors.Is(err, lanes.ErrUnavailable)
		}
	}
	if horizon.After(now) {
		horizon = now // a stamp from a clock that is ahead
	}
	d.sights[s.lane].see(now, horizon, wait)
	if before, ok := d.sights[s.lane].lost(now, wait, time.Duration(d.w.skew.Load()), empty); ok {
		d.takeBack(ctx, s, before, now)
	}
	return true
}

// takeBack parks what was queued before an instant and is lost.
func (d *dispatcher) takeBack(ctx context.Context, s *sender, before, now time.Time) {
	for range sweepMax {
		n, err := d.w.Store.Lost(ctx, s.lane, before, now, sweepPage)
		if err != nil {
			d.trouble(ctx, "find what is lost of "+string(s.lane), err)
			return
		}
		if n > 0 {
			d.w.Log.Warn("deliveries were queued and not in their lane: they go there again", "lane", s.lane, "deliveries", n)
		}
		if n < sweepPage {
			return
		}
	}
}

// claimWait is how long what was handed out may take to be claimed: for bulk an entry may come
// again after its ack wait.
func (s *sender) claimWait() time.Duration {
	if s.lane.Priority() == tidings.Urgent {
		return publishGrace
	}
	return s.config.AckWait
}

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
		Attempt: tidings.Attempt{Delivery: o.Delivery.ID, Number: o.Delivery.ClaimNo, Provider: o.Provider,
			StartedAt: o.Delivery.DueAt.Add(-d.w.Config.Delivery.Lease), EndedAt: now, // the claim is all that is known of its begin
			Outcome: fault.Fault, Code: fault.Code, Text: fault.Text},
		Lane: o.Delivery.Lane, Address: o.Delivery.AddressID,
		Status: step.Status, Reason: step.Reason, DueAt: step.DueAt, Refund: step.Refund, OnlyHeld: true,
	}
	if step.Status == tidings.Parked {
		r.Attempt.RetryAt = step.DueAt
	}
	if !o.Notification.Test {
		r.Called = o.Provider
	}
	return r
}

// resolution follows the rule of the event type once the wait for a receipt is over.
func (d *dispatcher) resolution(o *store.Overdue, now time.Time) store.Resolution {
	r := store.Resolution{ID: o.Delivery.ID, Lane: o.Delivery.Lane, ClaimNo: o.Delivery.ClaimNo,
		Status: tidings.Unknown, Reason: tidings.ReasonOutcomeUnknown}
	policy := d.policy(o)
	if !policy.Unknown.Retry {
		return r
	}
	policy.Unknown.Wait = 0 // it is over
	step := channels.Next(d.when(o, now), &channels.Error{Fault: tidings.OutcomeUnknown}, policy)
	r.Status, r.Reason, r.DueAt = step.Status, step.Reason, step.DueAt
	return r
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

// gauge counts the lanes in the log, for the metrics, for intake's sense of room, and for what
// was parked by others.
func (d *dispatcher) gauge(ctx context.Context, now time.Time) {
	stats, err := d.w.Store.LaneStats(ctx, now)
	if err != nil {
		d.trouble(ctx, "count the lanes", err)
		return
	}
	m := d.w.Metrics
	for lane, s := range d.w.senders {
		l := stats[lane]
		shut, _ := s.shut(now)
		d.w.Lanes.Gauge(lane, l.Queued, s.paused.Load() || shut || d.waits[lane].backlog)
		if !l.NextDue.IsZero() {
			d.wakeLane(lane, latest(l.NextDue, now.Add(feedAgain)))
		}
		m.LaneDepth.WithLabelValues(string(lane)).Set(float64(l.Due + l.Turn + l.Queued))
		m.DueRows.WithLabelValues(string(lane)).Set(float64(l.Due + l.Turn))
		age := 0.0
		if !l.Oldest.IsZero() {
			age = max(0, now.Sub(l.Oldest).Seconds())
		}
		m.LaneOldestDue.WithLabelValues(string(lane)).Set(age)
	}
}

// releaseHolds hands holds whose time has come to intake, which decides again.
func (d *dispatcher) releaseHolds(ctx context.Context) {
	for range sweepMax {
		now := time.Now().UTC()
		holds, of, err := d.w.Store.DueHolds(ctx, now, holdPage)
		if err == nil && len(holds) == 0 {
			break
		}
		if err == nil {
			err = d.w.Release(ctx, holds, of, now)
		}
		if err != nil {
			d.trouble(ctx, "release holds", err)
			d.holdAt, d.stuck = time.Time{}, true
			return
		}
	}
	d.seeHolds(ctx)
}

// seeHolds finds out when the next hold is due, also of those that others have made or moved.
func (d *dispatcher) seeHolds(ctx context.Context) {
	if d.stuck {
		return
	}
	next, err := d.w.Store.NextHold(ctx)
	if err != nil {
		d.trouble(ctx, "find the next hold", err)
	}
	d.holdAt = next
}
