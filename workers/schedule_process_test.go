package workers

import (
	"log/slog"
	"slices"
	"time"

	"tidings"
	"tidings/channels"
	"tidings/internal/store"
	"tidings/preferences"
	"tidings/templates"
)

// A fickle process works a lane and dispatches, by the rules of the real ones, one step at a
// time. It may stall for minutes or die between any two steps, and its clock is wrong.
type fickle struct {
	h       *history
	off     time.Duration // of its clock
	until   time.Time     // stalled
	calls   []*fickleCall
	sights  sights
	sweepAt time.Time

	d *dispatcher // for its rules; it does not run
	s *sender
}

type fickleCall struct {
	call
	entry  *lossyEntry
	result *store.Result // once the provider was called
}

func newFickle(h *history, off time.Duration) *fickle {
	router, err := newRouter([]Provider{{Name: "apns", Channel: tidings.Push}}, nil)
	h.must(err)
	w := &Workers{router: router, Settings: Settings{Config: h.config, Log: slog.New(slog.DiscardHandler),
		Catalogue: func(int64) (*templates.Catalogue, error) { return h.catalogue, nil }}}
	w.live.claims = map[tidings.DeliveryID]int{}
	w.skew.Store(int64(maxSkew))
	return &fickle{h: h, off: off, d: &dispatcher{w: w}, s: &sender{w: w, lane: scheduleLane, config: h.config.Lane(scheduleLane)}}
}

func (f *fickle) now() time.Time { return f.h.now.Add(f.off).Truncate(time.Microsecond) }

// die forgets all that is not in the log.
func (f *fickle) die() { *f = *newFickle(f.h, f.off) }

// step does one thing, if it is not stalled.
func (f *fickle) step() {
	if f.until.After(f.h.now) {
		return
	}
	if !f.h.lane.calm {
		switch n := f.h.rng.IntN(400); {
		case n < 4:
			f.die()
		case n < 8:
			f.until = f.h.now.Add(time.Duration(f.h.rng.IntN(120)) * time.Second)
			return
		}
	}
	switch n := f.h.rng.IntN(6); {
	case n < 3 && len(f.calls) > 0:
		f.advance(f.h.rng.IntN(len(f.calls)))
	case n < 4:
		f.feed()
	case !f.sweepAt.After(f.h.now):
		f.sweepAt = f.h.now.Add(f.h.config.Delivery.Sweep)
		f.sweep()
	case len(f.calls) < 4:
		f.fetch()
	}
}

func (f *fickle) fetch() {
	e := f.h.lane.fetch(f.h.now)
	if e == nil {
		return
	}
	now := f.now()
	claimed, err := f.h.log.Claim(f.h.t.Context(), store.Normal, store.ClaimRequest{Lane: scheduleLane, IDs: e.ids, Now: now, Lease: f.h.config.Delivery.Lease,
		Check: func(c *store.Claimed) (tidings.Status, tidings.Reason, time.Time) {
			return preferences.Check(f.d.w.recheck(c, f.h.catalogue.Events[c.Notification.Type]), now)
		}})
	f.h.must(err)
	f.d.w.live.add(claimed)
	for i := range claimed {
		c := &fickleCall{entry: e, call: call{Claimed: claimed[i], event: f.h.catalogue.Events[claimed[i].Notification.Type], claimedAt: now,
			gate: &gate{Provider: Provider{Name: "apns", Timeout: 10 * time.Second}}}}
		f.calls = append(f.calls, c)
		if f.h.cancelled[claimed[i].Notification.ID] {
			f.h.t.Errorf("claimed after its cancel was answered")
		}
	}
	f.settle(e, len(e.ids)-len(claimed))
}

func (f *fickle) settle(e *lossyEntry, n int) {
	if e.left -= n; e.left <= 0 {
		f.h.lane.ack(e)
		return
	}
	f.h.lane.keep(e, f.h.now)
}

// advance makes the call of a claim, or records what came of it.
func (f *fickle) advance(i int) {
	c := f.calls[i]
	if c.result == nil {
		if f.s.inTime(&c.call, f.now()) {
			c.result = f.send(c)
			return
		}
		f.h.must(f.h.log.GiveBack(f.h.t.Context(), store.Normal, []store.Return{{ID: c.Delivery.ID, Lane: scheduleLane, ClaimNo: c.Delivery.ClaimNo, DueAt: f.now().Add(troubled)}}))
	} else {
		again := f.h.lane.chance(20) // the answer to the commit was lost
		for range map[bool]int{false: 1, true: 2}[again] {
			got, err := f.h.log.Record(f.h.t.Context(), store.Normal, []store.Result{*c.result})
			f.h.must(err)
			if !got[0].Late && got[0].Status == tidings.Parked {
				f.h.pauses[c.Delivery.ID] = c.result.DueAt
			}
		}
		f.h.told[c.Delivery.ID] = f.h.told[c.Delivery.ID] || c.result.Attempt.Outcome == tidings.OK
	}
	f.calls = slices.Delete(f.calls, i, i+1)
	f.d.w.live.remove(c.Delivery.ID, c.Delivery.ClaimNo)
	f.settle(c.entry, 1)
}

// send is the call: what the provider did with it, and what it said.
func (f *fickle) send(c *fickleCall) *store.Result {
	outcome := tidings.OK
	if !f.h.lane.calm {
		outcomes := []tidings.Outcome{tidings.OK, tidings.OK, tidings.OK, tidings.OutcomeUnknown, tidings.OutcomeUnknown, tidings.Transient, tidings.Throttled, tidings.NotSent, tidings.ContentRejected}
		outcome = outcomes[f.h.rng.IntN(len(outcomes))]
	}
	if f.now().Add(maxSkew).Before(f.h.pauses[c.Delivery.ID]) {
		f.h.t.Errorf("called before the pause after its last attempt is over")
	}
	if outcome == tidings.OK || outcome == tidings.OutcomeUnknown && f.h.rng.IntN(2) == 0 {
		f.h.accepted[c.Delivery.ID]++
		f.h.expectReceipt(&c.Claimed)
	}
	now := f.now()
	r := &store.Result{Attempt: tidings.Attempt{Delivery: c.Delivery.ID, Number: c.Delivery.ClaimNo, Provider: "apns", StartedAt: now, EndedAt: now, Outcome: outcome},
		Lane: scheduleLane, Status: tidings.Sent}
	if outcome != tidings.OK {
		fault := &channels.Error{Fault: outcome}
		f.s.fail(&c.call, r, fault, channels.Next(f.due(c.Delivery.Tries, c.Notification.ExpiresAt), fault, f.d.w.policy(c.event, c.Delivery.Channel)))
		r.Effect = store.AddressEffect{}
	}
	return r
}

func (f *fickle) due(tries int, expires time.Time) channels.Case {
	return channels.Case{Tries: tries, ExpiresAt: expires, Now: f.now(), Jitter: f.h.rng.Float64()}
}

// feed moves what is due into the lane.
func (f *fickle) feed() {
	stamp := f.now()
	ids, err := f.h.log.Due(f.h.t.Context(), scheduleLane, stamp, 1+f.h.rng.IntN(8))
	f.h.must(err)
	if len(ids) == 0 || f.h.lane.chance(20) { // dead before it published: the horizon tells
		return
	}
	if !f.h.lane.publish(ids, stamp, f.h.now) {
		f.h.must(f.h.log.Unqueue(f.h.t.Context(), ids, stamp, stamp.Add(publishGrace)))
	}
}

func (f *fickle) sweep() {
	_, err := f.h.log.Expire(f.h.t.Context(), f.now(), sweepPage)
	f.h.must(err)
	f.closeLeases()
	horizon, empty := f.h.lane.horizon(f.now())
	f.sights.see(f.now(), horizon, f.s.claimWait())
	if before, ok := f.sights.lost(f.now(), f.s.claimWait(), maxSkew, empty); ok {
		_, err := f.h.log.Lost(f.h.t.Context(), scheduleLane, before, f.now(), sweepPage)
		f.h.must(err)
	}
}

func (f *fickle) closeLeases() {
	overdue, err := f.h.log.Overdue(f.h.t.Context(), f.now(), sweepPage)
	f.h.must(err)
	for i := range overdue {
		switch o := &overdue[i]; {
		case o.Delivery.Status == tidings.Unknown:
			f.h.must(f.h.log.Resolve(f.h.t.Context(), []store.Resolution{f.d.resolution(o, f.now())}))
		case !f.d.w.live.has(o.Delivery.ID, o.Delivery.ClaimNo):
			_, err := f.h.log.Record(f.h.t.Context(), store.Background, []store.Result{f.d.abandoned(o, f.now())})
			f.h.must(err)
		}
	}
}
